"""Every case of the table, on the output side: as HTML, or as Markdown that was rendered."""

from __future__ import annotations

from pathlib import Path

import pytest
from case_table import Case, audited, cases, rendered

CASES = cases("output")


def _each(name: str) -> list[object]:
    return [
        pytest.param(case, body, id=f"{case.row} {case.name}: {body[:30]!r}")
        for case in CASES
        for body in getattr(case, name)
        if not ("{{" in body and "}}" in body) and "{% claim" not in body
    ]


def _html(case: Case, body: str) -> str:
    return body if case.side == "output" else rendered(body)


@pytest.mark.parametrize(("case", "body"), _each("refused"))
def test_what_the_table_refuses_is_refused_in_the_finished_page(
    case: Case, body: str, tmp_path: Path
) -> None:
    report = audited(tmp_path, _html(case, body), case.terms)
    assert case.code in {each.code for each in report.refusals}


@pytest.mark.parametrize(("case", "body"), _each("passes"))
def test_what_stands_beside_it_passes_in_the_finished_page(case: Case, body: str, tmp_path: Path) -> None:
    assert audited(tmp_path, _html(case, body), case.terms).refusals == []
