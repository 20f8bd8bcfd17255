"""Expressions, claims and rules are evaluated exactly; what cannot be traced is refused where it stands."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pytest

from generator.number.evaluate import Evaluation, evaluate
from generator.number.number import Bracketed, Derived, Made, Shown
from generator.number.piece import ClaimStart, Printed, Prose, StatementStart, Verbatim
from generator.record import record as records
from generator.record.record import Record

PAYLOAD = {
    "schema": "specdec-sidechannels/payload/1",
    "name": "a/x",
    "question": "What?",
    "regime": {"target": "SmolLM2-135M", "long": "x" * 121, "batch": 1},
    "config": {"lookahead": 2, "mode": "greedy", "flag": True},
    "seeds": {"root": 20261130},
    "provenance": {
        "command": ["engine", "run"],
        "commit": "0" * 40,
        "dirty": False,
        "versions": {"torch": "2.13.0"},
        "device": "CPU",
        "models": [],
        "inputs": [],
    },
    "results": {
        "gain": {
            "value": 2.5978,
            "low": 2.41,
            "high": 2.8,
            "level": 0.95,
            "method": "bootstrap",
            "clusters": 84,
            "unit": "tokens",
            "bootstrap_t": {"low": 2.3, "high": 2.9},
        },
        "other": {
            "value": 1.2,
            "low": 1.0,
            "high": 1.4,
            "level": 0.95,
            "method": "bootstrap",
            "unit": "tokens",
        },
        "plain": {"value": 1, "unit": "tokens"},
        "zero": {"value": 0, "unit": "tokens"},
        "tiny": {"value": 0.0004, "unit": "tokens"},
        "time": {"value": 3, "unit": "seconds"},
        "share": {"value": 0.5, "unit": "ratio"},
        "half_percent": {"value": 0.5, "unit": "%"},
        "deep": {"deeper": {"value": 7, "unit": "tokens"}},
    },
}
FRONT = """id: F-01
title: {title}
record: a
status: {status}
regime: greedy
payloads:
  a: payloads/a/x.json
{extra}"""


def write(root: Path, body: str, *, title: str = "A title", status: str = "open", extra: str = "") -> Record:
    """A record of one finding whose body starts at line 1 of its own, after nine lines of front matter."""
    files = {
        "payloads/a/x.json": json.dumps(PAYLOAD, indent=2),
        "findings/F-01.md": f"---\n{FRONT.format(title=title, status=status, extra=extra)}---\n{body}",
    }
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, "utf-8")
    record = records.load(root)
    assert not record.refusals
    return record


def evaluated(root: Path, body: str, **options: str) -> Evaluation:
    record = write(root, body, **options)
    return evaluate(record, record.findings[0])


def shown(root: Path, expression: str) -> str:
    result = evaluated(root, "{{ " + expression + " }}")
    assert result.refusals == ()
    (number,) = result.printed
    if isinstance(number, Bracketed):
        return f"{number.value.text} [{number.low.text}, {number.high.text}]"
    assert isinstance(number, (Shown, Derived))
    return number.text


SHOWN = {
    "a.results.gain": "2.5978",
    "a.results.gain.value": "2.5978",
    "a.results.gain.clusters": "84",
    "a.results.gain.bootstrap_t.low | places(1)": "2.3",
    "a.results.gain | places(2)": "2.60",
    "a.results.gain | ci(2)": "2.60 [2.41, 2.80]",
    "a.results.gain | ci(2, signed=true)": "+2.60 [+2.41, +2.80]",
    "a.results.gain | ci(2, signed=false)": "2.60 [2.41, 2.80]",
    "a.results.deep.deeper": "7",
    "a.config.lookahead | words": "two",
    "a.seeds.root": "20261130",
    "a.regime.target": "SmolLM2-135M",
    "a.regime.batch": "1",
    "a.results.gain.unit": "tokens",
    "a.results.gain.method": "bootstrap",
    "a.provenance.versions.torch": "2.13.0",
    'a.provenance["versions"]["torch"]': "2.13.0",
    "a.name": "a/x",
    "(a.results.gain / a.results.plain) | times(2)": "2.60×",
    "a.results.gain / a.results.plain | times(2)": "2.60×",
    "(a.results.gain - a.results.other) | signed(2)": "+1.40",
    "(a.results.other - a.results.gain) | signed(2)": "−1.40",
    "(a.results.gain + a.results.plain * a.config.lookahead) | places(4)": "4.5978",
    "(a.results.gain / a.results.time) | places(3)": "0.866",
    "min(a.results.gain, a.results.other, a.results.plain) | places(0)": "1",
    "max(a.results.gain, a.results.other) | places(1)": "2.6",
    "abs(a.results.other - a.results.gain) | sig(2)": "1.4",
    "-a.results.gain | places(1)": "−2.6",
    "(a.results.deep.deeper * a.config.lookahead) | words": "fourteen",
    "(a.results.share / a.config.lookahead) | percent(0)": "25%",
    "a.results.share | times(1)": "0.5×",
    "a.results.share | percent(0)": "50%",
}


@pytest.mark.parametrize("expression", SHOWN)
def test_an_expression_prints(tmp_path: Path, expression: str) -> None:
    assert shown(tmp_path, expression) == SHOWN[expression]


REFUSED = {
    "b.results.gain": ("unknown-payload", 4),
    "a.results.none": ("unknown-field", 4),
    "a.results.gain.none": ("unknown-field", 4),
    "a.results": ("unknown-field", 4),
    "a": ("unknown-field", 4),
    "a.provenance.command": ("unknown-field", 4),
    "a.config.mode": ("unknown-field", 4),
    "a.config.flag": ("unknown-field", 4),
    "a.regime.long": ("unknown-field", 4),
    "a.results.gain + 1": ("literal-in-expression", 21),
    "0.743": ("literal-in-expression", 4),
    "(a.results.gain / 2) | places(2)": ("literal-in-expression", 22),
    "a.results.gain / a.results.plain": ("bad-template", 19),
    "a.results.gain | round(2)": ("bad-template", 21),
    "a.results.gain | places": ("bad-template", 21),
    "a.results.gain | places(99)": ("bad-template", 28),
    "a.results.gain | places(2, signed=true)": ("bad-template", 21),
    "a.results.gain | group(2)": ("bad-template", 21),
    "a.results.gain | sig(0)": ("bad-template", 4),
    "a.results.gain | words": ("bad-template", 4),
    "a.results.gain | places(2) | places(1)": ("bad-template", 31),
    "a.results.plain | ci(2)": ("unknown-field", 4),
    "(a.results.gain - a.results.plain) | ci(2)": ("bad-template", 20),
    "a.regime.target | places(2)": ("bad-template", 4),
    "(a.regime.target + a.results.gain) | places(2)": ("bad-template", 5),
    "(a.results.gain + a.results.time) | places(2)": ("unit-mismatch", 20),
    "(a.results.gain / a.results.time) | times(2)": ("unit-mismatch", 20),
    "max(a.results.gain, a.results.time) | places(2)": ("unit-mismatch", 4),
    "a.results.gain | times(2)": ("unit-mismatch", 4),
    "a.results.half_percent | percent(1)": ("unit-mismatch", 4),
    "(a.results.gain / a.results.zero) | places(2)": ("bad-template", 20),
    "a.results.tiny | places(2)": ("zero-shown", 4),
    "a.results.tiny | percent(1)": ("zero-shown", 4),
    "min(a.results.gain) | places(1)": ("bad-template", 4),
    "a.results.gain > a.results.plain": ("bad-template", 19),
    "a.results.0": ("literal-in-expression", 14),
    "a.__class__": ("unknown-field", 4),
    "open('x')": ("bad-template", 8),
    "a.results.gain.format('x')": ("bad-template", 25),
    "a.results.gain ~ a.name": ("bad-template", 19),
    "'text'": ("bad-template", 4),
    "": ("bad-template", 5),
    "computed('weather')": ("unknown-field", 4),
    'computed("findings-count") | places(2)': ("bad-template", 4),
    "(" * 60 + "a.results.gain" + ")" * 60: ("bad-template", 55),
}


@pytest.mark.parametrize("expression", REFUSED)
def test_an_expression_is_refused_at_its_place(tmp_path: Path, expression: str) -> None:
    result = evaluated(tmp_path, "Words.\n{{ " + expression + " }}")
    found = [(each.code, each.line, each.column) for each in result.refusals]
    code, column = REFUSED[expression]
    assert found == [(code, 11, column)]


def test_a_derived_number_carries_its_exact_value_and_its_expression(tmp_path: Path) -> None:
    (number,) = evaluated(tmp_path, "{{ (a.results.gain / a.results.other) | times(2) }}").printed
    assert isinstance(number, Derived)
    assert number.value == Fraction("2.5978") / Fraction("1.2")
    digest = number.leaves[0].payload.sha256
    assert number.prefix == [
        "/",
        ["payloads/a/x.json", "/results/gain/value", digest],
        ["payloads/a/x.json", "/results/other/value", digest],
    ]


TRUE = [
    "a.results.gain > a.results.plain",
    "a.results.gain.low > a.results.other.high",
    "a.results.gain > 0",
    "a.results.gain >= 5/2 and a.results.gain < 26/10",
    "a.results.share == 1/2",
    "not a.results.gain == a.results.plain",
    "a.results.gain > 5 or a.results.gain > 2",
    "not (a.results.gain > 5 and a.results.gain > 2)",
    "a.results.gain != a.results.plain",
    "a.results.gain - a.results.plain > 1",
    "min(a.results.gain.low, a.results.plain) == 1",
    "-a.results.gain < -1/2",
    "a.results.gain / a.results.time > 1/2",
]
FALSE = [
    "a.results.gain < a.results.plain",
    "a.results.gain > 26/10",
    "a.results.gain > 2 and a.results.gain > 5",
    "not a.results.gain > 0",
]
NO_CLAIM = {
    "a.results.gain > a.results.other": "bad-template",
    "a.results.gain > a.results.time": "unit-mismatch",
    "a.results.gain": "bad-template",
    "a.results.gain > 0.5": "literal-in-expression",
    "1 < a.results.gain < 3": "bad-template",
    "a.results.gain > 1/0": "bad-template",
    "a.results.gain > 0 and": "bad-template",
    "a.results.gain and a.results.plain": "bad-template",
    "b.results.gain > 0": "unknown-payload",
    "": "bad-template",
}


@pytest.mark.parametrize("condition", TRUE)
def test_words_stand_where_their_claim_is_true(tmp_path: Path, condition: str) -> None:
    result = evaluated(tmp_path, "{% claim " + condition + " %}so{% endclaim %}")
    assert result.refusals == ()
    assert isinstance(result.body[0], ClaimStart)


@pytest.mark.parametrize("condition", FALSE)
def test_a_false_claim_is_refused(tmp_path: Path, condition: str) -> None:
    result = evaluated(tmp_path, "So {% claim " + condition + " %}so{% endclaim %}")
    assert [(each.code, each.line, each.column) for each in result.refusals] == [("claim-false", 10, 13)]


@pytest.mark.parametrize("condition", NO_CLAIM)
def test_what_is_no_comparison_is_refused(tmp_path: Path, condition: str) -> None:
    result = evaluated(tmp_path, "{% claim " + condition + " %}so{% endclaim %}")
    assert [each.code for each in result.refusals] == [NO_CLAIM[condition]]


def test_a_claim_carries_its_comparison_with_literals_as_exact_strings(tmp_path: Path) -> None:
    result = evaluated(tmp_path, "{% claim a.results.share >= -2/4 %}so{% endclaim %}")
    start = result.body[0]
    assert isinstance(start, ClaimStart)
    digest = result.citations[0].payload.sha256
    assert start.prefix == [">=", ["payloads/a/x.json", "/results/share/value", digest], "-1/2"]


RULES = {
    ("holds", "holds_when: a.results.gain > a.results.plain"): None,
    ("holds", "holds_when: a.results.gain < a.results.plain"): "verdict-mismatch",
    ("open", "holds_when: a.results.gain > a.results.plain"): "verdict-mismatch",
    ("open", "holds_when: a.results.gain < a.results.plain"): None,
    ("null", "null_when: a.results.gain < a.results.plain"): "verdict-mismatch",
    ("null", "null_when: a.results.gain > a.results.plain"): None,
    ("holds", "holds_when: a.results.gain"): "bad-template",
    ("holds", "verdict_when: {far: a.results.gain > 100, near: a.results.gain > 0}"): None,
    ("holds", "verdict_when: {far: a.results.gain > 100}"): "verdict-mismatch",
    ("holds", "verdict_when: {near: a.results.gain > 0, far: a.results.none > 100}"): "unknown-field",
}


@pytest.mark.parametrize(("status", "rule"), RULES)
def test_a_status_agrees_with_its_rule(tmp_path: Path, status: str, rule: str) -> None:
    result = evaluated(tmp_path, "{{ a.results.gain }}", status=status, extra=rule + "\n")
    assert [each.code for each in result.refusals] == ([RULES[status, rule]] if RULES[status, rule] else [])


def test_the_first_true_label_is_the_verdict(tmp_path: Path) -> None:
    labels = "verdict_when: {far: a.results.gain > 100, near: a.results.gain > 0, here: a.results.gain > 1}\n"
    result = evaluated(tmp_path, "", extra=labels)
    assert result.verdict is not None
    assert result.verdict.words == "near"


BROKEN = {
    "{{ a.results.gain": ("bad-template", 10, 1),
    "{{a.results.gain}": ("bad-template", 10, 1),
    "a }} b": ("bad-template", 10, 3),
    "a %} b": ("bad-template", 10, 3),
    "{% claim a.results.gain > 0 %}so": ("bad-template", 10, 1),
    "so{% endclaim %}": ("bad-template", 10, 3),
    "{% for x in y %}": ("bad-template", 10, 1),
    "{% set x = 1 %}": ("bad-template", 10, 1),
    "{% include 'x' %}": ("bad-template", 10, 1),
    "{% statement x %}a{% endstatement %}": ("bad-template", 10, 1),
    '{% statement "x" %}{% claim a.results.gain > 0 %}{% endstatement %}{% endclaim %}': (
        "bad-template",
        10,
        50,
    ),
    '{% statement "x" %}a{% endstatement %}\n{% statement "x" %}b{% endstatement %}': ("duplicate-id", 11, 1),
    '{% verbatim "../x" %}': ("bad-template", 10, 1),
    '{% verbatim "none.txt" %}': ("bad-template", 10, 1),
    '{% verbatim "payloads/a/x.json" 3-9999 %}': ("bad-template", 10, 1),
    '{% listing "weather" %}': ("bad-template", 10, 1),
    "{% %}": ("bad-template", 10, 1),
    "See F-99 there.": ("unknown-id", 10, 5),
    "See K-1 there.": ("unknown-id", 10, 5),
}


@pytest.mark.parametrize("body", BROKEN)
def test_a_broken_template_is_refused_at_its_place(tmp_path: Path, body: str) -> None:
    result = evaluated(tmp_path, body)
    assert (result.refusals[0].code, result.refusals[0].line, result.refusals[0].column) == BROKEN[body]


def test_a_declared_payload_that_nothing_cites_is_refused(tmp_path: Path) -> None:
    result = evaluated(tmp_path, "Words.")
    assert [(each.code, each.line, each.column) for each in result.refusals] == [("payload-unused", 8, 6)]


def test_all_faults_of_a_source_are_collected(tmp_path: Path) -> None:
    result = evaluated(tmp_path, "{{ a.x }}\n{{ b.y }}\nF-99", title='"{{ a.z }}"', status="holds")
    assert [(each.code, each.line) for each in sorted(result.refusals)] == [
        ("unknown-field", 3),
        ("unknown-field", 10),
        ("unknown-payload", 11),
        ("unknown-id", 12),
    ]


def test_a_fault_in_a_title_has_its_line_and_column(tmp_path: Path) -> None:
    result = evaluated(tmp_path, "{{ a.name }}", title='"So {{ a.results.none }}"')
    assert [(each.line, each.column) for each in result.refusals] == [(3, 15)]


def test_hyphens_in_markup_take_white_space_away(tmp_path: Path) -> None:
    result = evaluated(tmp_path, "a \n {{- a.name -}} \n b")
    assert [piece.text for piece in result.body if isinstance(piece, Prose)] == ["a", "b"]


def test_comments_do_not_print(tmp_path: Path) -> None:
    result = evaluated(tmp_path, "a{# {{ b.c }} 12 #}b{{ a.name }}")
    assert [piece.text for piece in result.body if isinstance(piece, Prose)] == ["a", "b"]


def test_a_statement_of_whole_paragraphs_is_a_block(tmp_path: Path) -> None:
    body = (
        '{% statement "x" %}{{ a.name }}{% endstatement %}\n{% statement "y" %}\nb\n\nc\n{% endstatement %}'
    )
    result = evaluated(tmp_path, body)
    assert [piece.block for piece in result.body if isinstance(piece, StatementStart)] == [False, True]
    assert result.statements == ("x", "y")


def test_verbatim_lines_come_from_the_file(tmp_path: Path) -> None:
    result = evaluated(tmp_path, '{{ a.name }}{% verbatim "payloads/a/x.json" 2-3 %}')
    (block,) = [piece for piece in result.body if isinstance(piece, Verbatim)]
    assert block.excerpt.lines == ('  "schema": "specdec-sidechannels/payload/1",', '  "name": "a/x",')


def test_a_version_prints_only_where_the_citation_file_states_one(tmp_path: Path) -> None:
    result = evaluated(tmp_path, '{{ a.name }} {{ computed("version") }}')
    assert [each.code for each in result.refusals] == ["unknown-field"]
    (tmp_path / "CITATION.cff").write_text("cff-version: 1.2.0\nversion: 0.1.0\n")
    assert evaluated(tmp_path, '{{ a.name }} {{ computed("version") }}').refusals == ()


def test_a_computed_number_names_its_rule(tmp_path: Path) -> None:
    result = evaluated(tmp_path, '{{ a.name }} {{ computed("findings-count:holds") }}')
    assert [piece.number for piece in result.body if isinstance(piece, Printed)][1] == Made(
        "findings-count:holds"
    )
