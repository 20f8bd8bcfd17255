"""Records that must pass, on both sides of the gate, and what stands beside each exemption and must not."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import small_record
from case_table import cases

CASES = Path(__file__).parent / "accepted"
NAMES = sorted(folder.name for folder in CASES.iterdir())
BESIDE = [(name, each) for name in NAMES for each in small_record.table(CASES / name, "beside.toml")["edit"]]


def test_every_row_of_the_table_has_a_case() -> None:
    """Rows of one text are in the table itself; those about other files of a record stand beside a record."""
    of_texts = {case.row for side in ("source", "output") for case in cases(side)}
    of_records = {edit["row"] for _, edit in BESIDE if "row" in edit}
    rows = {re.match("[0-9]+", row)[0] for row in of_texts | of_records}  # type: ignore[index]
    assert rows == {str(row) for row in range(1, 83)}
    assert {"74b", "74c"} <= of_texts


@pytest.mark.parametrize("name", NAMES)
def test_a_record_without_a_fault_passes_both_sides(name: str, tmp_path: Path) -> None:
    root = small_record.copied(CASES / name, tmp_path / "record")
    checked = small_record.call("check", "--root", root, "--format", "json")
    assert (checked.exit_code, json.loads(checked.stdout)["refusals"]) == (0, [])
    built = small_record.call("build", "--root", root)
    assert built.exit_code == 0, built.output
    verified = small_record.call("verify", "site", "--root", root, "--format", "json")
    assert (verified.exit_code, json.loads(verified.stdout)["refusals"]) == (0, [])
    assert json.loads(verified.stdout)["counts"]["numbers"] > 0


@pytest.mark.parametrize(("name", "edit"), BESIDE, ids=[f"{name}: {each['new']}" for name, each in BESIDE])
def test_what_stands_beside_it_is_refused(name: str, edit: dict[str, str], tmp_path: Path) -> None:
    root = small_record.copied(CASES / name, tmp_path / "record")
    change = small_record.Edit(edit["file"], edit["old"], edit["new"])
    change.apply(root)
    checked = small_record.call("check", "--root", root, "--format", "json")
    assert checked.exit_code == 1, checked.output
    refusals = json.loads(checked.stdout)["refusals"]
    assert (edit["file"], edit["code"]) in {(each["path"], each["code"]) for each in refusals}
