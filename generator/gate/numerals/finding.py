"""Finds what counts in a text: digits of every script, number words, Roman numerals, words that claim."""

from __future__ import annotations

import re
from dataclasses import dataclass

from generator.gate.numerals import characters, digits, roman, words

WARNED = frozenset({"claim", "roman-maybe"})
"""Kinds that are listed and counted; every other kind is refused."""

_WORDS = re.compile("[a-z]+").findall


@dataclass(frozen=True, slots=True)
class Hit:
    """A numeral or number word at [start, end) of the text; relation is the constant a claim must name.

    An identifier is a numeral that ends a word of letters: code may hold it, prose may not.
    """

    start: int
    end: int
    text: str
    kind: str
    relation: str = ""

    @property
    def refused(self) -> bool:
        return self.kind not in WARNED


def find(text: str, *, claims: bool = True) -> list[Hit]:
    """Every numeral and number word of a text, in order; without claims, no words that merely claim."""
    folded, places = characters.fold(text)
    lowered = characters.lower(folded)
    letters = set(_WORDS(lowered))
    found = [(start, end, "digit", "") for start, end in digits.spans(folded)]
    if present := words.COUNTING & letters:
        found.extend(words.spans(lowered, present))
    if claims and not words.CLAIMING.isdisjoint(letters):
        found.extend(words.claiming(lowered))
    found.extend((start, end, kind, "") for start, end, kind in roman.spans(folded, letters))
    hits = []
    for start, end, kind, relation in sorted(found):
        first, last = places[start], places[end - 1] + 1
        if kind == "digit" and digits.is_in_a_name(folded, start, text[first:last]):
            kind = "identifier"
        hits.append(Hit(first, last, text[first:last], kind, relation))
    return hits
