"""The selftest, step by step: copy and build, then plant one fault after the other and have it judged."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path

from generator.selftest import expressions, judging, pages, places, sources, traces, values
from generator.selftest.fault import Fault
from generator.selftest.workplace import Workplace, prepare

GROUPS: dict[str, Callable[[Workplace], Iterator[Fault]]] = {
    "typed": traces.typed,
    "digits": values.digits,
    "pointers": traces.pointers,
    "places": places.places,
    "sources": sources.sources,
    "pages": pages.pages,
    "literals": expressions.literals,
    "claims": expressions.claims,
}


@dataclass
class Tally:
    """How many faults were planted and caught, and the misses, each with its place."""

    planted: Counter[str] = field(default_factory=Counter)
    caught: Counter[str] = field(default_factory=Counter)
    misses: list[str] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)

    def add(self, kind: str, miss: str) -> None:
        """Count one fault; an empty miss says that it was caught."""
        self.planted[kind] += 1
        self.caught[kind] += not miss
        self.misses.extend([miss] if miss else [])

    def holds(self, at_least: int) -> bool:
        """Whether every fault was caught, and there were enough."""
        return not self.misses and self.planted.total() >= at_least

    def told(self, at_least: int) -> str:
        """What was left out, every miss, and the sum."""
        lines = [f"{count:6} left out: {what}" for what, count in self.left_out.items()]
        lines += self.misses
        if self.planted.total() < at_least:
            lines.append(f"At least {at_least} faults have to be planted.")
        return "\n".join([*lines, f"{self.planted.total()} faults planted, {self.caught.total()} caught"])


def selftest(root: Path, say: Callable[[str], None]) -> Tally:
    """Plant every fault in a copy of a record; raises Stopped where the record itself is refused."""
    with tempfile.TemporaryDirectory(prefix="findings-selftest-") as folder:
        return plant(prepare(root, Path(folder)), say)


def plant(workplace: Workplace, say: Callable[[str], None], groups: Iterable[str] | None = None) -> Tally:
    """Plant the faults of some groups, one at a time; tells of each kind as soon as it is done."""
    tally = Tally(left_out=workplace.left_out)
    faults = (fault for group in groups or GROUPS for fault in GROUPS[group](workplace))
    for kind, alike in groupby(faults, key=lambda fault: fault.kind):
        for fault in alike:
            judge = judging.touched if kind in tally.planted else judging.everything
            with workplace.changed(fault.changes):
                miss = fault.miss(judge(workplace, tuple(fault.changes)))
            tally.add(kind, miss)
        say(f"{tally.planted[kind]:6} planted {tally.caught[kind]:6} caught   {kind}")
    return tally
