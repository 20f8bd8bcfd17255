"""The labels of verdicts are printed, so they are judged; their rules bind the words in them."""

from __future__ import annotations

import pytest

from generator.gate.source import check_sources
from generator.record import front_matter
from generator.record.source import Source
from generator.report.refusal import Refusal


def _refused(label: str, rule: str) -> list[Refusal]:
    front = f"verdict_when:\n  absorbed: a.x > a.y\n  {label}: {rule}"
    text = f"---\n{front}\n---\nWords.\n"
    read = front_matter.parse("findings/F-01.md", front, 2)
    source = Source("findings/F-01.md", "finding", text, read.values, read.places, "Words.\n", 6)
    return check_sources([source], (), frozenset()).refusals


@pytest.mark.parametrize(
    ("label", "rule", "code"),
    [
        ("gains 3 points", "a.x > a.y", "untraced-number"),
        ("three runs agree", "a.x > a.y", "untraced-word"),
        ("half of it", "a.x > a.y", "untraced-word"),
    ],
)
def test_a_number_in_a_label_is_refused_where_it_stands(label: str, rule: str, code: str) -> None:
    refusals = _refused(label, rule)
    assert [(each.code, each.line) for each in refusals] == [(code, 4)]


@pytest.mark.parametrize(
    ("label", "rule"), [("a signal", "a.x > a.y"), ("half of it", "a.x == 1/2"), ("most of it", "a.x > a.y")]
)
def test_a_label_may_say_what_its_rule_compares(label: str, rule: str) -> None:
    assert _refused(label, rule) == []
