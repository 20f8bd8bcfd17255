"""Judges one text by the whole rule set: what is refused, what warns, what passes and by which exemption."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from generator.gate.numerals import standards
from generator.gate.numerals.finding import Hit, find
from generator.gate.numerals.names import ID, Names

NOTHING: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Judgement:
    """Hits to refuse, hits to warn of, ids that do not resolve, the names and ids that passed."""

    refused: tuple[Hit, ...] = ()
    warned: tuple[Hit, ...] = ()
    unknown: tuple[Hit, ...] = ()
    names: tuple[str, ...] = ()
    ids: tuple[tuple[int, int, str], ...] = ()


_CLEAN = Judgement()


def judge(text: str, names: Names, ids: Collection[str] = NOTHING, *, claims: bool = True) -> Judgement:
    """A hit passes only where a name, a standard or a known id covers the whole of it."""
    hits = find(text, claims=claims)
    if not hits:
        return _CLEAN
    named = list(names.spans(text))
    marked = [(match.start(), match.end(), match[0]) for match in ID.finditer(text)]
    known = [span for span in marked if span[2] in ids]
    unknown = [Hit(*span, "id") for span in marked if span[2] not in ids and not _covered(span, named)]
    covers = [*named, *known, *_spans(unknown)]
    left = [
        hit
        for hit in hits
        if not (_covered((hit.start, hit.end), covers) or standards.covers(text, hit.start, hit.end))
    ]
    return Judgement(
        tuple(hit for hit in left if hit.refused),
        tuple(hit for hit in left if not hit.refused),
        tuple(unknown),
        tuple(span[2] for span in named),
        tuple(known),
    )


def _spans(hits: list[Hit]) -> list[tuple[int, int, str]]:
    return [(hit.start, hit.end, hit.text) for hit in hits]


def _covered(span: tuple[int, int] | tuple[int, int, str], covers: list[tuple[int, int, str]]) -> bool:
    return any(low <= span[0] and span[1] <= high for low, high, _ in covers)
