"""A drawing of its own above its table: curves with bands, and a frontier of points."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import pairwise

from generator.number.figure import bounds, value
from generator.number.number import Number
from generator.number.piece import Cell, Layout
from generator.render.figure.scale import Scale
from generator.render.figure.shape import bar_class, path

_ORDER = ("", " second", " third", " fourth")
SERIES = tuple(f"line{order}" for order in _ORDER)


def scales(kind: str, layout: Layout) -> tuple[Scale, Scale]:
    """The scale across and the scale up."""
    if kind == "curve":
        across = [Fraction(place) for place in _across(layout)]
        numbers = [row[at].number for row in layout.rows for at in layout.columns]
    else:
        across = list(_extent([row[-2].number for row in layout.rows]))
        numbers = [row[-1].number for row in layout.rows]
    return Scale.over(across), Scale.over(_extent([*numbers, *layout.bars]))


def _extent(numbers: Sequence[Number | None]) -> Iterator[Fraction]:
    for number in numbers:
        if number:
            yield value(number)
            yield from bounds(number) or ()


def _across(layout: Layout) -> list[Fraction]:
    """Where each row of a curve stands: at the number of its first cell, or a step after the row before."""
    return [value(row[0].number) if row[0].number else Fraction(step) for step, row in enumerate(layout.rows)]


def shapes(kind: str, layout: Layout) -> str:
    """Every path of a plot: bars, then bands or whiskers, then lines, then points."""
    across, up = scales(kind, layout)
    bars = [path(bar_class(order), f"M0 {up.up(value(bar))}H1000") for order, bar in enumerate(layout.bars)]
    drawn = _curves(layout, up) if kind == "curve" else _frontier(layout, across, up)
    return "".join([*bars, *drawn])


def places(layout: Layout) -> list[str]:
    """Where across each row of a curve stands."""
    rows = _across(layout)
    scale = Scale.over(rows)
    return [scale.at(row) for row in rows]


def _curves(layout: Layout, up: Scale) -> Iterator[str]:
    across = places(layout)
    for order, column in enumerate(layout.columns):
        numbers = [row[column].number for row in layout.rows]
        yield from _band(across, numbers, up, _ORDER[order])
        heights = [up.up(value(number)) for number in numbers if number]
        yield path(SERIES[order], _joined(across, heights))
        for place, height in zip(across, heights, strict=True):
            yield path(f"value{_ORDER[order]}", f"M{place} {height}h0")


def _band(places: Sequence[str], numbers: Sequence[Number | None], up: Scale, order: str) -> Iterator[str]:
    """The surface between the bounds of a line, where each of its numbers has them."""
    intervals = [bounds(number) for number in numbers if number]
    known = [each for each in intervals if each]
    if len(known) == len(places) > 1:
        there = _joined(places, [up.up(low) for low, _ in known])
        back = _joined(places[::-1], [up.up(high) for _, high in known[::-1]])
        yield path(f"band{order}", f"{there}L{back[1:]}Z")
    else:
        for place, interval in zip(places, intervals, strict=True):
            if interval:
                yield path(f"interval{order}", f"M{place} {up.up(interval[0])}V{up.up(interval[1])}")


def _joined(places: Sequence[str], heights: Sequence[str]) -> str:
    return "M" + "L".join(f"{place} {height}" for place, height in zip(places, heights, strict=True))


def _frontier(layout: Layout, across: Scale, up: Scale) -> Iterator[str]:
    """The border as steps, and each point with its intervals."""
    yield path("line", _steps(layout, across, up))
    for row in layout.rows:
        cost, gain = row[-2].number, row[-1].number
        if cost and gain:
            place, height = across.at(value(cost)), up.up(value(gain))
            if wide := bounds(cost):
                yield path("interval", f"M{across.at(wide[0])} {height}H{across.at(wide[1])}")
            if tall := bounds(gain):
                yield path("interval", f"M{place} {up.up(tall[0])}V{up.up(tall[1])}")
            yield path("value", f"M{place} {height}h0")


def best(rows: Sequence[Sequence[Cell]]) -> list[tuple[Fraction, Fraction]]:
    """Cost and gain of the points that gain more than every cheaper one, the cheapest first."""
    numbers = [(row[-2].number, row[-1].number) for row in rows]
    points = [(value(cost), value(gain)) for cost, gain in numbers if cost and gain]
    border: list[tuple[Fraction, Fraction]] = []
    for cost, gain in sorted(points, key=lambda each: (each[0], -each[1])):
        if not border or gain > border[-1][1]:
            border.append((cost, gain))
    return border


def _steps(layout: Layout, across: Scale, up: Scale) -> str:
    border = best(layout.rows)
    cost, gain = border[0]
    parts = [f"M{across.at(cost)} {up.up(gain)}"]
    parts += [f"H{across.at(there)}V{up.up(height)}" for _, (there, height) in pairwise(border)]
    return "".join(parts) + "H1000"
