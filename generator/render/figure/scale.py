"""From values to places in a drawing, in exact rationals, written with one decimal."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

EDGE = 40
"""Thousandths of the drawing that stay free at either end of a scale."""


@dataclass(frozen=True)
class Scale:
    """A line of a thousand parts from the lowest value that is drawn to the highest."""

    low: Fraction
    high: Fraction

    @classmethod
    def over(cls, values: Iterable[Fraction]) -> Scale:
        """The scale on which all of these values can be drawn."""
        known = list(values)
        return cls(min(known), max(known))

    def at(self, value: Fraction) -> str:
        """Where a value stands; the middle where all values are one."""
        return written(self._thousandths(value))

    def up(self, value: Fraction) -> str:
        """Where a value stands on a scale that grows upwards, counted from the top."""
        return written(1000 - self._thousandths(value))

    def _thousandths(self, value: Fraction) -> Fraction:
        if self.high == self.low:
            return Fraction(500)
        return EDGE + (1000 - 2 * EDGE) * (value - self.low) / (self.high - self.low)


def written(thousandths: Fraction) -> str:
    """A place with one decimal, half to even."""
    tenths = round(thousandths * 10)
    return f"{tenths // 10}.{tenths % 10}"
