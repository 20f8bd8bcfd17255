"""What is kept of a page once it is read: refusals, counts, and what other pages need to settle."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sized
from dataclasses import dataclass, field

from generator.audit.computed import Sources
from generator.audit.coverage import Used
from generator.audit.echo import Bound
from generator.audit.evidence import Evidence
from generator.audit.fault import LONGEST, Crowded
from generator.audit.mark import Proof
from generator.audit.repetition import Repetition
from generator.audit.verbatim import Lines
from generator.gate.numerals import Judgement, Names, judge
from generator.report.refusal import Refusal

CACHE_SIZE = 50_000
"""Texts whose judgement is remembered, and marks whose proof is; sites repeat theirs on other pages."""


@dataclass
class Context:
    """What every page is judged by."""

    evidence: Evidence
    sources: Sources
    names: Names
    ids: Collection[str]
    repetition: Repetition = field(default_factory=Repetition)
    proved: dict[tuple[str, str], Proof] = field(default_factory=dict)
    _judged: dict[str, Judgement] = field(default_factory=dict)

    def judge(self, text: str) -> Judgement:
        """Numerals and number words of a text; words that merely claim are the source side's business."""
        found = self._judged.get(text)
        if found is None:
            if len(text) > LONGEST:
                raise Crowded.text()
            found = judge(text, self.names, self.ids, claims=False)
            if len(self._judged) < CACHE_SIZE and len(text) < 300:
                self._judged[text] = found
        return found


@dataclass(frozen=True)
class Link:
    """A link of a mark, to be followed once all pages are read; it must land on one of the lines."""

    offset: int
    target: str
    fragment: str
    lands: frozenset[tuple[str, int]]
    shown: str


@dataclass(frozen=True)
class Deferred:
    """A computed number whose rule counts over the whole site; settled once all pages are read."""

    offset: int
    rule: str
    value: str
    shown: str


@dataclass(frozen=True)
class Echo:
    """A plain string with numerals, and the pages that it may repeat."""

    offset: int
    text: str
    spans: tuple[tuple[int, int, str], ...]
    pages: tuple[str, ...]


@dataclass
class Reading:
    """One page: path from the site's root; offsets become places once something is refused there."""

    path: str
    refusals: list[Refusal] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    exempt: Used = field(default_factory=Counter)
    bounds: list[Bound] = field(default_factory=list)
    lines: list[Lines] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)
    echoes: list[Echo] = field(default_factory=list)
    deferred: list[Deferred] = field(default_factory=list)
    published: str = ""
    """Digest of the numbers that can be cited by an address on this page."""

    def size(self) -> int:
        """How much is kept; it only ever grows."""
        kept: tuple[Sized, ...] = (
            self.refusals,
            self.bounds,
            self.lines,
            self.links,
            self.echoes,
            self.deferred,
        )
        return sum(map(len, kept)) + self.counts.total() + self.exempt.total()
