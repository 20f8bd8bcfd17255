"""A rule as a forest: the intervals that it names, against the bars that it names in the same unit."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
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
    """Estimates and bars of one unit, each once; no bars where estimates are compared with each other."""

    estimates: list[Bracketed] = field(default_factory=list)
    bars: list[Shown] = field(default_factory=list)


@dataclass
class _Compared:
    """The fields of some comparisons of one unit: those with intervals by their owner, and the others."""

    estimates: dict[Place, Leaf] = field(default_factory=dict)
    bars: dict[Place, Leaf] = field(default_factory=dict)

    def meets(self, other: _Compared) -> bool:
        return not (self.estimates.keys() | self.bars.keys()).isdisjoint({*other.estimates, *other.bars})

    def add(self, other: _Compared) -> None:
        self.estimates |= other.estimates
        self.bars |= other.bars

    def lines(self) -> list[Leaf]:
        """One bar for each value: two fields of one value are drawn at one place."""
        return list({bar.value: bar for bar in reversed(self.bars.values())}.values())[::-1]


def against(rules: Iterable[Prefix], leaves: Sequence[Leaf]) -> Iterator[Against]:
    """What rules compare, by unit: estimates with intervals, and the single numbers against them.

    A unit with more bars than a figure can tell apart is drawn in several, one for what belongs together.
    """
    known = {leaf.place: leaf for leaf in leaves}
    units: dict[Unit, list[_Compared]] = {}
    for rule in rules:
        for comparison in comparisons(rule):
            for unit, compared in _compared(comparison, known).items():
                units.setdefault(unit, []).append(compared)
    for found in units.values():
        whole = _joined(found, together=True)
        for each in whole if len(whole[0].lines()) <= BAR_LIMIT else _joined(found):
            if each.estimates and len(each.lines()) <= BAR_LIMIT:
                yield Against(_estimates(each.estimates.values()), [_shown(bar) for bar in each.lines()])


def _joined(found: Iterable[_Compared], *, together: bool = False) -> list[_Compared]:
    """All of them as one, or as many as have no field in common."""
    groups: list[_Compared] = []
    for each in found:
        own = _Compared(dict(each.estimates), dict(each.bars))
        apart = []
        for group in groups:
            if together or group.meets(own):
                group.add(own)
                own = group
            else:
                apart.append(group)
        groups = [*apart, own]
    return groups


def comparisons(prefix: Prefix) -> Iterator[list[Prefix]]:
    """Every comparison of a rule."""
    if isinstance(prefix, list) and prefix[0] in LOGIC:
        for each in prefix[1:]:
            yield from comparisons(each)
    elif isinstance(prefix, list) and prefix[0] in COMPARISONS:
        yield prefix


def _compared(comparison: list[Prefix], known: Mapping[Place, Leaf]) -> dict[Unit, _Compared]:
    """The fields that stand alone on a side of a comparison, by unit."""
    units: dict[Unit, _Compared] = {}
    for side in comparison[1:]:
        if isinstance(side, list) and is_leaf(side):
            leaf = known[str(side[0]), str(side[1])]
            compared = units.setdefault(leaf.unit, _Compared())
            owner = leaf.pointer.rpartition("/")[0]
            if has_interval(leaf):
                compared.estimates[leaf.payload.path, owner] = leaf
            else:
                compared.bars[leaf.place] = leaf
    return units


def has_interval(leaf: Leaf) -> bool:
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


def _shown(leaf: Leaf, places: int | None = None, *, text: bool = False) -> Shown:
    if text:
        return Shown(leaf, "text", leaf.node.text)
    form = display.PLAIN if places is None else display.Form("places", places)
    return Shown(leaf, str(form), display.lexeme(leaf.node.lexeme, form))


def figure(
    marker: Marker, estimates: Sequence[Bracketed], bars: Sequence[Shown], *, brief: bool = False
) -> str:
    """The figure of one unit: names, drawings and numbers, and which bars were set in advance.

    A brief one names fields only where rows have to be told apart; a number leads to its field anyway.
    """
    names = [Markup()] if brief and len(estimates) == 1 else _names(marker, estimates)
    rows = list(zip(names, drawn(marker, estimates, bars), strict=True))
    told = [Markup() if brief else named(marker, bar.leaf) for bar in bars]
    return part("against.html.j2", bars=list(zip(lines(marker, bars), told, strict=True)), rows=rows)


def drawn(
    marker: Marker, estimates: Sequence[Bracketed], bars: Sequence[Shown]
) -> list[tuple[Markup, Markup]]:
    """The drawing and the numbers of each estimate, all on one scale with the bars."""
    body = tuple((Cell(""), Cell("", number, at)) for at, number in enumerate(estimates))
    shapes = cells("forest", Layout(("", ""), body, (1,), tuple(bars)))
    return [(Markup(shapes[at]), marker.number(number)) for at, number in enumerate(estimates)]


def lines(marker: Marker, bars: Sequence[Shown]) -> list[tuple[str, bool, Markup]]:
    """How each bar is drawn, whether it was set in advance, and its number."""
    return [
        (bar_class(order), bar.leaf.payload.kind == "registered", marker.number(bar))
        for order, bar in enumerate(bars)
    ]


def named(marker: Marker, leaf: Leaf) -> Markup:
    """The name of a field below the results."""
    return marker.key(leaf, ".".join(_keys(leaf)))


def _names(marker: Marker, estimates: Sequence[Bracketed]) -> list[Markup]:
    """What tells estimates from each other: their payloads, their fields, or the one field that there is."""
    leaves = [each.value.leaf for each in estimates]
    if len({leaf.payload.path for leaf in leaves}) == len({_keys(leaf) for leaf in leaves}) == 1:
        return [named(marker, leaf) for leaf in leaves]
    told = [marker.key(leaf, ".".join(each)) for leaf, each in zip(leaves, _apart(leaves), strict=True)]
    if len({leaf.payload.path for leaf in leaves}) == 1:
        return told
    if len({_keys(leaf) for leaf in leaves}) == 1:
        return [payload(marker, leaf) for leaf in leaves]
    return [
        Markup("{} {}").format(payload(marker, leaf), name) for leaf, name in zip(leaves, told, strict=True)
    ]


def payload(marker: Marker, leaf: Leaf) -> Markup:
    """The name of the payload that a field stands in."""
    return marker.shown(_shown(exact.at(leaf.payload, ("name",)), text=True))


def _keys(leaf: Leaf) -> tuple[str, ...]:
    keys = pointer.parse(leaf.pointer)
    return keys[1 : -1 if keys[-1] in ("value", "low", "high") else None]


def _apart(leaves: Sequence[Leaf]) -> list[tuple[str, ...]]:
    """Their keys without what all of them begin and end with; whole where that leaves one without any."""
    keys = [_keys(leaf) for leaf in leaves]
    start, end, least = 0, 0, min(map(len, keys))
    while start < least and len({each[start] for each in keys}) == 1:
        start += 1
    while start + end < least and len({each[-1 - end] for each in keys}) == 1:
        end += 1
    cut = [each[start : len(each) - end] for each in keys]
    return cut if all(cut) else list(keys)
