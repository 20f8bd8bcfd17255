"""What Lockstep must emit, said again in exact fractions: no words, no carry, no window."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from math import ceil, floor
from typing import NamedTuple

Step = tuple[int, int, int]


class Interval(NamedTuple):
    """[low, low + width), a part of [0, 1)."""

    low: Fraction
    width: Fraction


def interval(steps: Iterable[Step]) -> Interval:
    """Where the statement puts a message: shares in whole units, 2**-56 at first, finer as it narrows."""
    low, width, scale = Fraction(0), Fraction(1), 2**56
    for start, count, total in steps:
        unit = Fraction(floor(width * scale / total), scale)
        low, width = low + unit * start, unit * count
        while width * scale < 2**40:
            scale *= 2**16
    return Interval(low, width)


def shortest(inside: Interval) -> bytes:
    """The shortest bytes all of whose continuations lie inside; of those, the lowest."""
    length = 0
    while True:
        cell = Fraction(1, 256**length)
        first = ceil(inside.low / cell)
        if (first + 1) * cell <= inside.low + inside.width:
            return first.to_bytes(length, "big")
        length += 1


def ideal(steps: Iterable[Step]) -> Interval:
    """Where a coder without rounding would put the message."""
    low, width = Fraction(0), Fraction(1)
    for start, count, total in steps:
        low, width = low + width * start / total, width * count / total
    return Interval(low, width)


def static(counts: Sequence[int], message: Iterable[int]) -> Iterator[Step]:
    """Steps under fixed counts."""
    for symbol in message:
        yield sum(counts[:symbol]), counts[symbol], sum(counts)


def adaptive(symbols: int, increment: int, limit: int, message: Iterable[int]) -> Iterator[Step]:
    """Steps under counts that start at one, grow by `increment`, and are halved upwards past `limit`."""
    counts = [1] * symbols
    for symbol in message:
        yield sum(counts[:symbol]), counts[symbol], sum(counts)
        counts[symbol] += increment
        if sum(counts) > limit:
            counts = [(count + 1) // 2 for count in counts]
