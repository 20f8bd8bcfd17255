"""What a source is made of once it is evaluated: prose, numbers, and where claims and statements stand."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from generator.number.number import Number, Prefix
from generator.record.excerpt import Excerpt

LISTINGS = ("findings", "kills", "errata", "payloads", "verdicts", "unrun", "comparison")

OF_RECORD = ("findings", "payloads", "verdicts", "unrun")
"""Lists that can be of one record alone."""


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
class Cell:
    """A cell of a table that is drawn: its words, its number, and where among the pieces that stands."""

    text: str
    number: Number | None = None
    at: int = -1


@dataclass(frozen=True)
class Layout:
    """What a figure draws: head, rows, drawn columns, bars, and where in which piece the table begins."""

    head: tuple[str, ...] = ()
    rows: tuple[tuple[Cell, ...], ...] = ()
    columns: tuple[int, ...] = ()
    bars: tuple[Number, ...] = ()
    table: tuple[int, int] = (-1, 0)
    labels: tuple[tuple[str, Number], ...] = ()

    @property
    def cells(self) -> Iterator[Cell]:
        """Every cell below the head."""
        return (cell for row in self.rows for cell in row)


@dataclass(frozen=True)
class FigureStart:
    """Where a figure begins, of which kind, and what it draws."""

    kind: str
    layout: Layout = Layout()


@dataclass(frozen=True)
class BarStart:
    """Where words begin that name a number which a figure draws as a line through all of it."""

    order: int = 0


@dataclass(frozen=True)
class End:
    """Where a claim, a statement, a figure or the words of a bar end."""

    of: ClaimStart | StatementStart | FigureStart | BarStart


@dataclass(frozen=True)
class Verbatim:
    """Lines of a file of the record as they are."""

    excerpt: Excerpt


@dataclass(frozen=True)
class Listing:
    """A list that the generator makes, of all that there is or of one record."""

    what: str
    record: str = ""


Piece = Prose | Printed | ClaimStart | StatementStart | FigureStart | BarStart | End | Verbatim | Listing
