"""Every case of the table, on the source side."""

from __future__ import annotations

import pytest
from case_table import Case, cases, judged

from generator.gate.numerals import find

CASES = cases("source")


def _each(name: str) -> list[object]:
    return [
        pytest.param(case, body, id=f"{case.row} {case.name}: {body[:30]!r}")
        for case in CASES
        for body in getattr(case, name)
    ]


@pytest.mark.parametrize(("case", "body"), _each("refused"))
def test_what_the_table_refuses_is_refused_with_its_code(case: Case, body: str) -> None:
    assert case.code in {each.code for each in judged(body, case.terms).refusals}


@pytest.mark.parametrize(("case", "body"), _each("passes"))
def test_what_stands_beside_it_passes_the_whole_rule_set(case: Case, body: str) -> None:
    assert judged(body, case.terms).refusals == []


@pytest.mark.parametrize(("case", "body"), _each("warns"))
def test_what_only_claims_is_warned_of(case: Case, body: str) -> None:
    report = judged(body, case.terms)
    assert report.refusals == []
    assert report.warnings


@pytest.mark.parametrize("case", [case for case in CASES if case.hits], ids=lambda case: case.name)
def test_a_numeral_is_one_hit_whatever_separates_its_digits(case: Case) -> None:
    found = [hit.text for hit in find(case.refused[0].replace("*", ""))]
    assert list(case.hits) == found


def test_every_exempting_case_has_a_negative_beside_it() -> None:
    assert [case.row for case in CASES if case.terms and not case.refused] == []
    assert [case.row for case in CASES if not case.passes] == []
