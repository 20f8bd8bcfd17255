"""The critic reads rules by its own means and agrees with the generator on what they say."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.contract.errors import BadData
from engine.critic import rule
from engine.critic.rule import Field, Literal
from generator.number import claim, fragment
from generator.number.exact import Scope
from generator.record import payload
from generator.report.refusal import Refused

VALUES = {
    Field("a", ("results", "x")): Fraction("2.5"),
    Field("a", ("results", "x", "low")): Fraction(2),
    Field("b", ("results", "lambda", "or", "high")): Fraction(-3),
    Field("b", ("results", "y-1")): Fraction(0),
}
HOLDS = {
    "a.results.x > 2": True,
    "a.results.x > 5/2": False,
    "a.results.x >= 5/2": True,
    "a.results.x == 5 / 2": True,
    "a.results.x != 5/2": False,
    "a.results.x.low < a.results.x": True,
    "not a.results.x < 2": True,
    "not (a.results.x < 2 or a.results.x > 2)": False,
    "a.results.x > 2 and a.results.x < 2 or a.results.x <= 3": True,
    "a.results.x > 2 and (a.results.x < 2 or a.results.x <= 3)": True,
    "b.results.lambda.or.high < -2": True,
    "b . results\n  . lambda.or.high == -3": True,
    'b.results["y-1"] == 0': True,
    "b.results['y-1'] == 0": True,
    "abs(b.results.lambda.or.high) == 3": True,
    "min(a.results.x, a.results.x.low, 7) == 2": True,
    "max(a.results.x, b.results.lambda.or.high) == 5/2": True,
    "a.results.x - a.results.x.low * 2 + 1 == -1/2": True,
    "a.results.x / a.results.x.low > 1": True,
    "- - a.results.x > 0": True,
    "1/3 + 1/3 + 1/3 == 1": True,
}


def look(node: Field | Literal) -> Any:
    """The value of a field or a literal."""
    return node.value if isinstance(node, Literal) else VALUES[node]


@pytest.mark.parametrize("text", HOLDS)
def test_a_rule_means_what_it_says_exactly_and_in_doubles(text: str) -> None:
    read = rule.parse(text, "here")
    assert bool(rule.truth(read, look)) is HOLDS[text]
    if "/3" not in text:  # thirds are not exact in doubles
        many = rule.truth(read, lambda node: np.full(3, float(look(node))))
        assert many.tolist() == [HOLDS[text]] * 3


REFUSED = [
    "",
    "a.results.x",
    "2",
    "a.results.x > 0.5",
    "a.results.x > 1e3",
    "a.results.x > 0x10",
    "a.results.x > 1_000",
    "a.results.x > 2j",
    "a.results.x > True",
    "a.results.x > None",
    "a.results.x > '2'",
    "a.results.x > ...",
    "1 < a.results.x < 3",
    "a.results.x in b.results",
    "a.results.x is 2",
    "a.results.x ** 2 > 1",
    "a.results.x // 2 > 1",
    "a.results.x % 2 > 1",
    "a.results.x @ 2 > 1",
    "a.results.x & 1 > 0",
    "~a.results.x > 0",
    "+a.results.x > 0",
    "(a.results.x > 1) > 0",
    "(a.results.x > 1) + 1 > 0",
    "not a.results.x",
    "a.results.x and a.results.y",
    "a.results.x if 1 > 0 else 2 > 1",
    "(lambda: 1)() > 0",
    "[1][0] > 0",
    "{1: 2}[1] > 0",
    "a.results[0] > 1",
    "a.results[b.results.x] > 1",
    "a.results['x':'y'] > 1",
    "a.results['x' 'y'] > 1",
    "a.results[f'x'] > 1",
    "a.results['x\\n'] > 1",
    "a.results.x() > 1",
    "min(a.results.x) > 1",
    "min() > 1",
    "abs(a.results.x, 1) > 1",
    "min(*a.results) > 1",
    "min(a.results.x, 1, key=abs) > 1",
    "round(a.results.x) > 1",
    "__import__('os').system('true') > 1",
    "a.results.x > 1; b.results.y > 1",
    "a.results.x = 1",
    "(x := 1) > 0",
    "a.results.x > 1 # and more",
    "a.results.x >",
    "(" * 300 + "1" + ")" * 300 + " > 0",
    "-" * 300 + "1 > 0",
    "not " * 300 + "1 > 0",
    " + ".join(["1"] * 300) + " > 0",
    "1 > 0" + " and 1 > 0" * 500,
    "a.results.x > 1 \x00",
    "a.results.ｘ > ２",
]


@pytest.mark.parametrize("text", REFUSED)
def test_what_is_outside_the_language_is_refused_with_its_place(text: str) -> None:
    with pytest.raises(BadData) as refused:
        rule.parse(text, "findings/F-01.md holds_when")
    assert refused.value.place == "findings/F-01.md holds_when"


FIELDS = [
    "a.results.x",
    "a.results.x.low",
    "a.results.x.high",
    "a.results.y",
    "a.results.y.value",
    "a.results.n",
]
EXPRESSIONS = st.recursive(
    st.sampled_from(FIELDS) | st.integers(0, 9).map(str),
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from("+-*/"), inner).map(lambda t: f"({t[0]} {t[1]} {t[2]})"),
        inner.map(lambda text: f"-{text}"),
        inner.map(lambda text: f"abs({text})"),
        st.tuples(st.sampled_from(["min", "max"]), inner, inner).map(lambda t: f"{t[0]}({t[1]}, {t[2]})"),
    ),
    max_leaves=6,
)
COMPARED = st.tuples(EXPRESSIONS, st.sampled_from(["<", "<=", ">", ">=", "==", "!="]), EXPRESSIONS).map(
    " ".join
)
RULES = st.recursive(
    COMPARED,
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from([" and ", " or "]), inner).map(lambda t: f"{t[0]}{t[1]}{t[2]}"),
        inner.map(lambda text: f"not ({text})"),
        inner.map(lambda text: f"({text})"),
    ),
    max_leaves=4,
)
RESULTS = {
    "x": {"value": 2.5, "low": -1, "high": 3.25, "unit": "1"},
    "y": {"value": 2, "low": 2, "high": 2.5, "unit": "1"},
    "n": {"value": 3, "unit": "1"},
}


@pytest.fixture(scope="module")
def scope(tmp_path_factory: pytest.TempPathFactory) -> Scope:
    """The generator's view of a small payload."""
    root = tmp_path_factory.mktemp("root")
    path = "payloads/trial/one.json"
    (root / path).parent.mkdir(parents=True)
    document = {
        "schema": "specdec-sidechannels/registered/1",
        "name": "trial/one",
        "question": "Which?",
        "config": {},
        "results": RESULTS,
    }
    (root / path).write_text(json.dumps(document, indent=2), encoding="utf-8")
    return Scope({"a": path}, {path: payload.read(Path(root), path)})


def place(node: Field | Literal) -> Any:
    """The value of a field of the small payload."""
    if isinstance(node, Literal):
        return node.value
    found: Any = {"results": RESULTS}
    for key in node.keys:
        found = found[key]
    return Fraction(str(found["value"] if isinstance(found, dict) else found))


@settings(max_examples=300, deadline=None)
@given(text=RULES)
def test_the_critic_and_the_generator_read_a_rule_alike(scope: Scope, text: str) -> None:
    try:
        expected = claim.rule(scope, fragment.Fragment("findings/F-01.md", text, 1, 1)).holds
    except Refused as refused:  # a division by zero, or two bare estimates, which the critic sees elsewhere
        messages = " ".join(each.message for each in refused.refusals)
        assert "zero" in messages or "Both sides are estimates" in messages, messages
        return
    assert bool(rule.truth(rule.parse(text, "here"), place)) is expected


def test_a_margin_has_the_sign_of_the_truth_and_starts_at_one() -> None:
    text = "a.results.x > 2 and not b.results.lambda.or.high > -2"
    read = rule.parse(text, "here")

    def many(node: Field | Literal) -> Any:
        shift = np.array([0.0, -0.25, -0.5, -0.75])
        return float(look(node)) + (shift if isinstance(node, Field) and node.alias == "a" else 0.0)

    found = rule.margin(read, many, lambda node: np.array([float(look(node))]))
    assert found.tolist() == [1.0, 0.5, 0.0, -0.5]
    assert rule.truth(read, many).tolist() == [True, True, False, False]
