"""The forms that refusals are printed in."""

from __future__ import annotations

import json

import pytest

from generator.report import json as json_form
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
