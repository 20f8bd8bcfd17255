"""Units as names with exponents: equal or not, nothing is converted."""

from __future__ import annotations

from collections import Counter

Unit = tuple[tuple[str, int], ...]
"""Names and non-zero exponents, sorted; empty for a plain ratio or a count without a unit."""

NONE: Unit = ()

PLAIN = frozenset({"", "1", "ratio", "times", "×"})
"""Unit texts that say there is none."""


def named(text: str) -> Unit:
    """The unit that a payload writes."""
    return NONE if text in PLAIN else ((text, 1),)


def product(left: Unit, right: Unit, sign: int = 1) -> Unit:
    """The unit of a product, or of a quotient with sign −1."""
    exponents = Counter(dict(left))
    for name, exponent in right:
        exponents[name] += sign * exponent
    return tuple(sorted((name, exponent) for name, exponent in exponents.items() if exponent))


def text(unit: Unit) -> str:
    """The unit in words for a message."""
    return " · ".join(name if power == 1 else f"{name}^{power}" for name, power in unit) or "no unit"
