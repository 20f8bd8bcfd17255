"""Drawings in the cells of a table: intervals of a forest, lengths of a histogram, on one scale each."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from generator.number.figure import bounds, value
from generator.number.number import Number
from generator.number.piece import Cell, Layout
from generator.render.figure.scale import Scale
from generator.render.figure.shape import bar_class, drawing, path


def cells(kind: str, layout: Layout) -> dict[int, str]:
    """The drawing beside each number that is drawn, by the place of the number among the pieces."""
    drawn = [cell for row in layout.rows for cell in (row[at] for at in layout.columns) if cell.number]
    scale = Scale.over(_extent(kind, drawn, layout))
    shapes = _interval if kind == "forest" else _length
    lines = [
        path(bar_class(order), f"M{scale.at(value(bar))} 0V100") for order, bar in enumerate(layout.bars)
    ]
    return {cell.at: drawing("".join([*lines, *shapes(scale, cell.number)])) for cell in drawn if cell.number}


def _extent(kind: str, drawn: list[Cell], layout: Layout) -> Iterator[Fraction]:
    """Every value that has to fit on the scale; lengths begin at zero."""
    if kind == "histogram":
        yield Fraction(0)
    for number in (*(cell.number for cell in drawn), *layout.bars):
        if number:
            yield value(number)
            yield from bounds(number) or ()


def _interval(scale: Scale, number: Number) -> Iterator[str]:
    """An interval as a line and its value as a dot."""
    yield from _whisker(scale, number)
    yield path("value", f"M{scale.at(value(number))} 50h0")


def _length(scale: Scale, number: Number) -> Iterator[str]:
    """A value as a length from zero, with its interval where it has one."""
    zero, end = scale.at(Fraction(0)), scale.at(value(number))
    yield path("length", f"M{zero} 20H{end}V80H{zero}Z")
    yield from _whisker(scale, number)


def _whisker(scale: Scale, number: Number) -> Iterator[str]:
    if interval := bounds(number):
        yield path("interval", f"M{scale.at(interval[0])} 50H{scale.at(interval[1])}")
