"""Figures of others stand beside ours only where they are the same quantity, and always as reported."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import sample_record

from generator.audit import reported
from generator.audit.evidence import Evidence
from generator.number import exact
from generator.number.number import Shown
from generator.record import record as records
from generator.render import comparison
from generator.render.mark import Marker
from generator.render.tally import Tally

OTHERS = "payloads/reference/others.json"
OURS = "payloads/acceptance/lookup.json"
PAPER = {
    "schema": "specdec-sidechannels/reported/1",
    "name": "reference/others",
    "question": "What did they report?",
    "regime": {"target": "theirs"},
    "citation": "A paper",
    "results": {
        "rate": {"value": 2, "unit": "tokens per check", "qualifier": "~", "source": "Table"},
        "share": {"value": 75, "unit": "percent of rounds", "qualifier": ">", "source": "Table"},
    },
}
ROW = {
    "group": "Rates",
    "what": "tokens a check",
    "reported": [f"{OTHERS}#/results/rate"],
    "ours": [f"{OURS}#/results/tokens_per_check"],
}


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = sample_record.write(tmp_path_factory.mktemp("compared"))
    (root / OTHERS).parent.mkdir()
    (root / OTHERS).write_text(json.dumps(PAPER, indent=2) + "\n", "utf-8")
    return root


def loaded(root: Path, row: dict[str, object]) -> records.Record:
    lines = "\n".join(f"{key} = {json.dumps(value)}" for key, value in row.items())
    (root / comparison.PATH).write_text(f"[[row]]\n{lines}\n", "utf-8")
    return records.load(root)


def test_a_pair_of_one_unit_is_shown_with_both_numbers(root: Path) -> None:
    record = loaded(root, {**ROW, "form": "places(2)"})
    assert list(comparison.faults(record)) == []
    (cell,) = comparison.cells(record)
    assert [each.text for each in (*cell.reported, *cell.ours)] == ["2.00", "2.60 [2.41, 2.80]"]


def test_a_reason_stands_where_there_is_nothing_to_compare(root: Path) -> None:
    row = {key: value for key, value in ROW.items() if key != "ours"} | {"because": "Another label space."}
    (cell,) = comparison.cells(loaded(root, row))
    assert (cell.ours, cell.reason) == ((), "Another label space.")


WRONG = [
    ({"ours": [f"{OURS}#/results/margin"]}, "unit-mismatch"),
    ({"ours": [f"{OURS}#/results/nothing"]}, "unknown-field"),
    ({"ours": ["payloads/acceptance/nowhere.json#/results/x"]}, "unknown-payload"),
    ({"ours": [f"{OTHERS}#/results/rate"]}, "bad-payload"),
    ({"reported": [f"{OURS}#/results/tokens_per_check"]}, "bad-payload"),
    ({"because": "and yet there is one"}, "bad-front-matter"),
    ({"note": "no such key"}, "bad-front-matter"),
]


@pytest.mark.parametrize(("change", "code"), WRONG)
def test_a_row_that_compares_what_is_not_the_same_is_refused(root: Path, change: dict, code: str) -> None:
    assert [each.code for each in comparison.faults(loaded(root, {**ROW, **change}))] == [code]


@pytest.mark.parametrize(("key", "sign"), [("rate", "≈ "), ("share", "&gt; ")])
def test_a_figure_of_others_says_so_and_the_audit_refuses_it_otherwise(
    root: Path, key: str, sign: str
) -> None:
    record = records.load(root)
    leaf = exact.at(record.payloads[OTHERS], ("results", key, "value"))
    html = str(Marker("page.html", Tally({})).number(Shown(leaf, "plain", leaf.node.lexeme)))
    evidence = Evidence(root)
    assert f'<span class="reported-word">reported </span>{sign}<data' in html
    assert list(reported.judge(html, evidence)) == []
    spoiled = (
        html.replace("reported </span>", "</span>"),
        html.replace(sign, ""),
        html.replace(sign, "&lt; "),
        html[html.index("<data") : html.index("</data>") + len("</data>")],
        html.replace("<data", "<data id='n-x'").replace('class="reported"', 'class="measured"'),
    )
    for each in spoiled:
        assert [fault.code for fault in reported.judge(each, evidence)] == ["display-mismatch"], each


def test_a_number_of_our_own_is_left_alone(root: Path) -> None:
    record = records.load(root)
    leaf = exact.at(record.payloads[OURS], ("results", "vanilla", "value"))
    html = str(Marker("page.html", Tally({})).number(Shown(leaf, "plain", leaf.node.lexeme)))
    assert "reported" not in html and list(reported.judge(html, Evidence(root))) == []
