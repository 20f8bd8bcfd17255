"""Tables that are drawn: what of them is drawn, and what cannot be, at its place."""

from __future__ import annotations

from pathlib import Path

import pytest
import sample_record

from generator.number.evaluate import Evaluation, evaluate
from generator.number.piece import FigureStart
from generator.record import record as records

FRONT = "---\ntitle: T\npayloads:\n  a: payloads/acceptance/lookup.json\n---\n\n"
INTERVAL = "{{ a.results.tokens_per_check | ci(2) }}"
PLAIN = "{{ a.results.vanilla | places(2) }}"
TABLE = f"| draft | tokens |\n|---|---|\n| looking | {INTERVAL} |\n"


def _evaluated(tmp_path: Path, body: str) -> Evaluation:
    root = sample_record.write(tmp_path, {"site_src/reading.md": FRONT + body})
    record = records.load(root)
    return evaluate(record, next(each for each in record.pages if each.path == "site_src/reading.md"))


def test_numbers_of_the_words_are_not_those_of_the_cells(tmp_path: Path) -> None:
    words = f"{{% bar %}}Plain, {PLAIN}{{% endbar %}}, seed {{{{ a.seeds.root }}}}."
    body = f'{{% figure "forest" %}}\n{words}\n\n{TABLE}{{% endfigure %}}\n'
    evaluation = _evaluated(tmp_path, body)
    assert evaluation.refusals == ()
    (start,) = (each for each in evaluation.body if isinstance(each, FigureStart))
    assert [getattr(each, "text", "") for each in start.layout.bars] == ["1.00"]
    assert [(cell.text, getattr(cell.number, "text", "")) for cell in start.layout.cells] == [
        ("looking", ""),
        ("", "2.60 [2.41, 2.80]"),
    ]
    assert start.layout.columns == (1,)


REFUSED = {
    "an unknown kind": ('{% figure "pie" %}\n' + TABLE, "bad-template"),
    "no table": ('{% figure "forest" %}\nWords.\n', "bad-template"),
    "words after the table": ('{% figure "forest" %}\n' + TABLE + "\nWords.\n", "bad-template"),
    "two tables": ('{% figure "forest" %}\n' + TABLE + "\n" + TABLE, "bad-template"),
    "rows of unequal length": ('{% figure "forest" %}\n' + TABLE + "| one |\n", "bad-template"),
    "two numbers in a cell": (
        '{% figure "forest" %}\n' + TABLE.replace("looking", f"{PLAIN} {PLAIN}"),
        "bad-template",
    ),
    "a number in the head": ('{% figure "forest" %}\n' + TABLE.replace("draft", PLAIN), "bad-template"),
    "no interval in a forest": ('{% figure "forest" %}\n' + TABLE.replace(INTERVAL, PLAIN), "bad-template"),
    "a gap in a curve": ('{% figure "curve" %}\n' + TABLE + "| none | - |\n", "bad-template"),
    "two units": (
        '{% figure "forest" %}\n' + TABLE + "| margin | {{ a.results.margin | ci(3) }} |\n",
        "unit-mismatch",
    ),
    "a frontier of two columns": ('{% figure "frontier" %}\n' + TABLE, "bad-template"),
    "a bar with an interval": (
        '{% figure "forest" %}\n{% bar %}' + INTERVAL + "{% endbar %}\n\n" + TABLE,
        "bad-template",
    ),
}


@pytest.mark.parametrize(("body", "code"), REFUSED.values(), ids=list(REFUSED))
def test_what_cannot_be_drawn_is_refused_at_its_tag(tmp_path: Path, body: str, code: str) -> None:
    refusals = _evaluated(tmp_path, body + "{% endfigure %}\n").refusals
    assert [(each.code, each.line) for each in refusals if each.code != "payload-unused"] == [(code, 7)]


def test_a_bar_outside_a_figure_is_refused(tmp_path: Path) -> None:
    refusals = _evaluated(tmp_path, f"{{% bar %}}{PLAIN}{{% endbar %}}\n").refusals
    assert {each.code for each in refusals} == {"bad-template"}
