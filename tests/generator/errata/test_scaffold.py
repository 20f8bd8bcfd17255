"""findings erratum writes a correction that builds, says what it changes, and leaves nothing half written."""

from __future__ import annotations

import json
import os
from pathlib import Path

import corrected_record as record
import pytest
import sample_record
from click.testing import CliRunner, Result

from generator.cli import main
from generator.ledger import register
from generator.render.publish import publish

VALUE = ("--kind", "value", "--payload", record.RECOUNT, "--field", "/results/tokens_per_check")
REASON = ("--reason", "Rounds were counted at the wrong end.")
LEDGER = "findings/REGISTERED"


@pytest.fixture(autouse=True)
def outside_ci(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CI", raising=False)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return record.write(tmp_path)


def call(root: Path, *arguments: str) -> Result:
    return CliRunner().invoke(main, [*arguments, "--root", str(root)])


def snapshot(root: Path) -> dict[str, bytes]:
    """Every file of the record."""
    files = (file for file in (root / "findings").rglob("*") if file.is_file())
    return {file.relative_to(root).as_posix(): file.read_bytes() for file in files}


def front(root: Path, path: str) -> list[str]:
    """The lines of an erratum but for its date."""
    return [line for line in (root / path).read_text().splitlines() if not line.startswith("date:")]


def test_a_value_is_corrected_in_the_form_in_which_its_statement_prints_it(root: Path) -> None:
    result = call(root, "erratum", "F-01#tokens", *VALUE, *REASON)
    assert result.exit_code == 0, result.output
    assert front(root, record.FIRST) == [
        "---",
        "id: E-1",
        "finding: F-01",
        "statement: tokens",
        "kind: value",
        'reason: "Rounds were counted at the wrong end."',
        "payloads:",
        f"  old: {record.LOOKUP}",
        f"  new: {record.RECOUNT}",
        "old: old.results.tokens_per_check | ci(2)",
        "new: new.results.tokens_per_check | ci(2)",
        "---",
    ]
    lines = result.output.splitlines()
    assert "findings/F-01.md#tokens: 2.60 [2.41, 2.80] → 0.90 [0.80, 0.99]" in lines
    assert "findings/F-01.md#gain: “more than plain decoding” no longer holds" in lines
    assert lines[-1] == f"{record.FIRST} is written and registered: commit it with {LEDGER}."


def test_what_is_scaffolded_is_registered_and_builds_even_where_everything_has_to_be_proved(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert call(root, "erratum", "F-01#tokens", *VALUE, *REASON).exit_code == 0
    assert json.loads((root / LEDGER).read_text())["id"] == "E-1"
    record.git(root, "add", "-A")
    record.git(root, "commit", "-q", "-m", "A correction")
    monkeypatch.setenv("CI", "1")
    publish(root, root / "site")
    assert (root / "site/errata.html").is_file()


def test_a_correction_is_corrected_again_from_where_it_led(root: Path) -> None:
    assert call(root, "erratum", "F-01#tokens", *VALUE, *REASON).exit_code == 0
    again = ("--kind", "value", "--payload", record.AGAIN, "--field", "/results/tokens_per_check")
    result = call(root, "erratum", "F-01#tokens", *again, "--reason", "So was the recount.")
    assert result.exit_code == 0, result.output
    assert f"  old: {record.RECOUNT}" in front(root, record.SECOND)
    assert "findings/F-01.md#tokens: 0.90 [0.80, 0.99] → 2.70 [2.50, 2.90]" in result.output


def test_another_field_of_the_old_payload_and_one_payload_for_both(root: Path) -> None:
    fields = ("--field", "/results/tokens_per_check/high", "--old-field", "/results/tokens_per_check/value")
    options = ("--kind", "value", "--payload", record.LOOKUP, *fields)
    result = call(root, "erratum", "F-01#tokens", *options, *REASON)
    assert result.exit_code == 0, result.output
    assert front(root, record.FIRST)[6:11] == [
        "payloads:",
        f"  old: {record.LOOKUP}",
        "old: old.results.tokens_per_check.value | places(2)",
        "new: old.results.tokens_per_check.high | places(2)",
        "---",
    ]


def test_other_words_need_no_field(root: Path) -> None:
    result = call(
        root, "erratum", "F-02#margin", "--kind", "wording", "--reason", 'It "decides" nothing: ever'
    )
    assert result.exit_code == 0, result.output
    assert front(root, record.FIRST)[4:8] == [
        "kind: wording",
        'reason: "It \\"decides\\" nothing: ever"',
        "payloads: {}",
        "---",
    ]


def test_a_payload_that_git_does_not_keep_yet_is_pointed_out(tmp_path: Path) -> None:
    root = record.write(tmp_path, {record.RECOUNT: record.PAYLOADS[record.RECOUNT]})
    (root / record.AGAIN).write_text(record.PAYLOADS[record.AGAIN].replace("2.7034", "2.7035"))
    options = ("--kind", "value", "--payload", record.AGAIN, "--field", "/results/tokens_per_check")
    result = call(root, "erratum", "F-01#tokens", *options, *REASON)
    assert f"warning: {record.AGAIN} differs from its commit." in result.output


MISUSES = {
    "a finding that is not there": (("F-09#tokens", *VALUE, *REASON), "There is no finding F-09"),
    "a statement that is not there": (("F-01#none", *VALUE, *REASON), 'no statement "none"'),
    "no statement": (("F-01", *VALUE, *REASON), 'no statement ""'),
    "an empty reason": (("F-01#tokens", *VALUE, "--reason", " "), "--reason is empty"),
    "no payload": (("F-01#tokens", "--kind", "value", *REASON), "named with --payload"),
    "a payload that is not there": (
        ("F-01#tokens", "--kind", "value", "--payload", "payloads/x.json", "--field", "/a", *REASON),
        "There is no payload payloads/x.json",
    ),
    "no field": (("F-01#tokens", *VALUE[:4], *REASON), "no field named with --field"),
    "a field that is not there": (
        ("F-01#tokens", *VALUE[:4], "--field", "/results/none", *REASON),
        f"{record.RECOUNT} has no field /results/none",
    ),
    "a field that is no pointer": (
        ("F-01#tokens", *VALUE[:4], "--field", "results.none", *REASON),
        "is a JSON pointer",
    ),
    "an old field that the statement does not cite": (
        ("F-01#tokens", *VALUE, "--old-field", "/results/drawn", *REASON),
        "cites /results/drawn of no payload",
    ),
}


@pytest.mark.parametrize("name", MISUSES)
def test_a_request_that_no_erratum_can_be_made_of_is_misuse_and_writes_nothing(root: Path, name: str) -> None:
    arguments, message = MISUSES[name]
    before = snapshot(root)
    result = call(root, "erratum", *arguments)
    assert (result.exit_code, snapshot(root)) == (2, before), result.output
    assert message in result.output


REFUSALS = {
    "a number typed in the reason": (
        ("F-01#tokens", *VALUE, "--reason", "It was 7 before."),
        f"{record.FIRST}:7:17: untraced-number",
    ),
    "another unit": (
        (
            *("F-01#tokens", "--kind", "value", "--payload", record.RECOUNT, "--field", "/results/accepted"),
            *("--old-field", "/results/tokens_per_check", *REASON),
        ),
        f"{record.FIRST}:12:6: bad-erratum",
    ),
}


@pytest.mark.parametrize("name", REFUSALS)
def test_an_erratum_that_would_be_refused_is_refused_before_it_is_written(root: Path, name: str) -> None:
    arguments, message = REFUSALS[name]
    before = snapshot(root)
    result = call(root, "erratum", *arguments)
    assert (result.exit_code, snapshot(root)) == (1, before), result.output
    assert message in result.output


def test_no_erratum_is_begun_on_a_record_that_is_refused(tmp_path: Path) -> None:
    finding = sample_record.FINDING.replace("A check emits", "A check 7 emits")
    root = record.write(tmp_path, {"findings/F-01.md": finding})
    result = call(root, "erratum", "F-01#tokens", *VALUE, *REASON)
    assert result.exit_code == 1
    assert "findings/F-01.md:15:33: untraced-number" in result.output
    assert not (root / record.FIRST).exists()


@pytest.mark.parametrize("step", ["fsync", "link"])
def test_a_crash_while_writing_leaves_nothing(root: Path, monkeypatch: pytest.MonkeyPatch, step: str) -> None:
    def crash(*_: object) -> None:
        raise KeyboardInterrupt

    before = snapshot(root)
    monkeypatch.setattr(os, step, crash)
    call(root, "erratum", "F-01#tokens", *VALUE, *REASON)
    assert snapshot(root) == before


def test_a_ledger_that_cannot_be_written_takes_the_erratum_back(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise PermissionError(13, "Permission denied", LEDGER)

    before = snapshot(root)
    monkeypatch.setattr(register, "append", fail)
    result = call(root, "erratum", "F-01#tokens", *VALUE, *REASON)
    assert (result.exit_code, snapshot(root)) == (2, before)
    assert f"{LEDGER} cannot be written: Permission denied." in result.output


def test_a_file_that_came_in_between_is_not_overwritten(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def came_in_between(_: int) -> None:
        (root / record.FIRST).write_text("Somebody else's\n")

    monkeypatch.setattr(os, "fsync", came_in_between)
    result = call(root, "erratum", "F-01#tokens", *VALUE, *REASON)
    assert result.exit_code == 2
    assert (root / record.FIRST).read_text() == "Somebody else's\n"
    assert not (root / LEDGER).exists()
    assert [file.name for file in (root / "findings/errata").iterdir()] == ["E-1.md"]


def test_numbers_go_on_and_the_ledger_only_grows(root: Path) -> None:
    assert call(root, "erratum", "F-01#tokens", *VALUE, *REASON).exit_code == 0
    made = (root / LEDGER).read_text()
    assert '"id": "E-1"' in made
    result = call(root, "erratum", "F-02#margin", "--kind", "wording", "--reason", "Too sure of itself.")
    assert (result.exit_code, (root / record.SECOND).is_file()) == (0, True), result.output
    assert (root / LEDGER).read_text().startswith(made)
