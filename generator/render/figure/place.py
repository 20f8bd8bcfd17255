"""Where the parts of a figure go among the marks of a page."""

from __future__ import annotations

from html import escape

from generator.number.figure import PLOTTED, value
from generator.number.piece import FigureStart, Layout
from generator.render.figure import plot
from generator.render.figure.cells import cells
from generator.render.figure.shape import bar_class, key
from generator.render.figure.shape import plot as drawn
from generator.render.mark import Marker

_KINDS = {"curve": "Curve", "frontier": "Frontier"}


def opened(start: FigureStart) -> str:
    """The beginning of a figure, before its words."""
    return f'<figure class="figure" data-figure="{start.kind}">'


def drawings(start: FigureStart) -> dict[int, str]:
    """By place of a number among the pieces, what is drawn beside it in its cell."""
    return {} if start.kind in PLOTTED else cells(start.kind, start.layout)


def bar(order: int) -> str:
    """The tag around the words of a bar."""
    return f'<span class="{bar_class(order)}">'


def table(marker: Marker, start: FigureStart, *, corrected: bool) -> str:
    """What stands between the words of a plot and its table: the drawing, and the lid of the table."""
    if start.kind not in PLOTTED:
        return ""
    return (
        f'<div class="plot" data-search-exclude>{drawn(plot.shapes(start.kind, start.layout), _name(start))}'
        f"{''.join(_labels(marker, start))}</div>{_legend(start.kind, start.layout)}"
        f"<details{' open' if corrected else ''}><summary>The same as a table</summary>"
    )


def closed(start: FigureStart) -> str:
    """The end of a figure."""
    return "</details></figure>" if start.kind in PLOTTED else "</figure>"


def _name(start: FigureStart) -> str:
    """What the drawing is called, from the head of the table."""
    head = start.layout.head
    across, up = (head[0], head[1:]) if start.kind == "curve" else (head[-2], head[-1:])
    return f"{_KINDS[start.kind]}: {' and '.join(up)} over {across}. Its numbers stand in the table below."


def _labels(marker: Marker, start: FigureStart) -> list[str]:
    """The numbers at the ends of the axes, then names where there are no numbers."""
    across, up = plot.scales(start.kind, start.layout)
    parts = []
    for axis, number in start.layout.labels:
        at = across.at(value(number)) if axis == "x" else up.up(value(number))
        parts.append(_label(axis, at, str(marker.number(number))))
    if start.kind == "frontier":
        for name, cost, gain in start.layout.rows:
            if cost.number and gain.number:
                parts.append(_point(across.at(value(cost.number)), up.up(value(gain.number)), name.text))
    elif not start.layout.rows[0][0].number:
        for at, row in zip(plot.places(start.layout), start.layout.rows, strict=True):
            parts.append(_label("x", at, escape(row[0].text)))
    return parts


def _label(axis: str, at: str, html: str) -> str:
    return f'<p class="tick tick-{axis}" style="--at:{at}">{html}</p>'


def _point(across: str, up: str, name: str) -> str:
    return f'<p class="point" style="--at:{across};--up:{up}">{escape(name)}</p>'


def _legend(kind: str, layout: Layout) -> str:
    """Which line is which, where there are several."""
    if kind != "curve" or len(layout.columns) < 2:
        return ""
    names = [layout.head[at] for at in layout.columns]
    keys = "".join(
        f"<li>{key(line)}{escape(name)}</li>" for line, name in zip(plot.SERIES, names, strict=False)
    )
    return f'<ul class="legend">{keys}</ul>'
