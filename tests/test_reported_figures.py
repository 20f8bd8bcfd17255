"""The files of reported figures are what the engine's contract calls reported, in its canonical form."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.contract import store

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize(
    "file", sorted((ROOT / "payloads" / "reference").glob("*.json")), ids=lambda f: f.stem
)
def test_figures_of_others_are_reported_each_with_its_source_and_its_hedge(file: Path) -> None:
    document = store.read(file)
    assert document.schema_ == "specdec-sidechannels/reported/1"
    assert store.dump(document) == file.read_text("utf-8")
    leaves, waiting = [], [document.results]
    while waiting:
        for each in waiting.pop().values():
            (waiting if isinstance(each, dict) else leaves).append(each)
    assert leaves and all(each.source and each.qualifier for each in leaves)
