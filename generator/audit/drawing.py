"""Draws each figure again from the payloads, by the audit's own geometry, and compares path by path.

A scale has a thousand parts: the lowest value that is drawn stands at 40, the highest at 960, the middle
is taken where there is only one. Places have one decimal, half to even. A curve or a frontier grows
upwards, so that heights count from the top.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import zip_longest

from generator.audit.evidence import Evidence
from generator.audit.fault import Fault, Placed
from generator.audit.figure import Box, Drawing, Drawn, Figure, astray, figures, misdrawn
from generator.audit.rounding import shown

_BARS = ("bar", "bar second", "bar third")
_LINES = ("line", "line second", "line third", "line fourth")
_FRAME = {"class": "drawing", "preserveaspectratio": "none"}
_BESIDE = {**_FRAME, "viewbox": "0 0 1000 100", "aria-hidden": "true", "focusable": "false"}
_ALONE = {**_FRAME, "viewbox": "0 0 1000 1000", "role": "img"}

_VEILED = re.compile(r"class(?<=\bclass)\s*+=\s*+(?:\"[^\"<>&]*+&|'[^'<>&]*+&)")

Paths = list[tuple[str, str]]


def judge(html: str, evidence: Evidence) -> Iterator[Placed]:
    """What is drawn elsewhere than its numbers say; nothing on a page without drawings."""
    for veiled in _VEILED.finditer(html.replace("\u0130", "I").lower()):  # the one letter that grows
        if html.rfind("<", 0, veiled.start()) > html.rfind(">", 0, veiled.start()):
            message = "A class is written as it is read; a character reference hides what the element is."
            yield misdrawn(veiled.start(), message, "bad-page")
    if "data-figure" not in html and "drawing" not in html:
        return
    for offset in astray(html):
        yield misdrawn(offset, "The drawing belongs to no figure, so no table says what it shows.")
    try:
        for figure in figures(html):
            yield from _judge(figure, evidence)
    except Placed as placed:
        yield placed


def _judge(figure: Figure, evidence: Evidence) -> Iterator[Placed]:
    try:
        table = Table(
            figure,
            [[cell.number(evidence) for cell in row] for row in figure.body],
            [_single(bar, evidence) for bar in figure.bars],
        )
        yield from _KINDS[figure.kind](table, evidence)
    except (KeyError, IndexError):
        yield misdrawn(figure.offset, "The figure is of no kind and of no form that can be drawn again.")
    except Placed as placed:
        yield placed
    except Fault as fault:
        yield misdrawn(figure.offset, fault.message, fault.code)


@dataclass(frozen=True)
class Table:
    """A figure with the numbers of its rows, None for a cell without one, and of its bars."""

    figure: Figure
    rows: list[list[Drawn | None]]
    bars: list[Drawn]

    def column(self, at: int) -> list[Drawn]:
        """The numbers of a column, all of them; raises Fault where one is missing."""
        found = [row[at] for row in self.rows]
        if not found or any(each is None for each in found):
            raise Fault("place-mismatch", "A column that is plotted has a number in each row.")
        return [each for each in found if each]


def _single(bar: Box, evidence: Evidence) -> Drawn:
    found = bar.number(evidence)
    if found is None or found.bounds:
        raise misdrawn(bar.offset, "The words of a bar hold one number.")
    return found


def _scale(numbers: Iterable[Drawn], *further: Fraction) -> tuple[Fraction, Fraction]:
    """The lowest and the highest of what is drawn, in one unit."""
    values, units = list(further), set()
    for each in numbers:
        values += [each.value, *(each.bounds or ())]
        units.add(each.unit)
    if not values:
        raise Fault("place-mismatch", "The table of the figure has nothing that its kind draws.")
    if len(units) > 1:
        raise Fault("unit-mismatch", "What is drawn on one scale has one unit, and this has several.")
    return min(values), max(values)


def _at(value: Fraction, scale: tuple[Fraction, Fraction]) -> str:
    return shown(_part(value, scale), "places(1)")


def _up(value: Fraction, scale: tuple[Fraction, Fraction]) -> str:
    return shown(1000 - _part(value, scale), "places(1)")


def _part(value: Fraction, scale: tuple[Fraction, Fraction]) -> Fraction:
    low, high = scale
    return Fraction(500) if low == high else 40 + 920 * (value - low) / (high - low)


# Drawings in cells


def _cells(
    table: Table, columns: set[int], scale: tuple[Fraction, Fraction], length: bool
) -> Iterator[Placed]:
    """Every cell with a number in a drawn column has its drawing, and no other cell has one."""
    bars = [(_BARS[order], f"M{_at(bar.value, scale)} 0V100") for order, bar in enumerate(table.bars)]
    if table.figure.plots:
        yield misdrawn(table.figure.plots[0].offset, "This figure is drawn in the cells of its table alone.")
    for boxes, numbers in zip(table.figure.body, table.rows, strict=True):
        for column, (box, number) in enumerate(zip(boxes, numbers, strict=True)):
            wanted = number is not None and column in columns
            if len(box.drawings) != int(wanted):
                yield misdrawn(
                    box.offset, "A number of a drawn column has one drawing, and nothing else has."
                )
            elif number and wanted:
                shapes = _length(number, scale) if length else _interval(number, scale)
                yield from _compare(box.drawings[0], _BESIDE, [*bars, *shapes])


def _whisker(number: Drawn, scale: tuple[Fraction, Fraction]) -> Paths:
    if number.bounds is None:
        return []
    low, high = number.bounds
    return [("interval", f"M{_at(low, scale)} 50H{_at(high, scale)}")]


def _interval(number: Drawn, scale: tuple[Fraction, Fraction]) -> Paths:
    return [*_whisker(number, scale), ("value", f"M{_at(number.value, scale)} 50h0")]


def _length(number: Drawn, scale: tuple[Fraction, Fraction]) -> Paths:
    zero, end = _at(Fraction(0), scale), _at(number.value, scale)
    return [("length", f"M{zero} 20H{end}V80H{zero}Z"), *_whisker(number, scale)]


def _forest(table: Table, evidence: Evidence) -> Iterator[Placed]:
    columns = {at for row in table.rows for at, each in enumerate(row) if each and each.bounds}
    drawn = [each for row in table.rows for at, each in enumerate(row) if each and at in columns]
    yield from _cells(table, columns, _scale([*drawn, *table.bars]), length=False)


def _histogram(table: Table, evidence: Evidence) -> Iterator[Placed]:
    last = len(table.rows[0]) - 1
    drawn = [row[last] for row in table.rows]
    scale = _scale([*(each for each in drawn if each), *table.bars], Fraction(0))
    yield from _cells(table, {last}, scale, length=True)


# Drawings of their own


def _curve(table: Table, evidence: Evidence) -> Iterator[Placed]:
    named = all(row[0] is None for row in table.rows)
    steps = [Fraction(step) for step in range(len(table.rows))]
    across = steps if named else [each.value for each in table.column(0)]
    wide = min(across), max(across)
    columns = [table.column(at) for at in range(1, len(table.rows[0]))]
    tall = _scale([each for column in columns for each in column] + table.bars)
    places = [_at(each, wide) for each in across]
    wanted = _level(table.bars, tall)
    for line, column in zip(_LINES, columns, strict=False):
        wanted += _line(line, places, column, tall)
    yield from _plot(table, wanted)
    yield from _ticks(table, evidence, wide, tall)
    rows = [(place, "", row[0].words) for place, row in zip(places, table.figure.body, strict=True)]
    yield from _names(table, rows if named else [])
    names = [each.words for each in table.figure.head[1:]]
    told = [(each.words, each.drawings[0].paths if each.drawings else []) for each in table.figure.legend]
    keys = [(name, [(line, "M0 50H1000")]) for name, line in zip(names, _LINES, strict=False)]
    if told != (keys if len(columns) > 1 else []):
        yield misdrawn(table.figure.offset, "The legend does not name the lines as the table does.")


def _level(bars: Sequence[Drawn], tall: tuple[Fraction, Fraction]) -> Paths:
    return [(_BARS[order], f"M0 {_up(bar.value, tall)}H1000") for order, bar in enumerate(bars)]


def _line(line: str, places: list[str], numbers: list[Drawn], tall: tuple[Fraction, Fraction]) -> Paths:
    """The band, or the whiskers where some have no bounds; the line; the points."""
    heights = [_up(each.value, tall) for each in numbers]
    points = [f"{place} {height}" for place, height in zip(places, heights, strict=True)]
    known = [each.bounds for each in numbers if each.bounds]
    drawn: Paths = []
    order = line.removeprefix("line")
    if len(known) == len(numbers) > 1:
        there = [f"{place} {_up(low, tall)}" for place, (low, _) in zip(places, known, strict=True)]
        back = [f"{place} {_up(high, tall)}" for place, (_, high) in zip(places, known, strict=True)]
        drawn.append((f"band{order}", "M" + "L".join([*there, *reversed(back)]) + "Z"))
    else:
        for place, each in zip(places, numbers, strict=True):
            if each.bounds:
                drawn.append(
                    ("interval", f"M{place} {_up(each.bounds[0], tall)}V{_up(each.bounds[1], tall)}")
                )
    return [*drawn, (line, "M" + "L".join(points)), *((f"value{order}", f"M{point}h0") for point in points)]


def _frontier(table: Table, evidence: Evidence) -> Iterator[Placed]:
    costs, gains = table.column(-2), table.column(-1)
    wide, tall = _scale(costs), _scale([*gains, *table.bars])
    border: list[tuple[str, str]] = []
    most: Fraction | None = None
    for spent, gained in sorted((c.value, -g.value) for c, g in zip(costs, gains, strict=True)):
        if most is None or -gained > most:
            most = -gained
            border.append((_at(spent, wide), _up(most, tall)))
    steps = [f"M{border[0][0]} {border[0][1]}", *(f"H{across}V{up}" for across, up in border[1:]), "H1000"]
    wanted = [*_level(table.bars, tall), ("line", "".join(steps))]
    names = []
    for row, cost, gain in zip(table.figure.body, costs, gains, strict=True):
        place, height = _at(cost.value, wide), _up(gain.value, tall)
        if cost.bounds:
            low, high = (_at(each, wide) for each in cost.bounds)
            wanted.append(("interval", f"M{low} {height}H{high}"))
        if gain.bounds:
            low, high = (_up(each, tall) for each in gain.bounds)
            wanted.append(("interval", f"M{place} {low}V{high}"))
        wanted.append(("value", f"M{place} {height}h0"))
        names.append((place, height, row[-3].words))
    yield from _plot(table, wanted)
    yield from _ticks(table, evidence, wide, tall)
    yield from _names(table, names)


def _plot(table: Table, wanted: Paths) -> Iterator[Placed]:
    """One drawing above the table, and none in its cells."""
    figure = table.figure
    beside = [box for row in figure.body for box in row if box.drawings]
    if len(figure.plots) != 1 or beside:
        yield misdrawn(figure.offset, "The figure has one drawing, above its table.")
    else:
        yield from _compare(figure.plots[0], _ALONE, wanted)


def _ticks(
    table: Table, evidence: Evidence, wide: tuple[Fraction, Fraction], tall: tuple[Fraction, Fraction]
) -> Iterator[Placed]:
    """A number at an axis stands where it is drawn."""
    for label in table.figure.labels:
        if not label.marks:
            continue
        number = label.number(evidence)
        across = "tick-x" in label.given.get("class", "").split()
        if number and label.given.get("style") != (
            f"--at:{_at(number.value, wide)}" if across else f"--at:{_up(number.value, tall)}"
        ):
            yield misdrawn(label.offset, "The number at the axis does not stand at its value.")


def _names(table: Table, rows: list[tuple[str, str, str]]) -> Iterator[Placed]:
    """A name stands at the numbers of its row."""
    labels = [each for each in table.figure.labels if not each.marks]
    wanted = [(f"--at:{across}" + (f";--up:{up}" if up else ""), name) for across, up, name in rows]
    for label, row in zip_longest(labels, wanted):
        if label is None or row is None or (label.given.get("style"), label.words) != row:
            offset = label.offset if label else table.figure.offset
            yield misdrawn(offset, "A name in the drawing does not stand where its row is drawn.")
            return


def _compare(drawing: Drawing, frame: Mapping[str, str], wanted: Paths) -> Iterator[Placed]:
    """One refusal for a drawing that differs, with the first path that does."""
    given = {
        name: each for name, each in drawing.given.items() if not (name == "aria-label" and "role" in frame)
    }
    if given != frame:
        yield misdrawn(drawing.offset, "The frame of the drawing is not the one in which places are counted.")
        return
    for found, expected in zip_longest(drawing.paths, wanted):
        if found != expected:
            is_drawn = f'{found[0][:20]} at "{found[1][:60]}"' if found else "nothing"
            numbers = f'{expected[0]} at "{expected[1][:60]}"' if expected else "nothing there"
            yield misdrawn(drawing.offset, f"The page draws {is_drawn}; its numbers give {numbers}.")
            return


_KINDS = {"forest": _forest, "histogram": _histogram, "curve": _curve, "frontier": _frontier}
