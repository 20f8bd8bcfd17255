"""The forms that refusals are printed in."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from sarif.loader import load_sarif_file

from generator.report import github as github_form
from generator.report import json as json_form
from generator.report import sarif as sarif_form
from generator.report import text as text_form
from generator.report.refusal import CODES, Refusal, Report

LATE = Refusal("findings/F-02.md", 3, 1, "zero-shown", "0.00", "The value would print as zero.")
EARLY = Refusal(
    "findings/F-01.md",
    14,
    23,
    "untraced-number",
    "It is 0.743 here.",
    '"0.743" has no trace. Refer to a payload field, or add the name to findings/terms.toml.',
)
WARNING = Refusal("findings/F-01.md", 9, 1, "untraced-word", "most", '"most"\nclaims.')


def _report() -> Report:
    return Report(
        [LATE, EARLY, EARLY], [WARNING], numbers=12, derived=2, claims=1, pages=3, exempt={"name": 4}
    )


def test_the_text_form_has_one_line_for_each_refusal_sorted_by_place() -> None:
    lines = text_form.render(_report()).splitlines()
    assert lines[0] == (
        'findings/F-01.md:14:23: untraced-number: "0.743" has no trace. '
        "Refer to a payload field, or add the name to findings/terms.toml."
    )
    assert lines[1].startswith("findings/F-02.md:3:1: zero-shown:")
    assert lines[2] == 'findings/F-01.md:9:1: warning: untraced-word: "most" claims.'


def test_the_text_form_ends_with_a_count_and_its_denominators() -> None:
    assert text_form.render(_report()).splitlines()[-1] == (
        "2 refusals, 1 warning; 12 numbers, 2 derived, 1 claim, 0 computed on 3 pages; exempt: 4 name"
    )


def test_the_json_form_is_one_document_with_refusals_warnings_and_counts() -> None:
    document = json.loads(json_form.render(_report()))
    assert list(document) == ["refusals", "warnings", "counts"]
    assert [each["path"] for each in document["refusals"]] == ["findings/F-01.md", "findings/F-02.md"]
    assert document["refusals"][0] == {
        "code": "untraced-number",
        "path": "findings/F-01.md",
        "line": 14,
        "column": 23,
        "text": "It is 0.743 here.",
        "message": EARLY.message,
    }
    assert document["counts"] == {
        "numbers": 12,
        "derived": 2,
        "claims": 1,
        "computed": 0,
        "exempt": {"name": 4},
        "pages": 3,
    }


def test_an_empty_report_says_so_in_both_forms() -> None:
    assert text_form.render(Report()).startswith("0 refusals, 0 warnings; 0 numbers")
    assert json.loads(json_form.render(Report()))["refusals"] == []


def test_a_code_outside_the_list_cannot_be_made() -> None:
    with pytest.raises(ValueError, match="is not a refusal code"):
        Refusal("a", 1, 1, "made-up", "", "")
    assert all(meaning for meaning in CODES.values())


AWKWARD = Refusal(
    "findings/a b,c:d.md",
    2,
    5,
    "bad-template",
    "x | y",
    'It holds 100%,\n"a|b" and <script>alert(1)</script> `x`.',
)


def test_the_github_form_escapes_what_a_workflow_command_would_read() -> None:
    line = github_form.render(Report([AWKWARD])).splitlines()[0]
    assert line == (
        "::error file=findings/a b%2Cc%3Ad.md,line=2,col=5,title=bad-template::"
        'It holds 100%25,%0A"a|b" and <script>alert(1)</script> `x`.'
    )


def test_the_github_form_puts_the_full_list_in_the_step_summary(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "summary.md"
    target.write_text("before\n", "utf-8")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(target))
    github_form.render(_report())
    written = target.read_text("utf-8")
    assert written.startswith("before\n### 2 refusals, 1 warning")
    assert written.count("\n| findings/") == 3


def test_the_step_summary_stays_a_table_whatever_a_message_holds_and_below_its_limit() -> None:
    rows = github_form.summary(Report([AWKWARD])).splitlines()[4:]
    assert len([row for row in rows if row]) == 1
    assert "<script>" not in rows[0]
    assert "\\|" in rows[0]
    many = Report([Refusal("a.md", n, 1, "zero-shown", "", "x" * 200) for n in range(1, 9000)])
    written = github_form.summary(many)
    assert len(written.encode()) <= github_form.SUMMARY_LIMIT
    assert "more do not fit here" in written


def test_an_independent_reader_finds_every_refusal_in_the_sarif_form(tmp_path: Path) -> None:
    file = tmp_path / "findings.sarif"
    file.write_text(sarif_form.render(_report()), "utf-8")
    read = load_sarif_file(str(file))
    records = read.get_records()
    assert [(each["Location"], each["Line"], each["Severity"], each["Code"]) for each in records] == [
        ("findings/F-01.md", 14, "error", "untraced-number"),
        ("findings/F-02.md", 3, "error", "zero-shown"),
        ("findings/F-01.md", 9, "warning", "untraced-word"),
    ]
    run = json.loads(file.read_text("utf-8"))["runs"][0]
    assert run["columnKind"] == "unicodeCodePoints"
    assert {rule["id"] for rule in run["tool"]["driver"]["rules"]} == set(CODES)
    assert run["results"][0]["locations"][0]["physicalLocation"]["region"] == {
        "startLine": 14,
        "startColumn": 23,
        "snippet": {"text": "It is 0.743 here."},
    }
