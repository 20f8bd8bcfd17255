"""A rule as a forest: the intervals that it names, against the bars that it names in the same unit."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from markupsafe import Markup

from generator.number import display, exact
from generator.number.number import Bracketed, Leaf, Place, Prefix, Shown
from generator.number.piece import Cell, Layout
from generator.number.prefix import COMPARISONS, LOGIC, is_leaf
from generator.number.unit import Unit
from generator.record import pointer
from generator.render.environment import part
from generator.render.figure.cells import cells
from generator.render.figure.shape import BAR_LIMIT, bar_class
from generator.render.mark import Marker

PLACES_LIMIT = 12


@dataclass
class Against:
    """Estimates and bars of one unit, each once."""

    estimates: list[Bracketed] = field(default_factory=list)
    bars: list[Shown] = field(default_factory=list)


def against(prefix: Prefix, leaves: Sequence[Leaf]) -> Iterator[Against]:
    """What a rule compares, by unit: estimates with intervals, and the single numbers against them."""
    known = {leaf.place: leaf for leaf in leaves}
    estimates: dict[Unit, dict[Place, Leaf]] = {}
    bars: dict[Unit, dict[Place, Leaf]] = {}
    for side in _sides(prefix):
        leaf = known[str(side[0]), str(side[1])]
        owner = leaf.pointer.rpartition("/")[0]
        kind, place = (estimates, owner) if _has_interval(leaf) else (bars, leaf.pointer)
        kind.setdefault(leaf.unit, {})[leaf.payload.path, place] = leaf
    for unit, found in estimates.items():
        held = list(bars.get(unit, {}).values())
        if 0 < len(held) <= BAR_LIMIT:
            yield Against(_estimates(found.values()), [_shown(each) for each in held])


def _sides(prefix: Prefix) -> Iterator[list[Prefix]]:
    """The fields that stand alone on a side of a comparison."""
    if not isinstance(prefix, list):
        return
    for each in prefix[1:]:
        if prefix[0] in LOGIC:
            yield from _sides(each)
        elif prefix[0] in COMPARISONS and isinstance(each, list) and is_leaf(each):
            yield each


def _has_interval(leaf: Leaf) -> bool:
    keys = pointer.parse(leaf.pointer)
    owner = leaf.payload.root
    for key in keys[:-1]:
        owner = owner.child(key)
    return keys[-1] in ("value", "low", "high") and {"value", "low", "high"} <= owner.members.keys()


def _estimates(leaves: Iterable[Leaf]) -> list[Bracketed]:
    """The estimates around fields, all with as many places as the narrowest interval has two digits for."""
    found = []
    for leaf in leaves:
        keys = pointer.parse(leaf.pointer)[:-1]
        found.append([exact.at(leaf.payload, (*keys, key)) for key in ("value", "low", "high")])
    places = max(_places(each) for each in found)
    return [Bracketed(*(_shown(leaf, places) for leaf in each)) for each in found]


def _places(estimate: Sequence[Leaf]) -> int:
    value, low, high = estimate
    width, places = high.value - low.value, 0
    while places < PLACES_LIMIT and (width * 10**places < 10 or not _prints((value, low, high), places)):
        places += 1
    return places


def _prints(leaves: Iterable[Leaf], places: int) -> bool:
    """Whether none of these values would print as zero without being it."""
    return all(leaf.value == 0 or round(leaf.value * 10**places) for leaf in leaves)


def _shown(leaf: Leaf, places: int | None = None) -> Shown:
    form = display.PLAIN if places is None else display.Form("places", places)
    return Shown(leaf, str(form), display.lexeme(leaf.node.lexeme, form))


def figure(marker: Marker, rows: Sequence[tuple[Markup | str, Bracketed]], bars: Sequence[Shown]) -> str:
    """The figure of one unit: names, drawings and numbers."""
    body = tuple((Cell(""), Cell("", number, at)) for at, (_, number) in enumerate(rows))
    drawn = cells("forest", Layout(("", ""), body, (1,), tuple(bars)))
    return part(
        "against.html.j2",
        bars=[(bar_class(order), marker.number(bar)) for order, bar in enumerate(bars)],
        rows=[(name, Markup(drawn[at]), marker.number(number)) for at, (name, number) in enumerate(rows)],
    )
