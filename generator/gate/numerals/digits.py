"""Numerals written with digits: one span from the first digit to the last, separators included."""

from __future__ import annotations

import re
from collections.abc import Iterator

_GROUP = "\u00a0\u2007\u2009\u202f"
_DATE = r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?![0-9])"
_GROUPED = rf"(?<![^\W\d_])[0-9]{{1,3}}(?:[ {_GROUP}][0-9]{{3}})+(?![0-9])"
_PLAIN = rf"[0-9]+(?:[.,:'’{_GROUP}/⁄][0-9]+)*"
_TAIL = r"(?:[.,][0-9]+)?(?:[eE][+\-−]?[0-9]+)?(?:\s?×\s?[0-9]+(?:[⁻⁺^−-]+[0-9]+)?)?(?:[ \u00a0\u202f]?[%‰])?"
_NUMERAL = re.compile(rf"(?:{_DATE}|(?:{_GROUPED}|{_PLAIN}){_TAIL})")
_DIGIT = re.compile("[0-9]")
_LETTERED = re.compile(r"(?<![0-9A-Za-z_])[A-Za-z_][0-9A-Za-z_]*\Z")

LONGEST = 80
"""Characters of a word before a digit that are read; a longer one is no name."""


def spans(folded: str) -> Iterator[tuple[int, int]]:
    """Start and end of every numeral of a folded text."""
    first = _DIGIT.search(folded)
    while first:
        start = first.start()
        numeral = _NUMERAL.match(folded, start)
        end = numeral.end() if numeral else first.end()
        yield start - _leading_point(folded, start), end
        first = _DIGIT.search(folded, end)


def is_in_a_name(folded: str, start: int, shown: str) -> bool:
    """Whether what is shown are plain digits after a letter, in a word that starts with a letter: `int32`."""
    if not (folded[start - 1 : start].isalpha() and shown.isascii() and shown.isdigit()):
        return False
    return bool(_LETTERED.search(folded, max(0, start - LONGEST), start))


def _leading_point(folded: str, start: int) -> int:
    """1 where a decimal point opens the numeral, as in .001."""
    if start == 0 or folded[start - 1] != ".":
        return 0
    return int(start == 1 or not (folded[start - 2].isalnum() or folded[start - 2] in "._"))
