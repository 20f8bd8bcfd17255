"""Roman numerals: two letters or more of I, V, X are one; what else could be one only warns."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

LABELS = frozenset({"phase", "type", "table", "part", "figure", "chapter", "section", "appendix", "class"})
"""Words after which a single letter may count."""

SMALL = frozenset(
    tens + ones
    for tens in ("", "x", "xx", "xxx")
    for ones in ("", "i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix")
    if len(tens + ones) > 1
)
"""Roman numerals in lower case, up to thirty-nine."""

ACRONYMS = frozenset(
    {"CLI", "CI", "CD", "MD", "ML", "DL", "CV", "DI", "MM", "CC", "DC", "MC", "CM", "DM", "MIX"}
)
"""Well-formed Roman numerals that hardly ever are one."""

_SURE = re.compile(r"(?<![A-Za-z0-9_])[IVX]{2,}(?![A-Za-z0-9_])")
_LARGE = re.compile(
    r"(?<![A-Za-z0-9_])(?=[IVXLCDM]{2})M{0,3}(?:CM|CD|D?C{0,3})(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3})"
    r"(?![A-Za-z0-9_])"
)
_SMALL = re.compile(rf"(?<![A-Za-z0-9_])(?:{'|'.join(sorted(SMALL))})(?![A-Za-z0-9_])")
_LABELLED = re.compile(
    rf"(?<![A-Za-z])(?:{'|'.join(sorted(LABELS))})\s+(?-i:([IVX]))(?![A-Za-z0-9_])", re.IGNORECASE
)
_CAPITALS = re.compile("[IVXLCDM]{2}").search


def spans(folded: str, letters: Collection[str]) -> Iterator[tuple[int, int, str]]:
    """Start, end and kind; letters are the lower-case words of the text."""
    if _CAPITALS(folded):
        sure = [match.span() for match in _SURE.finditer(folded)]
        yield from ((start, end, "roman") for start, end in sure)
        large = (match.span() for match in _LARGE.finditer(folded) if match[0] not in ACRONYMS)
        yield from ((start, end, "roman-maybe") for start, end in large if (start, end) not in sure)
    if not SMALL.isdisjoint(letters):
        yield from ((match.start(), match.end(), "roman-maybe") for match in _SMALL.finditer(folded))
    if not LABELS.isdisjoint(letters):
        yield from ((match.start(1), match.end(1), "roman-maybe") for match in _LABELLED.finditer(folded))
