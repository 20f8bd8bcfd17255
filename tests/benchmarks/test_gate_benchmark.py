"""The benchmark of the gate plants what the table of cases refuses, and reads each rival as it answers."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import gate, rivals

FORMS = gate.forms()


def test_what_is_planted_is_plain_markdown_of_the_table() -> None:
    assert len(FORMS) > 200
    assert not any("{{" in body or "{%" in body for body in FORMS)


def test_ours_catches_every_planted_form(tmp_path: Path) -> None:
    assert gate.caught_by_us(FORMS, tmp_path) == len(FORMS)


def test_a_form_that_states_nothing_is_not_caught(tmp_path: Path) -> None:
    assert gate.caught_by_us(["Words alone.", "It is 7."], tmp_path) == 1


ANSWERS = {
    "manuscript-guard": ("2 numeric tokens: 0 conventions, 2 not found.", "0 numeric tokens: 0 not found."),
    "doubleblind-audit": ("  UNSUPPORTED  5  a.md:1", "0 numbers in a.md; 0 unsupported."),
    "docclaims": ('{"claims": [{"value": "95%"}]}', '{"claims": []}'),
}


@pytest.mark.parametrize("tool", rivals.tools(Path("bin")), ids=lambda tool: tool.name)
def test_a_rivals_answer_is_read_as_it_gives_it(tool: rivals.Tool) -> None:
    reported, silent = ANSWERS[tool.name.split()[0]]
    assert tool.caught(reported)
    assert not tool.caught(silent)


def test_the_table_names_every_program_with_its_share() -> None:
    rows = [gate.Row("a", 4, 0.5, 1.25), gate.Row("b", 1, 0.1, 2.0)]
    made = gate.table(rows, 4, gate.Cost(5.0, 4.5), (gate.Cost(6.5, 11.0), gate.Cost(7.5, 7.0)))
    assert "| a | 4 (100 %) | 0.50 | **1.25** |" in made
    assert "| b | 1 (25 %) | 0.10 | **2.00** |" in made
    assert "5.0 s, of which 4.5 s" in made
    assert "6.5 s (11.0 s of processor time), where plain mkdocs takes 7.5 s (7.0 s)" in made
