"""Plain strings that repeat a passage of a page: titles, navigation, tables of contents, search, metadata.

They carry no marks. A numeral in one passes only where the passage that it repeats has a bound number
at the same place of the same text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

CONTEXT = 8
"""Characters, without white space, that must agree around a numeral that is not a whole passage."""

_DROPPED = re.compile(r"[\s¶\u2060\u00ad]")
_SEPARATORS = (" - ", " | ", " – ", " — ", " · ", " :: ", ": ")


@dataclass(frozen=True)
class Bound:
    """A passage of a page as it is shown, and the stretches of it that are bound."""

    shown: str
    stretches: Sequence[tuple[int, int]]

    @cached_property
    def text(self) -> str:
        """The passage without white space."""
        return _pack(self.shown)

    @cached_property
    def spans(self) -> list[tuple[int, int]]:
        """The bound stretches, in the text without white space."""
        return [(self._packed(start), self._packed(end)) for start, end in self.stretches]

    def _packed(self, place: int) -> int:
        return len(_pack(self.shown[:place]))


class Passages:
    """The bound passages of some pages, those of a text found at once."""

    def __init__(self, bounds: Sequence[Bound]) -> None:
        self._bounds = bounds
        self._whole: dict[str, list[Bound]] = {}
        for each in bounds:
            self._whole.setdefault(each.text, []).append(each)

    def repeats(self, text: str, start: int, end: int, *, alone: bool = False) -> bool:
        """Whether the numeral at [start, end) of a plain string repeats a bound number of a passage.

        With alone, a passage that is nothing but the number will do (a table cell in a search index).
        """
        packed = _pack(text)
        low, high = len(_pack(text[:start])), len(_pack(text[:end]))
        if (alone or high - low < len(packed)) and self._is_whole(packed, low, high):
            return True
        numeral, stops = packed[low:high], _stops(text, len(packed))
        return any(
            _agrees(packed, low, high, passage, at, stops, alone)
            for passage in self._bounds
            if numeral in passage.text
            for first, last in passage.spans
            for at in _occurrences(numeral, passage.text, first, last)
        )

    def _is_whole(self, packed: str, low: int, high: int) -> bool:
        """Whether a passage has just this text, and binds this stretch of it."""
        found = self._whole.get(packed, ())
        return any(first <= low and high <= last for each in found for first, last in each.spans)


def _occurrences(numeral: str, text: str, first: int, last: int) -> Iterable[int]:
    """Where a numeral stands inside a bound stretch."""
    at = text.find(numeral, first, last)
    while at >= 0:
        yield at
        at = text.find(numeral, at + 1, last)


def _agrees(packed: str, low: int, high: int, passage: Bound, at: int, stops: set[int], alone: bool) -> bool:
    """Both texts agree from the numeral outward until one of them ends or the string changes subject."""
    there = at + high - low
    left = _common(packed[:low][::-1], passage.text[:at][::-1])
    right = _common(packed[high:], passage.text[there:])
    left_whole = left == at or low - left in stops
    right_whole = there + right == len(passage.text) or high + right in stops
    if not (left_whole and right_whole):
        return False
    return left + right >= CONTEXT or (
        left == at and there + right == len(passage.text) and (alone or left + right > 0)
    )


def _common(left: str, right: str) -> int:
    """How many leading characters agree."""
    size = min(len(left), len(right))
    if left[:size] == right[:size]:
        return size
    return next(index for index in range(size) if left[index] != right[index])


def _stops(text: str, size: int) -> set[int]:
    """Places of the packed string where a repeated passage may begin or end."""
    stops = {0, size}
    for separator in _SEPARATORS:
        at = text.find(separator)
        while at >= 0:
            stops |= {len(_pack(text[:at])), len(_pack(text[: at + len(separator)]))}
            at = text.find(separator, at + 1)
    if text.endswith("…"):
        stops.add(len(_pack(text[:-1])))
    return stops


def _pack(text: str) -> str:
    """The text without white space and without what only marks a heading's link."""
    return _DROPPED.sub("", text)
