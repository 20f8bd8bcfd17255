"""Receipts say who judged, count what failed, and can be checked from their own state."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from engine import check
from engine.coding import conformance, receipt
from engine.coding.cli import lockstep
from engine.contract import store
from engine.contract.errors import BadData
from engine.experiments.vectors import INTERPRETERS, Vectors

NAMES = sorted(conformance.vectors())


def report(**faults: str) -> dict[str, Any]:
    words = {"implementation": "CPython", "version": "3", "build": "x", "system": "Darwin", "release": "1"}
    return {**words, "machine": "arm64", "faults": dict.fromkeys(NAMES) | faults}


def test_the_command_writes_a_receipt_of_this_interpreter(tmp_path: Path) -> None:
    done = CliRunner().invoke(lockstep, ["vectors", "--receipt", str(tmp_path)], catch_exceptions=False)
    assert done.exit_code == 0 and f"0 of {len(NAMES)} vectors fail" in done.output
    (path,) = tmp_path.glob("tools/vectors-*.json")
    document = json.loads(path.read_text(encoding="utf-8"))
    assert document["results"]["here"]["failed"]["value"] == 0
    assert document["results"]["here"]["judged"]["value"] == len(NAMES)
    assert document["regime"]["here"]["version"] == sys.version.split()[0]
    assert {f"engine/coding/vectors/{name}.json" for name in NAMES} <= {
        each["path"] for each in document["provenance"]["inputs"]
    }


def test_a_receipt_follows_from_its_state(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = receipt.receipt("trial/one", ["engine"], {"a": report(changing="wrong"), "b": report()})
    store.write(tmp_path / "one.json", made)
    document = json.loads((tmp_path / "one.json").read_text(encoding="utf-8"))
    assert document["results"]["a"]["failed"]["value"] == 1
    assert document["results"]["b"]["failed"]["value"] == 0
    sums = {
        name: sum(row[index] for row in document["state"]["rows"])
        for index, name in enumerate(document["state"]["columns"])
    }
    assert (sums["a_failed"], sums["b_failed"], sums["a_judged"]) == (1, 0, len(NAMES))
    assert check.main([str(tmp_path / "one.json")]) == 0, capsys.readouterr().out


def test_a_failing_vector_is_named_and_the_command_exits_with_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(receipt, "own", lambda: report(changing="encodes to 00, not 01"))
    done = CliRunner().invoke(lockstep, ["vectors"])
    assert done.exit_code == 1
    assert "FAIL changing: encodes to 00, not 01" in done.output and f"1 of {len(NAMES)}" in done.output


def test_an_interpreter_that_is_not_here_gives_no_report() -> None:
    assert receipt.judged("no-such-python") is None


def test_a_program_that_is_no_interpreter_is_named() -> None:
    with pytest.raises(BadData, match="gave no report of the vectors"):
        receipt.judged("true")


def test_systems_are_named_as_people_name_them() -> None:
    assert [receipt.system(report() | {"system": name}) for name in ("Darwin", "Windows", "Linux")] == [
        "macos",
        "windows",
        "linux",
    ]


def test_the_experiment_says_which_interpreter_was_absent() -> None:
    documents = dict.fromkeys(INTERPRETERS, report()) | {"pypy": None}
    (payload,) = Vectors().payloads(documents)
    assert payload.absent == {"pypy": "not installed where this was run"}  # type: ignore[union-attr]
    assert set(payload.results) == {"engine", "distribution"}
