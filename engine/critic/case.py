"""A label with everything its rules name: the word they give on any set of numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from engine.contract.errors import BadData
from engine.critic import rule
from engine.critic.draws import SEED, Floats, Integers
from engine.critic.evidence import Evidence, Reading
from engine.critic.measure import Method
from engine.critic.rule import Comparison, Condition, Field, Literal, Lookup
from engine.critic.source import Label, Source

Truths = Mapping[str, Any]


@dataclass(frozen=True)
class Case:
    """A label and what each field of its rules stands for."""

    label: Label
    readings: Mapping[Field, Reading]

    @property
    def clusters(self) -> list[int]:
        """Every cluster that one of the numbers counts."""
        measured = [r.measure.clusters for r in self.readings.values() if r.measure]
        return sorted(frozenset().union(*measured))

    def committed(self) -> str:
        """The word by the committed digits, in exact fractions."""
        return self.word(_exact(lambda field: self.readings[field].committed))

    def recomputed(self, seed: int = SEED, method: Method = "percentile") -> str:
        """The word by numbers made again from state; `BadData` where an interval cannot be made."""
        return self.word(self.again(seed, method))

    def again(self, seed: int = SEED, method: Method = "percentile") -> Lookup:
        """Numbers made again from state, each an array of one; the rest as committed."""

        def part(reading: Reading) -> Floats:
            made = reading.measure.part(reading.part, seed, method) if reading.measure else reading.committed
            return np.array([float(made)])

        return _doubles({field: part(reading) for field, reading in self.readings.items()})

    def moved(self, removed: Integers) -> tuple[Lookup, Any]:
        """Numbers without clusters, (B, n) → an entry a removal; and where all of them can be judged."""
        found, judged = {}, np.ones(len(removed), dtype=np.bool_)
        for field, reading in self.readings.items():
            if reading.measure is None:
                found[field] = np.full(len(removed), float(reading.committed))
            else:
                found[field] = reading.measure.moved(reading.part, removed)
                judged &= np.isfinite(found[field])
        return _doubles(found), judged

    def rest(self, removed: frozenset[int]) -> Case:
        """The case on what remains, to be resampled afresh; `BadData` where too little does."""
        left = {}
        for field, reading in self.readings.items():
            touched = reading.measure is not None and reading.measure.clusters & removed
            measure = reading.measure.rest(removed) if reading.measure and touched else reading.measure
            left[field] = replace(reading, measure=measure)
        return Case(self.label, left)

    def truths(self, lookup: Lookup) -> Truths:
        """The truth of every rule."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return {name: rule.truth(condition, lookup) for name, condition in self.label.rules.items()}

    def word(self, lookup: Lookup) -> str:
        """The label that the rules give on one set of numbers."""
        try:
            truths = self.truths(lookup)
        except ZeroDivisionError:
            raise BadData("a rule", "divides by zero.", "Compare products instead.") from None
        return self.label.word({name: bool(np.all(truth)) for name, truth in truths.items()})


def read(source: Source, label: Label, evidence: Evidence) -> Case:
    """Look up every field of a label's rules; `BadData` with the rule's place."""
    readings: dict[Field, Reading] = {}
    for name, condition in label.rules.items():
        place = f"{source.path} {label.key(name)}"
        for field in rule.fields(condition):
            readings[field] = evidence.read(field, source.payloads, place)
        for each in _comparisons(condition):
            if all(any(readings[f].bare for f in rule.fields(side)) for side in (each.left, each.right)):
                raise BadData(place, "compares two estimates.", "Say .low, .high or .value of each.")
    return Case(label, readings)


def _comparisons(condition: Condition) -> Iterator[Comparison]:
    if isinstance(condition, Comparison):
        yield condition
    else:
        for operand in condition.operands:
            yield from _comparisons(operand)


def _exact(field: Callable[[Field], Any]) -> Lookup:
    return lambda node: node.value if isinstance(node, Literal) else field(node)


def _doubles(found: Mapping[Field, Floats]) -> Lookup:
    return lambda node: np.array([float(node.value)]) if isinstance(node, Literal) else found[node]
