"""Fields put in the place of others: what a correction makes of numbers and of conditions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from generator.number import display, exact
from generator.number import prefix as prefixes
from generator.number.number import Bracketed, Derived, Leaf, Made, Number, Place, Prefix, Shown
from generator.record import pointer
from generator.record.payload import Payload
from generator.record.tree import Node

Fields = Mapping[Place, Leaf]
"""By place of a field, the field that stands in for it."""


def pairs(old: Number, new: Number) -> dict[Place, Leaf]:
    """The fields that a correction replaces: a single one, or all of an estimate by those of another."""
    before, after = _whole(old), _whole(new)
    if before and after:
        named = dict(_inside(*after))
        return {leaf.place: named[keys] for keys, leaf in _inside(*before) if keys in named}
    return {_first(old).place: _first(new)} if not isinstance(old, (Derived, Made)) else {}


def lacking(old: Number, new: Number) -> Iterator[Leaf]:
    """What the old estimate has and the new one has not."""
    before, after = _whole(old), _whole(new)
    if before and after:
        named = dict(_inside(*after))
        yield from (leaf for keys, leaf in _inside(*before) if keys not in named)


def _first(number: Number) -> Leaf:
    assert not isinstance(number, Made)
    return next(iter(number.leaves))


def _whole(number: Number) -> tuple[Payload, tuple[str, ...]] | None:
    """The estimate that a number names as a whole, None where it names one value."""
    if not (isinstance(number, Bracketed) or (isinstance(number, Shown) and number.leaf.bare)):
        return None
    leaf = _first(number)
    return leaf.payload, pointer.parse(leaf.pointer)[:-1]


def _inside(payload: Payload, keys: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Leaf]]:
    """Every number below some keys, by the keys that follow."""
    node = payload.root
    for key in keys:
        node = node.members[key]
    for further in _numbers(node):
        yield further, exact.at(payload, (*keys, *further))


def _numbers(node: Node) -> Iterator[tuple[str, ...]]:
    for key, inner in node.members.items():
        if inner.kind == "number":
            yield (key,)
        elif inner.kind == "object":
            yield from ((key, *further) for further in _numbers(inner))


@dataclass(frozen=True)
class Correction:
    """Everything that is corrected, chains followed to their end."""

    payloads: Mapping[str, Payload] = field(repr=False)
    fields: Fields

    def further(self, direct: Fields) -> Correction:
        """This correction with one more: what led to a field that it replaces now leads on."""
        added = {place: self.leaf(leaf) for place, leaf in direct.items()}
        led = {place: direct.get(leaf.place, leaf) for place, leaf in self.fields.items()}
        return Correction(self.payloads, {**led, **added})

    def beyond(self, former: Correction) -> frozenset[Place]:
        """The fields that have another value than with a former correction."""
        return frozenset(place for place in self.fields if self.value(place) != former.value(place))

    def value(self, place: Place) -> Fraction | str:
        """What a field says with the correction."""
        leaf = self.leaf(self.origin(place))
        return leaf.node.text if leaf.node.kind == "string" else leaf.value

    def origin(self, place: Place) -> Leaf:
        """The field itself."""
        return exact.at(self.payloads[place[0]], pointer.parse(place[1]))

    def leaf(self, leaf: Leaf) -> Leaf:
        return self.fields.get(leaf.place, leaf)

    def keeps(self, number: Bracketed) -> bool:
        """Whether value and bounds of an interval are still those of one estimate."""
        places = [self.leaf(each.leaf).place for each in (number.value, number.low, number.high)]
        path, owner = places[0][0], places[0][1].rpartition("/")[0]
        return places == [(path, f"{owner}/{key}") for key in ("value", "low", "high")]

    def number(self, number: Number) -> Number:
        """The number as it should read, in its own form, or as it is written where that form cannot."""
        if isinstance(number, Made):
            return number
        try:
            return self._formed(number)
        except display.Undisplayable:
            return self._written(number)

    def _formed(self, number: Shown | Bracketed | Derived) -> Number:
        if isinstance(number, Bracketed):
            return Bracketed(*(self._shown(each) for each in (number.value, number.low, number.high)))
        if isinstance(number, Shown):
            return self._shown(number)
        return self._derived(number, number.form)

    def _derived(self, number: Derived, form: display.Form) -> Derived:
        prefix = self.prefix(number.prefix)
        value = Fraction(prefixes.evaluate(prefix, self.payloads))
        leaves = tuple(self.leaf(each) for each in number.leaves)
        return Derived(prefix, value, form, display.rational(value, form), leaves)

    def _shown(self, number: Shown) -> Shown:
        leaf = self.leaf(number.leaf)
        if leaf.node.kind == "string":
            return Shown(leaf, "text", leaf.node.text)
        return Shown(leaf, number.form, display.lexeme(leaf.node.lexeme, display.named(number.form)))

    def _written(self, number: Shown | Bracketed | Derived) -> Number:
        """Without rounding, or with three digits where the exact result may have no end."""
        if isinstance(number, Derived):
            return self._derived(number, display.Form("sig", 3))
        return plain(self.leaf(_first(number)))

    def prefix(self, prefix: Prefix) -> Prefix:
        """An expression or a condition over the fields that stand in."""
        if isinstance(prefix, str):
            return prefix
        if prefixes.is_leaf(prefix):
            found = self.fields.get((str(prefix[0]), str(prefix[1])))
            return found.prefix if found else prefix
        return [prefix[0], *(self.prefix(each) for each in prefix[1:])]

    def holds(self, prefix: Prefix) -> bool:
        """Whether a condition holds with the correction; raises ZeroDivisionError."""
        return bool(prefixes.evaluate(self.prefix(prefix), self.payloads))


def plain(leaf: Leaf) -> Shown:
    """A number as its payload writes it."""
    return Shown(leaf, str(display.PLAIN), display.lexeme(leaf.node.lexeme, display.PLAIN))


def places(prefix: Prefix) -> Iterator[Place]:
    """The fields that an expression or a condition names."""
    return ((path, where) for path, where, _ in prefixes.leaves(prefix))
