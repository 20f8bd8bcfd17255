"""How many clusters must go before a label changes: all ones, all pairs, then one more at a time.

Values, counts and standard errors of what remains are exact: the total less the rows that went. An
interval's end keeps its distance from the value in standard errors, so that with nothing removed it is
the end of the percentile bootstrap; a set that is found is bootstrapped afresh. No estimate may lose
more than half of its clusters.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from engine.contract.errors import BadData
from engine.critic import rule
from engine.critic.case import Case, Truths
from engine.critic.draws import Floats, Integers

EXHAUSTIVE = 2
"""Removals of up to this many clusters are all tried."""

CHUNK = 2048


@dataclass(frozen=True)
class Fragility:
    """The fewest clusters found whose removal changes a label.

    `clusters` is how many there are; `removed` is None where none was found; `afresh` is the size of the
    first set on the way that also changes it when what remains is bootstrapped again; `tried` is the size
    of the largest set tried; `pair` are the two whose removal leaves the label nearest to changing.
    """

    clusters: int
    removed: frozenset[int] | None
    becomes: str | None
    afresh: int | None
    tried: int
    pair: frozenset[int] | None

    @property
    def exact(self) -> bool:
        """Whether no smaller set does; else the number is an upper bound."""
        return self.removed is not None and len(self.removed) <= EXHAUSTIVE


@dataclass(frozen=True)
class _Scores:
    """Of removals: which change the label, and how far from it each leaves the rules (less is nearer)."""

    changed: Any
    distance: Floats

    @property
    def nearest(self) -> int | None:
        """The removal that goes furthest, of those that can be judged."""
        best = int(np.argmin(self.distance))
        return best if np.isfinite(self.distance[best]) else None


def search(case: Case) -> Fragility:
    """Find a smallest removal that changes the label, exactly up to two clusters, greedily beyond."""
    removed, becomes, afresh = None, None, None
    sets = list(_path(case))
    for gone, changed in sets:
        if changed and removed is None:
            removed, becomes = gone, case.word(case.moved(_array(gone))[0])
        if changed and relabelled(case, gone) not in (None, case.recomputed()):
            afresh = len(gone)
            break
    pair = next((gone for gone, _ in sets if len(gone) == EXHAUSTIVE), None)
    return Fragility(len(case.clusters), removed, becomes, afresh, len(sets), pair)


def _path(case: Case) -> Iterator[tuple[frozenset[int], bool]]:
    """For each size the set that goes furthest, and whether it changes the label."""
    base = case.truths(case.again())
    clusters, current = np.array(case.clusters, dtype=np.int64), np.empty(0, dtype=np.int64)
    for size in range(1, len(clusters)):
        found = _best(case, base, _sets(clusters, size, current))
        if found is None:
            return
        current, changed = found
        yield frozenset(current.tolist()), changed


def _sets(clusters: Integers, size: int, current: Integers) -> Iterator[Integers]:
    """Candidate removals in pieces, (B, size)."""
    if size == 1:
        sets = clusters[:, None]
    elif size == EXHAUSTIVE:
        sets = clusters[np.stack(np.triu_indices(len(clusters), 1), axis=1)]
    else:
        others = clusters[~np.isin(clusters, current)]
        sets = np.hstack([np.repeat(current[None, :], len(others), axis=0), others[:, None]])
    for start in range(0, len(sets), CHUNK):
        yield sets[start : start + CHUNK]


def _best(case: Case, base: Truths, pieces: Iterator[Integers]) -> tuple[Integers, bool] | None:
    """The set that goes furthest, of those that change the label where any does."""
    best: tuple[bool, float, Integers] | None = None
    for sets in pieces:
        scores = _score(case, base, sets)
        at = scores.nearest
        if at is None:
            continue
        if scores.changed.any():
            at = int(np.argmin(np.where(scores.changed, scores.distance, np.inf)))
        ranked = (not scores.changed[at], float(scores.distance[at]), sets[at])
        if best is None or ranked[:2] < best[:2]:
            best = ranked
    return None if best is None else (best[2], not best[0])


def _score(case: Case, base: Truths, sets: Integers) -> _Scores:
    lookup, judged = case.moved(sets)
    truths, origin = case.truths(lookup), case.again()
    held = {name: bool(np.all(truth)) for name, truth in base.items()}
    changed, distance = np.zeros(len(sets), dtype=np.bool_), np.full(len(sets), np.inf)
    for name in case.label.decisive(held):
        with np.errstate(divide="ignore", invalid="ignore"):
            far = rule.margin(case.label.rules[name], lookup, origin)
        judged = judged & np.isfinite(far)
        changed |= np.broadcast_to(truths[name], len(sets)) != held[name]
        distance = np.minimum(distance, far if held[name] else -far)
    return _Scores(changed & judged, np.where(judged, distance, np.inf))


def _array(removed: frozenset[int]) -> Integers:
    return np.array([sorted(removed)], dtype=np.int64)


def relabelled(case: Case, removed: frozenset[int]) -> str | None:
    """The label by a bootstrap of what remains, None where too little does."""
    try:
        return case.rest(removed).recomputed()
    except BadData:
        return None
