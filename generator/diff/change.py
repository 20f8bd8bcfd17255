"""Compares two states of a record and says of each number what became of it.

A number is known by its page, the part of the page (statement, title, regime), what it shows (path and
pointer, expression, rule) and which of several such it is. What is left over is paired again: what shows
the same in another part of the page moved there; a number of equal value in one part moved to another
field; and where a part has as many numbers as before, those at one position are one number whose field was
exchanged. All others appeared or vanished.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from generator.diff.entry import Entry, Side

Kind = Literal["flipped", "value", "rounding", "appeared", "vanished", "moved"]

TITLES: dict[Kind, str] = {
    "flipped": "claim flipped",
    "value": "changed value",
    "rounding": "changed rounding",
    "appeared": "appeared",
    "vanished": "vanished",
    "moved": "moved place only",
}
"""Every kind of change in the order of its weight, as it is called."""


@dataclass(frozen=True)
class Change:
    """What became of one number, claim or judgement; one of the two sides may lack it."""

    kind: Kind
    old: Entry | None
    new: Entry | None

    @property
    def entry(self) -> Entry:
        """The younger of the two."""
        found = self.new or self.old
        assert found is not None
        return found


def compare(old: Side, new: Side) -> list[Change]:
    """All changes, the weighty kinds first, each kind in the order of the pages."""
    pairs = list(_pairs(old.entries, new.entries))
    changes = [Change(kind, *pair) for pair in pairs if (kind := _kind(*pair))]
    order = list(TITLES)
    return sorted(changes, key=lambda change: order.index(change.kind))


def counts(changes: Iterable[Change]) -> dict[Kind, int]:
    """How many changes there are of every kind."""
    counted = Counter(change.kind for change in changes)
    return {kind: counted[kind] for kind in TITLES}


def _kind(old: Entry | None, new: Entry | None) -> Kind | None:
    """What became of a pair; None where nothing did."""
    if old is None or new is None:
        return _one_sided(old, new)
    if not old.same_value(new):
        return "value" if new.kind == "number" else "flipped"
    if old.kind != "number":
        return None
    if (old.form, old.shown) != (new.form, new.shown):
        return "rounding"
    return "moved" if (old.part, old.places) != (new.part, new.places) else None


def _one_sided(old: Entry | None, new: Entry | None) -> Kind:
    """A claim that was true and is gone has flipped, and so has one that comes in false."""
    if new is None:
        return "flipped" if old and old.kind == "claim" and old.value == "true" else "vanished"
    return "flipped" if new.kind == "claim" and new.value == "false" else "appeared"


def _pairs(old: Iterable[Entry], new: Iterable[Entry]) -> Iterator[tuple[Entry | None, Entry | None]]:
    """Every entry of either side with its counterpart, in the order of the new side, what is gone last."""
    old, new = list(old), list(new)
    partners: dict[int, Entry] = {}
    taken: set[int] = set()
    for identity in (_by_key(), _by_subject(), _by_value(), _by_position(old, new)):
        waiting = defaultdict(list)
        for at, each in reversed(list(enumerate(old))):
            if at not in taken and (known := identity(0, at, each)):
                waiting[known].append(at)
        for at, each in enumerate(new):
            if at not in partners and (candidates := waiting[identity(1, at, each)]):
                found = candidates.pop()
                taken.add(found)
                partners[at] = old[found]
    yield from ((partners.get(at), each) for at, each in enumerate(new))
    yield from ((each, None) for at, each in enumerate(old) if at not in taken)


Identity = Callable[[int, int, Entry], Hashable]


def _by_key() -> Identity:
    return lambda _side, _at, entry: entry.key


def _by_subject() -> Identity:
    """What shows the same thing on one page, in whatever part of it; a judgement is of its own part only."""
    return lambda _side, _at, entry: (
        None if entry.kind == "judgement" else (entry.kind, entry.page, entry.subject)
    )


def _by_value() -> Identity:
    """Equal values in one part of a page; claims by their words."""

    def identity(_side: int, _at: int, entry: Entry) -> Hashable:
        if entry.kind == "judgement":
            return None
        words = entry.shown if entry.kind == "claim" else ""
        value = entry.value if entry.exact is None else entry.exact
        return entry.kind, entry.page, entry.part, value, words

    return identity


def _by_position(old: list[Entry], new: list[Entry]) -> Identity:
    """The position among the numbers of a part that has as many of them on both sides."""
    sizes = [Counter((each.page, each.part) for each in side if each.kind == "number") for side in (old, new)]
    positions: tuple[dict[int, int], dict[int, int]] = ({}, {})
    for side, entries in enumerate((old, new)):
        seen: Counter[tuple[str, str]] = Counter()
        for at, each in enumerate(entries):
            if each.kind == "number":
                positions[side][at] = seen[each.page, each.part]
                seen[each.page, each.part] += 1

    def identity(side: int, at: int, entry: Entry) -> Hashable:
        part = entry.page, entry.part
        if entry.kind != "number" or sizes[0][part] != sizes[1][part]:
            return None
        return *part, positions[side][at]

    return identity
