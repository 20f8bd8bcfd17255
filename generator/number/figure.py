"""What a figure draws: the numbers of a table, and of the words above it the bars that they are held against.

A figure is a table that is drawn. Its numbers are printed by ordinary expressions, so whatever holds for
a number of the text holds for them, and nothing is drawn that the table does not say.

forest      each cell that prints an interval, or stands in a column where one does, on one scale
histogram   the numbers of the last column, as lengths from zero
curve       the further columns over the first, which may print numbers or name equal steps
frontier    the last column over the one before it, and the border that no point is above and left of
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction

from generator.number import unit
from generator.number.number import Bracketed, Derived, Made, Number, Shown
from generator.number.piece import BarStart, Cell, End, Layout, Piece, Printed, Prose

KINDS = ("forest", "histogram", "curve", "frontier")
PLOTTED = ("curve", "frontier")
"""Kinds that have one drawing; the others draw in the cells of the table."""

BAR_LIMIT = 3
SERIES_LIMIT = 4

_HELD = "\ue000"
"""Stands for a number while the lines of the table are read."""

_SEPARATOR = re.compile(r"\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*")
_BORDER = re.compile(r"(?<!\\)\|")


class Undrawable(ValueError):
    """A table that cannot be drawn, with what to do; code says what kind of refusal that is."""

    def __init__(self, message: str, code: str = "bad-template") -> None:
        self.code = code
        super().__init__(message)


def layout(kind: str, pieces: Sequence[Piece], start: int) -> Layout:
    """The table and the bars of a figure whose contents begin at an index; raises Undrawable."""
    text, numbers = _held(pieces, start)
    lines, at = _table(text)
    inside = iter(numbers[text.count(_HELD, 0, at) :])
    rows = [tuple(_cell(each, inside) for each in _divided(line)) for line in lines]
    if len(rows) < 3 or not _SEPARATOR.fullmatch(lines[1]) or len({len(row) for row in rows}) > 1:
        raise Undrawable("A figure holds one table, with a head, a line of hyphens, and equal rows.")
    if any(cell.number for cell in rows[0]):
        raise Undrawable("The head of a table that is drawn names its columns, without numbers.")
    head, body = tuple(cell.text for cell in rows[0]), tuple(rows[2:])
    columns = _columns(kind, body)
    _check_columns(kind, body, columns)
    bars = tuple(_bars(pieces, start))
    _check_units(kind, [*(row[at].number for row in body for at in columns), *bars])
    found = Layout(head, body, columns, bars, _split(pieces, start, at))
    return replace(found, labels=labels(kind, found))


def _held(pieces: Sequence[Piece], start: int) -> tuple[str, list[tuple[int, Number]]]:
    """The text of the figure with a character for each number, and the numbers with their places."""
    parts, numbers = [], []
    for index, piece in enumerate(pieces[start:], start):
        if isinstance(piece, Prose):
            parts.append(piece.text)
        elif isinstance(piece, Printed):
            parts.append(_HELD)
            numbers.append((index, piece.number))
    return "".join(parts), numbers


def _table(text: str) -> tuple[list[str], int]:
    """The lines of the one table, and the offset at which it begins."""
    lines = text.splitlines(keepends=True)
    rows = [index for index, line in enumerate(lines) if line.startswith("|")]
    if not rows or rows != list(range(rows[0], rows[0] + len(rows))):
        raise Undrawable("A figure holds one table, whose lines begin with a bar.")
    first, last = rows[0], rows[-1]
    if "".join(lines[last + 1 :]).strip() or (first and lines[first - 1].strip()):
        raise Undrawable("In a figure the words come first, then a blank line, then the table, and no more.")
    return [line.strip() for line in lines[first : last + 1]], len("".join(lines[:first]))


def _divided(line: str) -> list[str]:
    return [each.strip() for each in _BORDER.split(line.removeprefix("|").removesuffix("|"))]


def _cell(text: str, numbers: Iterator[tuple[int, Number]]) -> Cell:
    """A cell and its number, with the place of it among the pieces."""
    found = [next(numbers) for _ in range(text.count(_HELD))]
    words = text.replace(_HELD, "").strip()
    if len(found) > 1:
        raise Undrawable("A cell of a table that is drawn holds one number at most.")
    return Cell(words, found[0][1], found[0][0]) if found else Cell(words)


def _columns(kind: str, rows: Sequence[Sequence[Cell]]) -> tuple[int, ...]:
    """The columns that are drawn."""
    width = len(rows[0])
    if kind == "forest":
        return tuple(at for at in range(width) if any(isinstance(row[at].number, Bracketed) for row in rows))
    if kind == "histogram":
        return (width - 1,)
    return tuple(range(1, width)) if kind == "curve" else tuple(range(max(width - 2, 0), width))


def _check_columns(kind: str, rows: Sequence[Sequence[Cell]], columns: tuple[int, ...]) -> None:
    """Every column that is drawn has numbers to draw; raises Undrawable."""
    cells = [row[at] for row in rows for at in columns]
    if not columns or not any(cell.number for cell in cells):
        raise Undrawable("Nothing in the table can be drawn: a forest wants an interval, as ci(2) prints it.")
    for cell in cells:
        if isinstance(cell.number, Made) or (isinstance(cell.number, Shown) and cell.number.form == "text"):
            raise Undrawable("A drawn column holds numbers of payloads, no texts and no counts of pages.")
        if kind in PLOTTED and cell.number is None:
            raise Undrawable(f"A {kind} wants a number in each cell of its drawn columns.")
    if kind == "curve" and not 1 <= len(columns) <= SERIES_LIMIT:
        raise Undrawable(f"A curve has at most {SERIES_LIMIT} lines, a column each, after the first column.")
    if kind == "frontier" and len(rows[0]) != 3:
        raise Undrawable("A frontier has three columns: a name, what it costs, what it gains.")
    if kind == "curve" and len({isinstance(row[0].number, (Shown, Derived)) for row in rows}) > 1:
        raise Undrawable("The first column of a curve holds numbers in all its rows, or in none.")


def _check_units(kind: str, numbers: Sequence[Number | None]) -> None:
    """What shares a scale has one unit; an expression keeps none, and is checked in the finished page."""
    units = {leaf.unit for each in numbers if isinstance(each, (Shown, Bracketed)) for leaf in each.leaves}
    if kind != "frontier" and len(units) > 1:
        both = " and ".join(sorted(unit.text(each) for each in units))
        raise Undrawable(f"What is drawn on one scale has one unit, and here are {both}.", "unit-mismatch")


def _bars(pieces: Sequence[Piece], start: int) -> Iterator[Number]:
    """The numbers that stand inside bars."""
    inside = False
    found: list[Number] = []
    for piece in pieces[start:]:
        if isinstance(piece, BarStart) or (isinstance(piece, End) and isinstance(piece.of, BarStart)):
            inside = isinstance(piece, BarStart)
        elif inside and isinstance(piece, Printed):
            found.append(piece.number)
    if len(found) > BAR_LIMIT:
        raise Undrawable(f"A figure has at most {BAR_LIMIT} bars.")
    if not all(
        isinstance(each, Derived) or (isinstance(each, Shown) and each.form != "text") for each in found
    ):
        raise Undrawable("A bar is one number of a payload, without an interval.")
    yield from found


def _split(pieces: Sequence[Piece], start: int, at: int) -> tuple[int, int]:
    """The piece, and the offset in its text, at which the table begins."""
    for index, piece in enumerate(pieces[start:], start):
        size = len(piece.text) if isinstance(piece, Prose) else int(isinstance(piece, Printed))
        if at < size:
            return index, at
        at -= size
    raise Undrawable("A figure holds one table.")


def value(number: Number) -> Fraction:
    """The value at which a number is drawn."""
    if isinstance(number, Bracketed):
        return number.value.leaf.value
    if isinstance(number, Shown):
        return number.leaf.value
    assert isinstance(number, Derived)
    return number.value


def bounds(number: Number) -> tuple[Fraction, Fraction] | None:
    """The interval that is drawn around a number, None where it has none."""
    return (number.low.leaf.value, number.high.leaf.value) if isinstance(number, Bracketed) else None


def ends(number: Number) -> tuple[Number, Number]:
    """The lowest and the highest number of what is drawn of a number."""
    return (number.low, number.high) if isinstance(number, Bracketed) else (number, number)


def labels(kind: str, found: Layout) -> tuple[tuple[str, Number], ...]:
    """The numbers at the ends of the axes of a plot, with the axis: the lowest and the highest drawn."""
    if kind not in PLOTTED:
        return ()
    across = [row[-2 if kind == "frontier" else 0].number for row in found.rows]
    up = [row[at].number for row in found.rows for at in found.columns[-1 if kind == "frontier" else 0 :]]
    axes = {"x": [each for each in across if each], "y": [*(each for each in up if each), *found.bars]}
    return tuple(
        (axis, pick((end for each in numbers for end in ends(each)), key=value))
        for axis, numbers in axes.items()
        if numbers
        for pick in (min, max)
    )
