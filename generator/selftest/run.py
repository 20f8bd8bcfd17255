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


def selftest(root: Path, say: Callable[[str], None]) -> Tally:
    """Plant every fault in a copy of a record; raises Stopped where the record itself is refused."""
    with tempfile.TemporaryDirectory(prefix="findings-selftest-") as folder:
        return plant(prepare(root, Path(folder)), say)


def plant(workplace: Workplace, say: Callable[[str], None], groups: Iterable[str] = tuple(GROUPS)) -> Tally:
    """Plant the faults of some groups, one at a time; tells of each kind as soon as it is done."""
    tally = Tally(left_out=workplace.left_out)
    faults = (fault for group in groups for fault in GROUPS[group](workplace))
    for kind, alike in groupby(faults, key=lambda fault: fault.kind):
        for fault in alike:
            judge = judging.touched if kind in tally.planted else judging.everything
            with workplace.changed(fault.changes):
                miss = fault.miss(judge(workplace, tuple(fault.changes)))
            tally.planted[kind] += 1
            tally.caught[kind] += not miss
            tally.misses.extend([miss] if miss else [])
        say(f"{tally.planted[kind]:6} planted {tally.caught[kind]:6} caught   {kind}")
    return tally
