"""What can change between two states of a record: a number, a claim or a judgement where it stands."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

Kind = Literal["number", "claim", "judgement"]

PLAIN_KEY = tuple[str, str, str, str]
"""Kind, page, part of the page, and what it shows; with its occurrence, the identity of an entry."""


@dataclass(frozen=True)
class Place:
    """Where a value stands in a file; the line where it is known."""

    path: str
    pointer: str
    sha256: str
    line: int | None = None

    def __str__(self) -> str:
        return f"{self.path}{f':{self.line}' if self.line else ''}#{self.pointer}"


@dataclass(frozen=True)
class Entry:
    """One number, claim or judgement of a page.

    part is the statement around it, or title, regime or another named part, empty for the rest of the page;
    subject is what it shows: path and pointer of a leaf, an expression without digests, a rule, a condition;
    value is a lexeme, an exact fraction, a text, or for a claim whether it is true.
    """

    kind: Kind
    page: str
    part: str
    subject: str
    shown: str
    value: str
    form: str = ""
    places: tuple[Place, ...] = ()

    @property
    def key(self) -> PLAIN_KEY:
        return self.kind, self.page, self.part, self.subject

    @property
    def where(self) -> str:
        """The page and the part of it."""
        return f"{self.page}#{self.part}" if self.part else self.page

    def same_value(self, other: Entry) -> bool:
        """Whether two values are equal: exactly, whatever their lexemes."""
        return self.value == other.value or (self.exact is not None and self.exact == other.exact)

    @property
    def exact(self) -> Fraction | None:
        """The value as a fraction, None where it is a text."""
        if self.kind != "number" or self.form in ("text", "computed"):
            return None
        return Fraction(self.value)


@dataclass(frozen=True)
class Side:
    """One of the two states: what it was called, and everything in it, in order."""

    name: str
    entries: tuple[Entry, ...]
