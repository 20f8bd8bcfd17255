"""Finds what counts in a text: digits of every script, number words, Roman numerals, words that claim."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from generator.gate.numerals import characters, vocabulary

WARNED = frozenset({"claim", "roman-maybe"})
"""Kinds that are listed and counted; every other kind is refused."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A numeral or number word at [start, end) of the text; relation is the constant a claim must name."""

    start: int
    end: int
    text: str
    kind: str
    relation: str = ""

    @property
    def refused(self) -> bool:
        return self.kind not in WARNED


def _either(words: Iterable[str]) -> str:
    """An alternation in which the longest word wins."""
    return "(?:" + "|".join(sorted(set(words), key=lambda word: (-len(word), word))) + ")"


_GROUP = "\u00a0\u2007\u2009\u202f"
_DIGITS = re.compile(
    r"(?<![0-9])[0-9]{4}-[0-9]{2}-[0-9]{2}(?![0-9])"
    r"|(?:(?<![\w.])\.)?"
    rf"(?:[0-9]{{1,3}}(?:[ {_GROUP}][0-9]{{3}})+(?![0-9])|[0-9]+(?:[.,:'’{_GROUP}/⁄][0-9]+)*)"
    r"(?:[.,][0-9]+)?(?:[eE][+\-−]?[0-9]+)?(?:\s?×\s?[0-9]+(?:[⁻⁺^−-]+[0-9]+)?)?(?:[ \u00a0\u202f]?[%‰])?"
)

_CARDINAL = _either(vocabulary.CARDINALS)
_ORDINAL = _either(vocabulary.ORDINALS)
_SMALL = _either([*vocabulary.ONES, "ten", "eleven", "twelve", "twenty"])
_FRACTION = rf"(?:an?|{_SMALL})[\s-]+(?:{_either(vocabulary.FRACTION_NAMES)}s?)"
_FOLD = _either(vocabulary.FOLD) + r"[\s-]?fold"
_EDGE = r"(?<![a-z])"
_WORDS = re.compile(
    rf"{_EDGE}(?:(?P<fold>{_FOLD})|(?P<fraction>{_FRACTION})"
    rf"|(?P<word>{_CARDINAL}(?:(?:[\s-]+(?:and[\s-]+)?){_CARDINAL})*(?:-(?:first|second|{_ORDINAL}))?)"
    rf"|(?P<ordinal>{_ORDINAL})|(?P<ratio>{_either(vocabulary.MULTIPLES)}))(?![a-z])"
)
_PHRASE = re.compile("|".join(f"(?:{phrase})" for phrase in vocabulary.PHRASES))
_EXEMPT = re.compile("|".join(f"(?:{each.expression})" for each in vocabulary.EXEMPTIONS))
_CLAIMING = re.compile(rf"{_EDGE}(?:{_either(vocabulary.CLAIMING)}|{vocabulary.COMPARATIVES})(?![a-z])")

_LETTERS = re.compile("[a-z]+").findall
_COUNTING = frozenset(
    {*vocabulary.CARDINALS, *vocabulary.ORDINALS, *vocabulary.MULTIPLES, *vocabulary.FRACTION_NAMES}
    | {f"{word}fold" for word in vocabulary.FOLD}
    | {"first", "second", "couple", "pair", "scores", "quarter", "quarters", "keycap", "fold"}
)
_CLAIM_HINTS = frozenset({*vocabulary.CLAIMING, "than"})

_ROMAN = re.compile(r"(?<![A-Za-z0-9_])[IVX]{2,}(?![A-Za-z0-9_])")
_ROMAN_MAYBE = re.compile(
    r"(?<![A-Za-z0-9_])(?:"
    r"(?=[IVXLCDM]{2})M{0,3}(?:CM|CD|D?C{0,3})(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3})"
    r"|(?=[ivx]{2})x{0,3}(?:ix|iv|v?i{0,3})"
    r"|(?<=[Pp]hase )[IVX]|(?<=[Tt]ype )[IVX]|(?<=[Tt]able )[IVX]|(?<=[Pp]art )[IVX]|(?<=[Ff]igure )[IVX]"
    r"|(?<=[Cc]hapter )[IVX]|(?<=[Ss]ection )[IVX]|(?<=[Aa]ppendix )[IVX]|(?<=[Cc]lass )[IVX]"
    r")(?![A-Za-z0-9_])"
)
_HAS_DIGIT = re.compile("[0-9]").search
_HAS_ROMAN = re.compile(
    "[IVXLCDM]{2}|[ivx]{2}|(?:hase|ype|able|art|igure|hapter|ection|ppendix|lass) [IVX]"
).search


def find(text: str, *, claims: bool = True) -> list[Hit]:
    """Every numeral and number word of a text, in order; without claims, no words that merely claim."""
    folded, places = characters.fold(text)
    spans = list(_digits(folded))
    lowered = characters.lower(folded)
    letters = _LETTERS(lowered)
    if not _COUNTING.isdisjoint(letters):
        spans.extend(_words(lowered))
    if claims and not _CLAIM_HINTS.isdisjoint(letters):
        spans.extend((m.start(), m.end(), "claim", "") for m in _CLAIMING.finditer(lowered))
    if _HAS_ROMAN(folded):
        spans.extend(_roman(folded))
    return [
        Hit(places[start], _end(places, end), text[places[start] : _end(places, end)], kind, relation)
        for start, end, kind, relation in sorted(spans)
    ]


Span = tuple[int, int, str, str]


def _end(places: Sequence[int], end: int) -> int:
    """Where the last folded character of a span ends in the given text."""
    return places[end - 1] + 1


def _digits(folded: str) -> Iterator[Span]:
    if _HAS_DIGIT(folded):
        for match in _DIGITS.finditer(folded):
            yield match.start(), match.end(), "digit", ""


def _words(lowered: str) -> Iterator[Span]:
    """Number words outside the phrases that merely look like them."""
    exempt = [match.span() for match in _EXEMPT.finditer(lowered)]
    taken = -1
    phrases = [(m.start(), m.end(), "ordinal", "") for m in _PHRASE.finditer(lowered)]
    words = [_word(match) for match in _WORDS.finditer(lowered)]
    for span in sorted([*phrases, *words], key=lambda each: (each[0], -each[1])):
        start, end = span[:2]
        if start >= taken and not any(low <= start and end <= high for low, high in exempt):
            taken = end
            yield span


def _word(match: re.Match[str]) -> Span:
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


def _roman(folded: str) -> Iterator[Span]:
    sure = [match.span() for match in _ROMAN.finditer(folded)]
    for start, end in sure:
        yield start, end, "roman", ""
    for match in _ROMAN_MAYBE.finditer(folded):
        if match[0] and match.span() not in sure:
            yield match.start(), match.end(), "roman-maybe", ""
