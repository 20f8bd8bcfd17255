"""What a finding was judged by: its intervals drawn against their bars, and plain comparisons in digits.

A page of a record tells all of it; the front page what was held against a bar set in advance.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby

from markupsafe import Markup

from generator.number import display
from generator.number.evaluate import Evaluation
from generator.number.number import Leaf, Place, Prefix, Shown
from generator.number.prefix import COMPARISONS, is_leaf
from generator.render.environment import part
from generator.render.figure import rule
from generator.render.mark import Marker

_SIGNS = {"<=": "≤", ">=": "≥", "==": "=", "!=": "≠"}


@dataclass
class Group:
    """Findings of a list that stand below each other: on one scale, or each by itself."""

    entries: list[dict[str, object]]
    bars: list[rule.Line] = field(default_factory=list)
    together: bool = False


def listed(
    marker: Marker,
    entries: Sequence[Mapping[str, object]],
    evaluations: Sequence[Evaluation],
    *,
    brief: bool,
) -> list[Group]:
    """The entries with all that their rules compare; neighbours with the same bars are drawn on one scale.

    Brief is what the rules open with, where a bar was set in advance.
    """
    opened = [_set_in_advance(_opening(each)) if brief else _whole(marker, each) for each in evaluations]
    groups: list[Group] = []
    for scale, run in groupby(range(len(entries)), key=lambda at: _scale(opened[at])):
        found = list(run)
        openings = [each for each in (opened[at] for at in found) if each]
        together = scale is not None and len(openings) > 1
        if together:
            bars = rule.lines(marker, openings[0])
            numbers = [each.estimates[0] for each in openings]
            shapes = rule.drawn(marker, numbers, openings[0].bars)
            drawings = [Markup('<span class="drawn">{}{}</span>').format(*each) for each in shapes]
        else:
            bars = []
            drawings = [drawn(marker, evaluations[at], brief=brief) for at in found]
        rows = [{**entries[at], "drawn": each} for at, each in zip(found, drawings, strict=True)]
        groups.append(Group(rows, bars, together))
    return groups


def _opening(evaluation: Evaluation) -> rule.Against | None:
    """What the rules of a finding open with: one estimate and its bars, or estimates that are compared.

    None where that is no interval.
    """
    found = next(rule.against(*_judged(evaluation)), None)
    return replace(found, estimates=found.estimates[:1]) if found and found.bars else found


def _whole(marker: Marker, evaluation: Evaluation) -> rule.Against | None:
    """The one figure that is all there is to draw of the rules of a finding; None where there is more."""
    found = list(rule.against(*_judged(evaluation)))
    return found[0] if len(found) == 1 and not _plain(marker, evaluation, brief=False) else None


def _set_in_advance(opening: rule.Against | None) -> rule.Against | None:
    """An opening that is held against a bar which was committed before the data."""
    return (
        opening if opening and any(bar.leaf.payload.kind == rule.REGISTERED for bar in opening.bars) else None
    )


def _scale(opening: rule.Against | None) -> tuple[object, ...] | None:
    """What estimates that can be drawn on one scale have in common; None where several stand in one rule."""
    if opening is None or len(opening.estimates) != 1:
        return None
    bars = (bar.leaf.place for bar in opening.bars)
    return (opening.estimates[0].value.leaf.unit, *bars, *opening.asked)


def _judged(evaluation: Evaluation) -> tuple[list[Prefix], list[Leaf]]:
    """The rules of a finding, the verdict's first, and the fields that they name."""
    judged = [each for each in (evaluation.verdict, evaluation.status) if each]
    return [each for one in judged for each in one.rules], [leaf for one in judged for leaf in one.leaves]


def drawn(marker: Marker, evaluation: Evaluation, *, brief: bool) -> Markup:
    """What the rules of a finding compare, as it can be shown.

    Brief is the opening one, unnamed, where a bar was set in advance.
    """
    opening = _set_in_advance(_opening(evaluation)) if brief else None
    compares = ([opening] if opening else []) if brief else rule.against(*_judged(evaluation))
    figures = [Markup(rule.figure(marker, each, brief=brief)) for each in compares]
    compared = _plain(marker, evaluation, brief=brief)
    if brief:
        compared = [] if figures else compared[:1]
    return Markup("").join([*figures, Markup(part("compared.html.j2", compared=compared))])


def _plain(marker: Marker, evaluation: Evaluation, *, brief: bool) -> list[Markup]:
    """What the rules that hold say of numbers without intervals, each once."""
    judged = [each for each in (evaluation.verdict, evaluation.status) if each]
    known = {leaf.place: leaf for leaf in _judged(evaluation)[1]}
    holding = [each.prefix for each in judged if each.prefix is not None]
    plain = [_compared(marker, each, known, brief) for prefix in holding for each in _true(prefix)]
    return list(dict.fromkeys(each for each in plain if each))


def _true(prefix: Prefix) -> Iterator[list[Prefix]]:
    """The comparisons that a condition which holds says to hold."""
    if isinstance(prefix, list) and prefix[0] == "and":
        for each in prefix[1:]:
            yield from _true(each)
    elif isinstance(prefix, list) and prefix[0] in COMPARISONS:
        yield prefix


def _compared(
    marker: Marker, comparison: list[Prefix], known: dict[Place, Leaf], brief: bool
) -> Markup | None:
    """A comparison of two numbers without intervals, bound to itself; None for any other."""
    sign, *sides = comparison
    leaves = [known[str(each[0]), str(each[1])] for each in sides if isinstance(each, list) and is_leaf(each)]
    if len(leaves) < 2 or any(rule.has_interval(each) for each in leaves):
        return None
    if brief and all(each.payload.kind != rule.REGISTERED for each in leaves):
        return None
    left, right = (marker.shown(_brief(each)) for each in leaves)
    words = Markup("{} {} {}").format(left, _SIGNS.get(str(sign), str(sign)), right)
    claim = Markup("{}{}</span>").format(marker.claim(comparison), words)
    if brief:
        return claim
    names = [rule.named(marker, each) for each in leaves]
    return Markup("<code>{}</code> {} <code>{}</code>").format(names[0], claim, names[1])


def _brief(leaf: Leaf) -> Shown:
    """A whole number whole, any other with three digits that count."""
    whole = leaf.value.denominator == 1
    form = display.Form("group") if whole else display.Form("sig", 3)
    return Shown(leaf, str(form), display.lexeme(leaf.node.lexeme, form))
