"""Numbers written in words: cardinals, ordinals that rank, fractions, multiples, and words that claim."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator

from generator.gate.numerals import vocabulary

Span = tuple[int, int, str, str]
"""Start, end, kind, and the constant that a claim around it must name."""

LEFT, RIGHT = 40, 64
"""Characters around a number word that decide what it is; no phrase is longer."""


def _either(words: Iterable[str]) -> str:
    """An alternation in which the longest word wins."""
    return "(?:" + "|".join(sorted(set(words), key=lambda word: (-len(word), word))) + ")"


_EDGE = r"(?<![a-z])"
_CARDINAL = _either(vocabulary.CARDINALS)
_ORDINAL = _either(vocabulary.ORDINALS)
_SMALL = _either([*vocabulary.ONES, "ten", "eleven", "twelve", "twenty"])
_FRACTION = rf"(?:an?|{_SMALL})[\s-]+(?:{_either(vocabulary.FRACTION_NAMES)}s?)"
_FOLD = _either(vocabulary.FOLD) + r"[\s-]?fold"
_WORD = re.compile(
    rf"{_EDGE}(?:(?P<fold>{_FOLD})|(?P<fraction>{_FRACTION})"
    rf"|(?P<word>{_CARDINAL}(?:(?:[\s-]+(?:and[\s-]+)?){_CARDINAL})*(?:-(?:first|second|{_ORDINAL}))?)"
    rf"|(?P<ordinal>{_ORDINAL})|(?P<ratio>{_either(vocabulary.MULTIPLES)}))(?![a-z])"
)
_PHRASE = re.compile("|".join(f"(?:{phrase})" for phrase in vocabulary.PHRASES))
_EXEMPT = re.compile("|".join(f"(?:{each.expression})" for each in vocabulary.EXEMPTIONS))
_CLAIMING = re.compile(rf"{_EDGE}(?:{_either(vocabulary.CLAIMING)}|{vocabulary.COMPARATIVES})(?![a-z])")

COUNTING = frozenset(
    {*vocabulary.CARDINALS, *vocabulary.ORDINALS, *vocabulary.MULTIPLES, *vocabulary.FRACTION_NAMES}
    | {f"{word}fold" for word in vocabulary.FOLD}
    | {"first", "second", "couple", "pair", "scores", "quarter", "quarters", "keycap"}
)
"""Words of which one stands in every span that spans() finds."""

CLAIMING = frozenset({*vocabulary.CLAIMING, "than"})


def spans(lowered: str, present: Collection[str]) -> Iterator[Span]:
    """Every number in words of a lower-case text that holds the given counting words."""
    taken = -1
    for start, end in _windows(lowered, present):
        for span in _window(lowered, start, end):
            if span[0] >= taken:
                taken = span[1]
                yield span


def claiming(lowered: str) -> Iterator[Span]:
    """Words that claim without counting."""
    return ((match.start(), match.end(), "claim", "") for match in _CLAIMING.finditer(lowered))


def _windows(lowered: str, present: Collection[str]) -> Iterator[tuple[int, int]]:
    """Stretches around the counting words, joined where they touch."""
    places = sorted(match.start() for match in re.finditer(_EDGE + _either(present), lowered))
    start = end = -1
    for place in places:
        if place - LEFT > end:
            if end >= 0:
                yield start, min(end, len(lowered))
            start = max(0, place - LEFT)
        end = place + RIGHT
    if end >= 0:
        yield start, min(end, len(lowered))


def _window(lowered: str, start: int, end: int) -> Iterator[Span]:
    """The numbers of one stretch outside the phrases that merely look like them."""
    words = [_read(match) for match in _WORD.finditer(lowered, start, end)]
    words += [(m.start(), m.end(), "ordinal", "") for m in _PHRASE.finditer(lowered, start, end)]
    exempt = [match.span() for match in _EXEMPT.finditer(lowered, start, end)] if words else []
    for span in sorted(words, key=lambda each: (each[0], -each[1])):
        if not any(low <= span[0] and span[1] <= high for low, high in exempt):
            yield span


def _read(match: re.Match[str]) -> Span:
    kind = match.lastgroup or "word"
    text = match[0]
    relation = ""
    if kind == "ratio":
        relation = vocabulary.MULTIPLES[text]
    elif kind == "fold":
        relation = str(vocabulary.FOLD[re.sub(r"[\s-]?fold$", "", text)])
    elif kind == "fraction":
        relation = _fraction(text)
    return match.start(), match.end(), kind, relation


def _fraction(text: str) -> str:
    """`three-quarters` as 3/4."""
    count, name = re.split(r"[\s-]+", text, maxsplit=1)
    over = vocabulary.FRACTION_NAMES[name.removesuffix("s")]
    return f"{vocabulary.FOLD.get(count, 1)}/{over}"
