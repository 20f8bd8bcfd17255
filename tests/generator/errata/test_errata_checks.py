"""An erratum that stands on nothing, and a pass that does not fit its record, are refused at their place."""

from __future__ import annotations

import datetime
from pathlib import Path

import corrected_record as record
import pytest
import sample_record

from generator.number import erratum
from generator.render import site

SECONDS = {"old": "a.results.seconds", "new": "b.results.vanilla"}
FAULTS: dict[str, tuple[dict[str, str], tuple[str, int, int, str]]] = {
    "no date": ({record.FIRST: record.erratum(1, date="")}, (record.FIRST, 1, 1, "bad-erratum")),
    "no reason": ({record.FIRST: record.erratum(1, reason="")}, (record.FIRST, 1, 1, "bad-erratum")),
    "an empty reason": (
        {record.FIRST: record.erratum(1, reason='""')},
        (record.FIRST, 7, 10, "bad-erratum"),
    ),
    "a date in the future": (
        {record.FIRST: record.erratum(1, date="9999-01-01")},
        (record.FIRST, 5, 7, "bad-erratum"),
    ),
    "a field that the statement does not cite": (
        {record.FIRST: record.erratum(1, old="a.results.drawn", new="b.results.drawn")},
        (record.FIRST, 9, 6, "bad-erratum"),
    ),
    "another unit": (
        {record.FIRST: record.erratum(1, new="b.results.seconds | sig(3)")},
        (record.FIRST, 10, 6, "bad-erratum"),
    ),
    "another kind of value": (
        {record.FIRST: record.erratum(1, new="b.regime.target")},
        (record.FIRST, 10, 6, "bad-erratum"),
    ),
    "arithmetic": (
        {record.FIRST: record.erratum(1, new="(b.results.vanilla + b.results.vanilla) | places(2)")},
        (record.FIRST, 10, 6, "bad-erratum"),
    ),
    "the same field twice": (
        {
            record.FIRST: record.erratum(
                1, payloads=f"{{a: {record.LOOKUP}}}", new="a.results.tokens_per_check | ci(2)"
            )
        },
        (record.FIRST, 10, 6, "bad-erratum"),
    ),
    "values that print alike": (
        {
            record.FIRST: record.erratum(
                1,
                after="c",
                old="a.results.tokens_per_check | places(0)",
                new="c.results.tokens_per_check | places(0)",
            )
        },
        (record.FIRST, 10, 6, "bad-erratum"),
    ),
    "two corrections of one field": (
        {record.FIRST: record.erratum(1), record.SECOND: record.erratum(2, after="c")},
        (record.SECOND, 9, 6, "bad-erratum"),
    ),
    "a circle": (
        {record.FIRST: record.erratum(1), record.SECOND: record.erratum(2, before="b", after="a")},
        (record.SECOND, 10, 6, "bad-erratum"),
    ),
    "an estimate without what is cited of the old one": (
        {
            record.RECOUNT: record.PAYLOADS[record.RECOUNT].replace(
                '"value": 0.9012,\n      "low": 0.8001,\n      "high": 0.9903,\n      "level": 0.95,\n'
                '      "method": "percentile prompt-cluster bootstrap",\n      "resamples": 10000,\n'
                '      "clusters": 84,\n      "observations": 3810,\n',
                '"value": 0.9012,\n      "low": 0.8001,\n      "high": 0.9903,\n      "level": 0.95,\n'
                '      "method": "percentile prompt-cluster bootstrap",\n      "resamples": 10000,\n'
                '      "observations": 3810,\n',
            ),
            record.FIRST: record.erratum(1),
        },
        (record.FIRST, 10, 6, "bad-erratum"),
    ),
    "a number typed in the reason": (
        {record.FIRST: record.erratum(1, reason="It was 7 before.")},
        (record.FIRST, 7, 16, "untraced-number"),
    ),
}


def refusals(root: Path, changes: dict[str, str]) -> list[tuple[str, int, int, str]]:
    report = site.judge(*site.gather(sample_record.write(root, {**record.PAYLOADS, **changes})))
    return [(each.path, each.line, each.column, each.code) for each in report.refusals]


@pytest.mark.parametrize("name", FAULTS)
def test_an_erratum_with_a_fault_is_refused_where_the_fault_is(tmp_path: Path, name: str) -> None:
    changes, expected = FAULTS[name]
    assert expected in refusals(tmp_path, changes)


def test_errata_without_a_fault_are_not_refused(tmp_path: Path) -> None:
    changes = {
        record.FIRST: record.erratum(1),
        record.SECOND: record.erratum(2, before="b", after="c"),
        record.THIRD: record.wording(3),
    }
    assert refusals(tmp_path, changes) == []


def test_tomorrow_is_a_date_where_it_is_tomorrow_already(tmp_path: Path) -> None:
    root = sample_record.write(tmp_path, {**record.PAYLOADS, record.FIRST: record.erratum(1)})
    _, evaluations = site.gather(root)
    eve, before = datetime.date(2024, 4, 30), datetime.date(2024, 4, 29)
    assert not list(erratum.faults(evaluations.values(), eve))
    assert [each.line for each in erratum.faults(evaluations.values(), before)] == [5]


ROWS = [
    ("F-01#tokens", "corrected", "E-1", ""),
    ("F-01#gain", "corrected", "E-1", ""),
    ("F-02#margin", "withdrawn", "", "The margin was read at the wrong reader."),
]


def ruled(rows: list[tuple[str, str, str, str]] = ROWS, **front: str) -> str:
    """A pass with these rows."""
    lines = [
        "---",
        *(f"{k}: {v}" for k, v in ({"record": "acceptance", "date": "2024-07-01"} | front).items()),
    ]
    lines.append("rulings:")
    for statement, ruling, by, reason in rows:
        lines += [f"  - statement: {statement}", f"    ruling: {ruling}"]
        lines += [f"    erratum: {by}"] if by else []
        lines += [f"    reason: {reason}"] if reason else []
    return "\n".join([*lines, "---", "", "Each statement was read beside its payload."]) + "\n"


PASS = "findings/ERRATA-PASS.md"
STANDS = ("F-01#tokens", "stands", "", "")
PASSES = {
    "a statement that is missing": (ruled(ROWS[:2]), (5, 3)),
    "a statement that is listed twice": (ruled([*ROWS, ROWS[2]]), (14, 16)),
    "a statement that is not there": (ruled([("F-01#none", "stands", "", ""), *ROWS]), (5, 16)),
    "a finding that is not there": (ruled([("F-09#tokens", "stands", "", ""), *ROWS]), (5, 16)),
    "what is no statement": (ruled([("everything", "stands", "", ""), *ROWS]), (5, 16)),
    "a ruling that is none": (ruled([("F-01#tokens", "holds", "", ""), *ROWS[1:]]), (6, 13)),
    "an erratum that is not there": (ruled([("F-01#tokens", "corrected", "E-9", ""), *ROWS[1:]]), (7, 14)),
    "a correction by no erratum": (ruled([("F-01#tokens", "corrected", "", ""), *ROWS[1:]]), (5, 5)),
    "an erratum on another statement": (
        ruled([*ROWS[:2], ("F-02#margin", "corrected", "E-1", "")]),
        (13, 14),
    ),
    "a withdrawal without a reason": (ruled([*ROWS[:2], ("F-02#margin", "withdrawn", "", "")]), (12, 13)),
    "a corrected statement that stands": (ruled([STANDS, *ROWS[1:]]), (6, 13)),
    "an erratum on what stands": (ruled([("F-01#tokens", "stands", "E-1", ""), *ROWS[1:]]), (7, 14)),
    "a record that is not there": (ruled(record="sideband"), (2, 9)),
    "a date in the future": (ruled(date="9999-01-01"), (3, 7)),
    "a key that is none": (ruled().replace("    ruling: corrected", "    verdict: corrected", 1), (6, 14)),
    "rulings that are no list": (
        "---\nrecord: acceptance\ndate: 2024-07-01\nrulings: all stand\n---\n",
        (4, 10),
    ),
}


@pytest.mark.parametrize("name", PASSES)
def test_a_pass_that_does_not_fit_its_record_is_refused_where_it_does_not(tmp_path: Path, name: str) -> None:
    text, place = PASSES[name]
    found = refusals(tmp_path, {record.FIRST: record.erratum(1), PASS: text})
    assert (PASS, *place, "bad-erratum") in found


def test_another_refusal_does_not_make_a_pass_wrong(tmp_path: Path) -> None:
    finding = sample_record.FINDING.replace("a.results.margin |", "a.results.margim |", 1)
    assert finding != sample_record.FINDING
    changes = {record.FIRST: record.erratum(1), PASS: ruled(), "findings/F-01.md": finding}
    found = refusals(tmp_path, changes)
    assert found and PASS not in {path for path, *_ in found}


def test_a_pass_is_not_wrong_about_what_was_corrected_after_it(tmp_path: Path) -> None:
    rows = [STANDS, ("F-01#gain", "stands", "", ""), ROWS[2]]
    changes = {record.FIRST: record.erratum(1, date="2024-08-01"), PASS: ruled(rows)}
    assert refusals(tmp_path, changes) == []


def test_the_reasons_of_a_pass_are_prose_and_its_statements_are_not(tmp_path: Path) -> None:
    finding = sample_record.FINDING.replace('"tokens"', '"tokens-2"')
    rows = [("F-01#tokens-2", "stands", "", ""), ("F-01#gain", "withdrawn", "", "It was 7 tokens."), ROWS[2]]
    found = refusals(tmp_path, {"findings/F-01.md": finding, PASS: ruled(rows)})
    assert found == [(PASS, 9, 20, "untraced-number")]
