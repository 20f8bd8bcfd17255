"""What a finding was judged by: its intervals drawn against their bars, and plain comparisons in digits."""

from __future__ import annotations

from collections.abc import Iterator

from markupsafe import Markup

from generator.number import display
from generator.number.evaluate import Evaluation
from generator.number.number import Leaf, Place, Prefix, Shown
from generator.number.prefix import COMPARISONS, is_leaf
from generator.render.environment import part
from generator.render.figure import rule
from generator.render.mark import Marker

_SIGNS = {"<=": "≤", ">=": "≥", "==": "=", "!=": "≠"}


def drawn(marker: Marker, evaluation: Evaluation, *, brief: bool) -> Markup:
    """What the rules of a finding compare, as it can be shown; brief is the opening one, unnamed."""
    judged = [each for each in (evaluation.verdict, evaluation.status) if each]
    leaves = [leaf for each in judged for leaf in each.leaves]
    rules = [each for judgement in judged for each in judgement.rules]
    figures = [
        Markup(rule.figure(marker, each.estimates, each.bars, brief=brief))
        for each in rule.against(rules, leaves)
    ]
    holding = [each.prefix for each in judged if each.prefix is not None]
    known = {leaf.place: leaf for leaf in leaves}
    plain = [_compared(marker, each, known, brief) for prefix in holding for each in _true(prefix)]
    compared = list(dict.fromkeys(each for each in plain if each))
    if brief:
        figures, compared = figures[:1], [] if figures else compared[:1]
    return Markup("").join([*figures, Markup(part("compared.html.j2", compared=compared))])


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
