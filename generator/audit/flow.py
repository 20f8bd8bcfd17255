"""A run of text between block borders, joined over inline tags, and where each piece of it stands."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, field
from html import unescape

NUMBER = "\ue000"
"""Stands in a run for a bound number, whose own digits are proved elsewhere."""

TEXT = "\ue001"
"""Stands in a run for a text quoted from a payload."""

_REFERENCE = re.compile(r"&(?:#[0-9]+|#[xX][0-9a-fA-F]+|[a-zA-Z][a-zA-Z0-9]*);?")


@dataclass(frozen=True, slots=True)
class Piece:
    """Decoded text, the offset and length of its source, and what it is."""

    text: str
    start: int
    source: str
    code: bool = False
    shown: str = ""
    percent: bool = False

    def place(self, index: int) -> int:
        """The offset in the page of a character of the piece."""
        if self.text == self.source or self.shown:
            return self.start + (0 if self.shown else index)
        decoded = cursor = 0
        for match in _REFERENCE.finditer(self.source):
            plain = match.start() - cursor
            if index < decoded + plain:
                break
            decoded, cursor = decoded + plain, match.end()
            size = len(unescape(match[0]))
            if index < decoded + size:
                return self.start + match.start()
            decoded += size
        return self.start + cursor + max(0, index - decoded)


@dataclass(frozen=True, slots=True)
class Stretch:
    """A claim inside a run: what it covers, and the constants that its comparison names."""

    start: int
    end: int
    constants: frozenset[str]


@dataclass(slots=True)
class Flow:
    """The run that is being collected."""

    pieces: list[Piece] = field(default_factory=list)
    claims: list[Stretch] = field(default_factory=list)
    targets: list[str] = field(default_factory=list)
    size: int = 0
    starts: list[int] = field(default_factory=list)

    def add(self, piece: Piece) -> None:
        self.pieces.append(piece)
        self.starts.append(self.size)
        self.size += len(piece.text)

    @property
    def text(self) -> str:
        return "".join(piece.text for piece in self.pieces)

    def at(self, index: int) -> tuple[Piece, int]:
        """The piece that holds a character of the run, and the character's offset in the page."""
        found = bisect_right(self.starts, index) - 1
        piece = self.pieces[found]
        return piece, piece.place(index - self.starts[found]) if index < self.size else piece.start

    def shown(self) -> tuple[str, list[tuple[int, int]]]:
        """The run as a reader sees it, and the stretches that are bound: numbers, texts and claims."""
        parts: list[str] = []
        spans: list[tuple[int, int]] = []
        moved: list[int] = []
        size = 0
        for piece in self.pieces:
            text = piece.shown or piece.text
            moved.extend([size] * len(piece.text) if piece.shown else range(size, size + len(text)))
            if piece.shown:
                spans.append((size, size + len(text)))
            parts.append(text)
            size += len(text)
        moved.append(size)
        spans.extend((moved[claim.start], moved[min(claim.end, len(moved) - 1)]) for claim in self.claims)
        return "".join(parts), spans


@dataclass(frozen=True, slots=True)
class Misuse:
    """A bound number whose neighbours change what it says."""

    index: int
    code: str
    message: str


_RULES = (
    (
        re.compile(rf"{NUMBER}[.,'’]?{NUMBER}"),
        "display-mismatch",
        "Two numbers run together and read as another one. Put words between them.",
    ),
    (
        re.compile(rf"(?<![\w)])[.,]{NUMBER}|{NUMBER}(?=[A-Za-zµμ°×^]|[ \u00a0\u202f][kKMGB]\b)"),
        "display-mismatch",
        "What touches the number changes it. Use a form that prints it, or leave a space.",
    ),
    (
        re.compile(
            rf"(?:(?<![\w\ue000\ue001)\]’'])[-−–‐‑﹣－+±∓]|(?:^|[(=<>≤≥:,])\s*[-−]\s|\b(?i:minus|negative|plus)\s+){NUMBER}"
        ),
        "display-mismatch",
        "A sign typed before the number changes it. Use the signed form.",
    ),
)
_PERCENT = re.compile(rf"{NUMBER}\s?(?:%|‰|percent\b|per\s+cent\b|percentage\s+points?\b|pp\b)")


def misuses(flow: Flow, text: str) -> list[Misuse]:
    """Where typed characters turn a bound number into another."""
    if NUMBER not in text:
        return []
    found = [
        Misuse(match.start() + match[0].index(NUMBER), code, message)
        for rule, code, message in _RULES
        for match in rule.finditer(text)
    ]
    for match in _PERCENT.finditer(text):
        if not flow.at(match.start())[0].percent:
            message = "The number is no percentage. Use the percent form, which prints the sign."
            found.append(Misuse(match.start(), "unit-mismatch", message))
    return found
