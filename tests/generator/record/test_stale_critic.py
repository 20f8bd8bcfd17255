"""A critic is held to the bytes that it judged, of payloads and of sources alike."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest
import sample_record

from generator.record import record

CRITIC = "payloads/critic/acceptance.json"
JUDGED = ["payloads/acceptance/lookup.json", "findings/F-01.md"]


def document(root: Path) -> str:
    """What a critic says that judged a record as it stands."""
    taken = sample_record.payload()
    reader = {"program": "a critic", "version": "one", "independence": "its own code"}
    inputs = [
        {"path": path, "sha256": hashlib.sha256((root / path).read_bytes()).hexdigest()} for path in JUDGED
    ]
    content = {
        "schema": "specdec-sidechannels/critic/1",
        "name": "critic/acceptance",
        "question": "Do the labels follow?",
        "regime": reader,
        "config": {},
        "seeds": {},
        "provenance": {**taken["provenance"], "inputs": inputs},  # type: ignore[dict-item]
        "results": {},
        "labels": {},
    }
    return json.dumps(content, indent=2) + "\n"


def stale(root: Path) -> list[tuple[str, str]]:
    """Path and text of every refusal of a critic."""
    return [(each.path, each.text) for each in record.load(root).refusals if each.code == "stale-critic"]


@pytest.mark.parametrize("path", JUDGED)
def test_a_critic_is_stale_once_what_it_judged_has_changed(tmp_path: Path, path: str) -> None:
    root = sample_record.write(tmp_path)
    sample_record.write(root, {CRITIC: document(root)})
    assert stale(root) == []
    file = root / path
    file.write_bytes(file.read_bytes() + b"\n")
    assert stale(root) == [(CRITIC, path)]
