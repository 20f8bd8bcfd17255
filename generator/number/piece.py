"""What a source is made of once it is evaluated: prose, numbers, and where claims and statements stand."""

from __future__ import annotations

from dataclasses import dataclass

from generator.number.number import Number, Prefix
from generator.record.excerpt import Excerpt

LISTINGS = ("findings", "kills", "errata", "payloads")


@dataclass(frozen=True)
class Prose:
    """Text as the author wrote it."""

    text: str


@dataclass(frozen=True)
class Printed:
    """A number and the place of its expression."""

    number: Number
    line: int
    column: int


@dataclass(frozen=True)
class ClaimStart:
    """Where words begin that are bound to a true condition, and the place of their tag."""

    prefix: Prefix
    line: int = 1
    column: int = 1


@dataclass(frozen=True)
class StatementStart:
    """Where a named statement begins; a block where it holds whole paragraphs."""

    name: str
    block: bool = False


@dataclass(frozen=True)
class End:
    """Where a claim or a statement ends."""

    of: ClaimStart | StatementStart


@dataclass(frozen=True)
class Verbatim:
    """Lines of a file of the record as they are."""

    excerpt: Excerpt


@dataclass(frozen=True)
class Listing:
    """A list that the generator makes: of findings, kill criteria, errata or payloads."""

    what: str


Piece = Prose | Printed | ClaimStart | StatementStart | End | Verbatim | Listing
