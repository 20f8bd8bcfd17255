"""Address-only S2: allocation, reuse and eviction of cache pages under a page budget.

The oldest page but the first is evicted when a sequence needs more than its budget, and its place is
used again. No value enters, so by construction the stream is a function of the position alone: what
it can tell is how long the text is by now.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from engine.observe.constants import Paging, Sideband
from engine.observe.streams.stream import Arrays, Features, Stream

PAGES_TOLD = 32
"""Counts of pages and evictions beyond this share the last column."""


@dataclass(frozen=True)
class Event:
    """What the page table does at one position."""

    place: int  # physical page written to
    allocated: bool
    reused: bool
    pages: int  # logical pages so far
    evicted: int  # pages evicted so far


def events(constants: Paging) -> Iterator[Event]:
    """The page table of one sequence, position by position, without end."""
    held: list[int] = []  # physical places, oldest first
    pages, evicted = 0, 0
    while True:
        reused = len(held) == constants.budget
        if reused:
            held.append(held.pop(1))
            evicted += 1
        else:
            held.append(len(held))
        pages += 1
        for offset in range(constants.size):
            new = offset == 0
            yield Event(held[-1], new, new and reused, pages, evicted)


def features(arrays: Arrays, constants: Sideband) -> Features:
    """Place, offset in the page, pages so far and evictions so far one-hot; then three event flags. (N, d)"""
    position = arrays["position"].astype(np.int64)
    table = [
        _columns(e, p, constants.pages)
        for p, e in zip(range(position.max() + 1), events(constants.pages), strict=False)
    ]
    return np.asarray(table, dtype=np.float32)[position]


def _columns(event: Event, position: int, constants: Paging) -> list[float]:
    hot = [
        (event.place, constants.budget),
        (position % constants.size, constants.size),
        (min(event.pages, PAGES_TOLD - 1), PAGES_TOLD),
        (min(event.evicted, PAGES_TOLD - 1), PAGES_TOLD),
    ]
    out = [float(index == at) for at, width in hot for index in range(width)]
    return [*out, float(event.allocated), float(event.reused), float(event.evicted > 0)]


STREAM = Stream(
    name="s2a",
    title="allocation, reuse and eviction of cache pages, addresses only",
    pure=True,
    needs=("position",),
    features=features,
)
