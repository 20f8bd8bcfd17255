"""The selftest, step by step: copy and build, then plant one fault after the other and have it judged."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import count, groupby
from pathlib import Path

from generator.render.publish import Misuse
from generator.selftest import expressions, judging, notes, pages, places, sources, traces, values
from generator.selftest.fault import Fault
from generator.selftest.share import Share, planted, processes
from generator.selftest.tally import Tally
from generator.selftest.workplace import SITE, Workplace, prepare

GROUPS: dict[str, Callable[[Workplace], Iterator[Fault]]] = {
    "typed": traces.typed,
    "digits": values.digits,
    "pointers": traces.pointers,
    "places": places.places,
    "sources": sources.sources,
    "pages": pages.pages,
    "literals": expressions.literals,
    "claims": expressions.claims,
    "notes": notes.notes,
}

ENOUGH = 60
"""Faults of one kind of which none is left out; so many of a larger kind, unless all are asked for."""

WRITTEN = frozenset({"sources", "pages"})
"""Groups whose kinds are surfaces: every form of an untraced number is planted on each of them."""


def selftest(root: Path, say: Callable[[str], None], *, every: bool) -> Tally:
    """Plant faults in a copy of a record, all of them or enough of each kind.

    Raises Stopped where the record itself is refused, and Misuse where the copy cannot be written.
    """
    total = Tally()
    with tempfile.TemporaryDirectory(prefix="findings-selftest-") as folder:
        try:
            workplace = prepare(root, Path(folder) / "copy")
            for tally in planted(workplace, partial(plant, every=every), tuple(GROUPS), processes()):
                for row in tally.rows():
                    say(row)
                total += tally
        except (OSError, EOFError) as error:
            raise Misuse(f"The copy in {folder} cannot be worked on: {error or 'a process died'}.") from None
    return total


def plant(workplace: Workplace, group: str, share: Share, *, every: bool = True) -> Tally:
    """Plant the faults of a group, or a share of them, one at a time.

    The first of each sort of file and of each code that is due there is judged by the whole of the checks,
    the others where they touch.
    """
    tally = Tally()
    whole: set[object] = set()
    among = count()  # over all kinds: most have so few faults that the first share would have them all
    for kind, alike in groupby(GROUPS[group](workplace), key=lambda fault: fault.kind):
        found = list(alike)
        chosen = found if every or group in WRITTEN else chosen_of(found)
        if len(chosen) < len(found):
            workplace.left_out[f"{kind}, of {len(found)}; --all plants them"] += len(found) - len(chosen)
        for number, fault in enumerate(chosen):
            everything = number == 0 and _sort(fault) not in whole
            turn = len(whole) if everything else next(among)  # what takes long is shared out by itself
            if share.has(turn):
                judge = judging.everything if everything else judging.touched
                with workplace.changed(changes := fault.changes()):
                    tally.add(kind, fault.miss(judge(workplace, tuple(changes))))
        whole.add(_sort(chosen[0]))
    if share.has(0):
        tally.left_out, workplace.left_out = workplace.left_out, Counter()
    return tally


def _sort(fault: Fault) -> tuple[str, frozenset[str]]:
    """The sort of file that a fault is in, sources by what their kind names them, and what is due for it."""
    named, colon, sort = fault.kind.partition(",")[0].partition(": ")
    by_kind = colon and not fault.path.startswith(SITE)
    return f"{named} {sort}" if by_kind else Path(fault.path).suffix, frozenset(fault.due)


def chosen_of(faults: Sequence[Fault]) -> list[Fault]:
    """So many that lie evenly; all where they are few."""
    if len(faults) <= ENOUGH:
        return list(faults)
    return [faults[place * len(faults) // ENOUGH] for place in range(ENOUGH)]
