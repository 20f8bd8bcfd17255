"""A payload made again is reproduced exactly, or within its interval where weights or versions differ."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from engine import compare

COMMITTED: dict[str, Any] = {
    "name": "trial/one",
    "config": {"lengths": [1, 2]},
    "provenance": {"versions": {"torch": "2"}, "models": [{"sha256": "a"}], "inputs": [], "commit": "old"},
    "results": {
        "share": {"value": 0.5, "low": 0.4, "high": 0.6, "unit": "share"},
        "nested": {"count": {"value": 7, "unit": "rounds"}},
        "rate": {"value": 12.5, "unit": "tokens a second", "machine": True},
    },
}


def at(path: str, value: Any) -> Callable[[dict[str, Any]], None]:
    """A change that puts `value` at a dotted place."""

    def change(document: dict[str, Any]) -> None:
        *way, last = path.split(".")
        place = document
        for key in way:
            place = place[key]
        if value is None:
            del place[last]
        else:
            place[last] = value

    return change


OTHER = at("provenance.versions.torch", "3")
SHARE = {"low": 0.4, "high": 0.6, "unit": "share"}
CASES: dict[str, tuple[list[Callable[[dict[str, Any]], None]], str, int]] = {
    "the same": ([], "2 exact, 0 within the committed interval, 0 outside, 1 of the machine", 0),
    "another commit": ([at("provenance.commit", "new")], "2 exact", 0),
    "another rate of the machine": ([at("results.rate.value", 99.0)], "2 exact", 0),
    "within, same origin": ([at("results.share.value", 0.55)], "1 exact, 1 within", 1),
    "within, other versions": ([OTHER, at("results.share.value", 0.55)], "1 exact, 1 within", 0),
    "at the end, other versions": ([OTHER, at("results.share.value", 0.6)], "1 within", 0),
    "within, other weights": (
        [at("provenance.models", [{"sha256": "b"}]), at("results.share.value", 0.41)],
        "1 within",
        0,
    ),
    "outside, other versions": ([OTHER, at("results.share.value", 0.61)], "1 outside", 1),
    "outside, same origin": ([at("results.share.value", 0.39)], "1 outside", 1),
    "a count without interval": ([OTHER, at("results.nested.count.value", 8)], "1 outside", 1),
    "another end of the interval": ([at("results.share.high", 0.61)], "1 within", 1),
    "a number gone": ([OTHER, at("results.nested.count", None)], "1 outside", 1),
    "a number more": ([OTHER, at("results.more", {"value": 1, "unit": "rounds"})], "1 outside", 1),
    "other settings": ([at("config.lengths", [1]), at("results.share.value", 0.55)], "other weights", 0),
}


@pytest.mark.parametrize("name", CASES)
def test_a_payload_made_again_is_judged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    changes, said, status = CASES[name]
    made = copy.deepcopy(COMMITTED)
    for change in changes:
        change(made)
    for folder, document in (("payloads", COMMITTED), ("made", made)):
        path = tmp_path / folder / "trial" / "one.json"
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps(document))
    monkeypatch.setattr(compare, "ROOT", tmp_path)
    assert compare.main(tmp_path / "made") == status
    printed = capsys.readouterr().out
    assert printed.startswith("NOT reproduced trial/one: " if status else "reproduced     trial/one: ")
    assert said in printed


def test_a_folder_without_a_committed_namesake_is_misuse(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(compare, "ROOT", tmp_path)
    (tmp_path / "made" / "trial").mkdir(parents=True)
    (tmp_path / "made" / "trial" / "one.json").write_text(json.dumps(COMMITTED))
    assert compare.main(tmp_path / "made") == 2
    assert "holds no payload that is also committed" in capsys.readouterr().out
