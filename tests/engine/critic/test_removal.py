"""The search for the fewest deciding clusters, against trying every set by other code."""

from __future__ import annotations

import math
import random
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from engine.critic import removal, rule
from engine.critic.case import Case
from engine.critic.evidence import Reading
from engine.critic.ratios import Ratios
from engine.critic.rule import Field
from engine.critic.source import Label

CLUSTERS = 9
RULES: dict[str, dict[str, str]] = {
    "an end above a constant": {"holds": "a.x.low > a.bar"},
    "two ends apart": {"holds": "a.x.low > a.y.high"},
    "a value on one side": {"holds": "a.x > a.bar", "null": "a.x.high < a.bar"},
    "either of two": {"holds": "a.x.low > a.bar or a.y.high < a.bar"},
    "both of two, turned round": {"holds": "not (a.x.low <= a.bar or a.y.low > a.bar)"},
    "arithmetic": {"holds": "(a.x.value - a.y.value) / a.bar > 1/10"},
}
VERDICT = {"clear": "a.x.low > a.bar", "leaning": "a.x > a.bar", "absent": "a.x <= a.bar"}


def table(seed: int, share: float) -> np.ndarray:
    """Nine clusters, uneven in size and share."""
    draw = random.Random(seed)
    below = [draw.randint(4, 60) for _ in range(CLUSTERS)]
    shares = [min(0.95, max(0.05, draw.gauss(share, 0.15))) for _ in range(CLUSTERS)]
    return np.array([[round(n * s), n] for n, s in zip(below, shares, strict=True)])


def reading(measure: Ratios | None, part: str, committed: str = "0") -> Reading:
    """A field that stands for a part of a measure, or for a constant."""
    return Reading("payloads/t/x.json#/results/x/" + part, Fraction(committed), False, {}, part, measure)


def case(seed: int, kind: Any, texts: dict[str, str], written: str | None) -> tuple[Case, dict[str, Ratios]]:
    """A label over two ratios and a bar."""
    measures = {
        "x": Ratios(table(seed, 0.62), range(CLUSTERS), 0.95, 2000),
        "y": Ratios(table(seed + 1000, 0.4), range(CLUSTERS), 0.95, 2000),
    }
    rules = {name: rule.parse(text, "here") for name, text in texts.items()}
    readings: dict[Field, Reading] = {}
    for condition in rules.values():
        for field in rule.fields(condition):
            part = field.keys[1] if len(field.keys) > 1 else "value"
            readings[field] = reading(measures.get(field.keys[0]), part, "0.5")
    return Case(Label(kind, written, texts, rules), readings), measures


class Named:
    """An estimate without some clusters, for a rule that Python itself evaluates."""

    def __init__(self, columns: np.ndarray, offsets: dict[str, float], gone: tuple[int, ...]) -> None:
        left = [row for at, row in enumerate(columns.tolist()) if at not in gone]
        above, below = sum(y for y, _ in left), sum(x for _, x in left)
        self.value = above / below
        squares = sum(((y - self.value * x) / below) ** 2 for y, x in left)
        error = math.sqrt(squares * len(left) / (len(left) - 1))
        self.low, self.high = (self.value + offsets[end] * error for end in ("low", "high"))

    def __gt__(self, other: float) -> bool:
        return self.value > other

    def __le__(self, other: float) -> bool:
        return self.value <= other


def word(texts: dict[str, str], seed: int, measures: dict[str, Ratios], gone: tuple[int, ...]) -> str:
    """The label without clusters: the first rule that Python finds true, as the cases here need it."""
    names = {}
    for name, measure in measures.items():
        columns = table(seed if name == "x" else seed + 1000, 0.62 if name == "x" else 0.4)
        offsets = {e: (measure.part(e) - measure.value) / measure.error for e in ("low", "high")}
        names[name] = Named(columns, offsets, gone)
    scope = type("a", (), {**names, "bar": 0.5})
    return next((label for label, text in texts.items() if eval(text, {}, {"a": scope})), "neither")


def smallest(texts: dict[str, str], seed: int, measures: dict[str, Ratios], most: int) -> int | None:
    """The size of the smallest set that changes the label, by trying all of them."""
    base = word(texts, seed, measures, ())
    for size in range(1, most + 1):
        if any(word(texts, seed, measures, gone) != base for gone in combinations(range(CLUSTERS), size)):
            return size
    return None


@pytest.mark.parametrize("name", [*RULES, "verdict"])
def test_the_search_finds_what_trying_every_set_finds(name: str) -> None:
    sizes = []
    for seed in range(12):
        texts = VERDICT if name == "verdict" else RULES[name]
        _, measures = case(seed, "status", texts, "holds")
        base = word(texts, seed, measures, ())
        judged, measures = case(seed, "verdict" if name == "verdict" else "status", texts, base)
        found = removal.search(judged)
        true = smallest(texts, seed, measures, CLUSTERS // 2)
        size = len(found.removed) if found.removed is not None else None
        if true is None or true <= removal.EXHAUSTIVE:
            assert size == true
        else:
            assert size is None or size >= true
        if found.removed is not None:
            assert word(texts, seed, measures, tuple(found.removed)) == found.becomes != base
            assert found.exact == (len(found.removed) <= removal.EXHAUSTIVE)
        sizes.append(size)
    assert len(set(sizes)) > 1, "cases that all end alike prove little"


@pytest.mark.parametrize(("rule", "status"), [("a.x > a.bar", "holds"), ("a.x < a.bar", "neither")])
def test_the_pair_is_the_one_that_goes_furthest_whether_the_rule_is_true_or_false(
    rule: str, status: str
) -> None:
    judged, measures = case(3, "status", {"holds": rule}, "holds")
    assert measures["x"].value > 0.5 and judged.recomputed() == status
    offsets = {"low": 0.0, "high": 0.0}

    def left(gone: tuple[int, ...]) -> float:
        return Named(table(3, 0.62), offsets, gone).value

    found = removal.search(judged)
    assert found.pair == frozenset(min(combinations(range(CLUSTERS), 2), key=left))
    assert found.removed is not None and found.pair < found.removed and not found.exact


def test_clusters_are_counted_over_all_numbers_and_a_rule_of_constants_has_none() -> None:
    judged, _ = case(1, "status", {"holds": "a.x.low > a.y.high"}, "holds")
    assert removal.search(judged).clusters == CLUSTERS
    apart = Ratios(table(7, 0.4), range(50, 50 + CLUSTERS), 0.95, 2000)
    readings = dict(judged.readings)
    readings[Field("a", ("y", "high"))] = reading(apart, "high")
    assert removal.search(Case(judged.label, readings)).clusters == 2 * CLUSTERS
    constant = {field: reading(None, "value", "1") for field in readings}
    found = removal.search(Case(judged.label, constant))
    assert (found.clusters, found.tried, found.removed, found.pair) == (0, 0, None, None)


def test_no_estimate_loses_more_than_half_of_its_clusters() -> None:
    judged, _ = case(2, "status", {"holds": "a.x.clusters > a.zero"}, "holds")
    field = Field("a", ("zero",))
    judged = Case(judged.label, {**judged.readings, field: reading(None, "value", "0")})
    found = removal.search(judged)
    assert found.removed is None and found.tried == CLUSTERS // 2
