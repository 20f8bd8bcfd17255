"""The SVG of a drawing: paths with a class, stretched to the room there is, without any text."""

from __future__ import annotations

from html import escape

_BARS = ("bar", "bar second", "bar third")
BAR_LIMIT = len(_BARS)


def bar_class(order: int) -> str:
    """The class of a bar, by how many stand before it: each has a line of its own."""
    return _BARS[order]


def path(kind: str, points: str) -> str:
    """One shape; a path of no length is a dot."""
    return f'<path class="{kind}" d="{points}"/>'


def drawing(shapes: str) -> str:
    """A drawing in a cell, beside the number that it draws."""
    return (
        '<svg class="drawing" viewBox="0 0 1000 100" preserveAspectRatio="none" aria-hidden="true"'
        f' focusable="false">{shapes}</svg>'
    )


def plot(shapes: str, name: str) -> str:
    """A drawing that stands alone, with a name for those who do not see it."""
    return (
        '<svg class="drawing" viewBox="0 0 1000 1000" preserveAspectRatio="none" role="img"'
        f' aria-label="{escape(name)}">{shapes}</svg>'
    )


def key(kind: str) -> str:
    """A short piece of a line, beside the name of what it draws."""
    return (
        '<svg class="key" viewBox="0 0 1000 100" preserveAspectRatio="none" aria-hidden="true"'
        f' focusable="false"><path class="{kind}" d="M0 50H1000"/></svg>'
    )
