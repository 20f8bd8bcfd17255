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

REGISTERED = "registered"
"""The kind of payloads that hold bars set in advance."""


@dataclass
class Against:
    """Estimates of one unit that a rule holds against the same bars; no bars where it names no single number.

    `asked` says of each bar which end of an estimate is held against it and how, where that is one question.
    """

    estimates: list[Bracketed]
    bars: list[Shown]
    asked: list[str]


@dataclass
class _Held:
    """An estimate, by the fields of it that a rule names, and the bars that it is held against."""

    leaf: Leaf
    bars: dict[Place, Leaf] = field(default_factory=dict)
    asked: dict[Place, set[str]] = field(default_factory=dict)
    paired: bool = False  # also compared with another estimate

    def against(self, bar: Leaf, asked: str) -> None:
        place = next((at for at, other in self.bars.items() if other.value == bar.value), bar.place)
        self.bars.setdefault(place, bar)
        self.asked.setdefault(place, set()).add(asked)


def against(rules: Iterable[Prefix], leaves: Sequence[Leaf]) -> Iterator[Against]:
    """What rules compare, in the order of the rules: a figure for estimates that share their bars.

    So no estimate is drawn beside a bar that no rule holds it against. One with more bars than a figure can
    tell apart is left out.
    """
    known = {leaf.place: leaf for leaf in leaves}
    held: dict[Place, _Held] = {}
    for rule in rules:
        for comparison in comparisons(rule):
            _hold(held, comparison, known)
    groups: dict[tuple[Unit, frozenset[Place]], list[_Held]] = {}
    for each in held.values():
        groups.setdefault((each.leaf.unit, frozenset(each.bars)), []).append(each)
        if each.paired and each.bars:
            groups.setdefault((each.leaf.unit, frozenset()), []).append(each)
    for (_, places), group in groups.items():
        bars = {at: bar for at, bar in group[0].bars.items() if at in places}
        if len(bars) <= BAR_LIMIT:
            asked = [_together(each.asked[at] for each in group) for at in bars]
            yield Against(_estimates(each.leaf for each in group), [_shown(b) for b in bars.values()], asked)


def _hold(held: dict[Place, _Held], comparison: list[Prefix], known: Mapping[Place, Leaf]) -> None:
    """Note what one comparison holds against what."""
    sign, *sides = comparison
    left, right = (
        known[str(side[0]), str(side[1])] if isinstance(side, list) and is_leaf(side) else None
        for side in sides
    )
    for leaf, other, how in ((left, right, str(sign)), (right, left, _TURNED.get(str(sign), str(sign)))):
        if leaf is None or not has_interval(leaf):
            continue
        owner, _, end = leaf.pointer.rpartition("/")
        found = held.setdefault((leaf.payload.path, owner), _Held(leaf))
        if other is None:
            continue  # an integer, or an expression
        if has_interval(other):
            found.paired = True
        elif other.unit == leaf.unit:
            found.against(other, f"{_ENDS.get(end, 'value')} {_HOW[how]}")


def _together(asked: Iterable[set[str]]) -> str:
    """The one question that is asked of all; empty where there are several."""
    questions = set().union(*asked)
    return questions.pop() if len(questions) == 1 else ""


_TURNED = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}
_HOW = {"<": "below", "<=": "at or below", ">": "above", ">=": "at or above", "==": "at", "!=": "off"}
_ENDS = {"low": "lower end", "high": "upper end"}


def comparisons(prefix: Prefix) -> Iterator[list[Prefix]]:
    """Every comparison of a rule."""
    if isinstance(prefix, list) and prefix[0] in LOGIC:
        for each in prefix[1:]:
            yield from comparisons(each)
    elif isinstance(prefix, list) and prefix[0] in COMPARISONS:
        yield prefix


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


def figure(marker: Marker, drawing: Against, *, brief: bool = False) -> str:
    """The figure of what a rule compares: names, drawings and numbers, and which bars were set in advance.

    A brief one names fields only where rows have to be told apart; a number leads to its field anyway.
    """
    estimates, bars = drawing.estimates, drawing.bars
    names = [Markup()] if brief and len(estimates) == 1 else _names(marker, estimates)
    rows = list(zip(names, drawn(marker, estimates, bars), strict=True))
    told = [Markup() if brief else named(marker, bar.leaf) for bar in bars]
    return part("against.html.j2", bars=list(zip(lines(marker, drawing), told, strict=True)), rows=rows)


def drawn(
    marker: Marker, estimates: Sequence[Bracketed], bars: Sequence[Shown]
) -> list[tuple[Markup, Markup]]:
    """The drawing and the numbers of each estimate, all on one scale with the bars."""
    body = tuple((Cell(""), Cell("", number, at)) for at, number in enumerate(estimates))
    shapes = cells("forest", Layout(("", ""), body, (1,), tuple(bars)))
    return [(Markup(shapes[at]), marker.number(number)) for at, number in enumerate(estimates)]


@dataclass(frozen=True)
class Line:
    """A bar as it is drawn and told: its class, words before it, its number."""

    kind: str
    words: str
    number: Markup


def lines(marker: Marker, drawing: Against) -> list[Line]:
    """The bars of a figure, with what is asked of them and whether they were set in advance."""
    return [
        Line(bar_class(order), _words(bar, asked), marker.number(bar))
        for order, (bar, asked) in enumerate(zip(drawing.bars, drawing.asked, strict=True))
    ]


def _words(bar: Shown, asked: str) -> str:
    """What stands before the number of a bar."""
    advance = " the bar set in advance," if bar.leaf.payload.kind == REGISTERED else ""
    return (f"asked: {asked}" if asked else "against") + advance


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
