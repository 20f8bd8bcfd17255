"""Which experts to keep ready for the next forward: caches, a predictor, and what each moves.

A trace is who was needed: (T, layers, experts) of booleans, one text. A policy says who is ready before each
forward from what came before it (`answer` and Belady look ahead, as bounds). Every layer has its own slots.
Sources: Belady 1966 for the bound; Eliseev and Mazur 2023 for experts in a most-recent cache.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.contract.errors import BadData
from engine.observe.conversion import Floats, Integers
from engine.stats.ridge import Linear, Moments

Needed = NDArray[np.bool_]  # (T, layers, experts)
NEVER = 10**6


@dataclass(frozen=True)
class Count:
    """Sums over the forwards of one text, from the second on, and over layers."""

    needed: int
    hits: int
    issued: int = 0
    """Experts fetched ahead of a forward."""
    useful: int = 0
    """Those of them that it needed."""
    evicted: int = 0
    """Needed experts that were missing because a prefetch had taken their slot."""
    moved: int = 0
    """Experts brought in, ahead or on demand."""


def top(scores: Floats, count: int) -> Needed:
    """The `count` best-scored experts in each layer, ties to the lower number. (…, experts) → the same."""
    order = np.argsort(-scores, axis=-1, kind="stable")[..., :count]
    out = np.zeros(scores.shape, dtype=bool)
    np.put_along_axis(out, order, True, axis=-1)
    return out


def recency(needed: Needed) -> Floats:
    """Before each forward, how lately each expert was needed: its last forward, -NEVER for none. (T, L, E)"""
    times = np.arange(1, len(needed) + 1)[:, None, None]
    last = np.maximum.accumulate(np.where(needed, times, -NEVER), axis=0)
    return np.concatenate([np.full((1, *needed.shape[1:]), -NEVER), last[:-1]]).astype(np.float64)


def frequency(needed: Needed) -> Floats:
    """Before each forward, how often each expert was needed in this text. (T, L, E)"""
    seen = np.cumsum(needed, axis=0)
    return np.concatenate([np.zeros((1, *needed.shape[1:])), seen[:-1]]).astype(np.float64)


def next_use(needed: Needed) -> Floats:
    """At each forward, when each expert is needed next, from this forward on, or NEVER. (T, L, E)"""
    times = np.where(needed, np.arange(len(needed))[:, None, None], NEVER)
    return np.minimum.accumulate(times[::-1], axis=0)[::-1].astype(np.float64)


def on_demand(needed: Needed, slots: int, keep: Callable[[int], Floats]) -> Count:
    """A cache that fetches what is missing and drops the experts of lowest `keep(t)` (layers, experts) score.

    All of a forward's experts are held while it runs.
    """
    _fits(needed, slots)
    held = np.zeros(needed.shape[1:], dtype=bool)
    hits = moved = 0
    for t, wanted in enumerate(needed):
        if t:
            hits += int((held & wanted).sum())
            moved += int((wanted & ~held).sum())
        held = _best(held | wanted, keep(t), slots, always=wanted)
    return Count(int(needed[1:].sum()), hits, moved=moved)


def recent(needed: Needed, slots: int) -> Count:
    """The most recent experts are kept (LRU)."""
    after = np.concatenate([recency(needed)[1:], recency(np.concatenate([needed, needed[-1:]]))[-1:]])
    return on_demand(needed, slots, lambda t: after[t])


def frequent(needed: Needed, slots: int) -> Count:
    """The experts most often needed in this text so far are kept (LFU)."""
    after = np.cumsum(needed, axis=0).astype(np.float64)
    return on_demand(needed, slots, lambda t: after[t])


def belady(needed: Needed, slots: int) -> Count:
    """The experts needed soonest are kept: no cache without prefetch hits more."""
    later = np.concatenate([next_use(needed)[1:], np.full((1, *needed.shape[1:]), NEVER)])
    return on_demand(needed, slots, lambda t: -later[t])


def ready(needed: Needed, scores: Floats, slots: int) -> Count:
    """The experts of highest score are made ready before each forward. Scores (T, layers, experts)."""
    _fits(needed, slots)
    chosen = top(scores, slots)
    held = needed[0].copy()
    total = Count(int(needed[1:].sum()), 0)
    hits = issued = useful = moved = evicted = 0
    own = recency(needed)
    for t in range(1, len(needed)):
        wanted = needed[t]
        fetched = chosen[t] & ~held
        kept = _best(held, own[t], slots, always=np.zeros_like(held))
        hits += int((chosen[t] & wanted).sum())
        issued += int(fetched.sum())
        useful += int((fetched & wanted).sum())
        evicted += int((kept & wanted & ~chosen[t]).sum())
        moved += int((wanted & ~chosen[t]).sum())
        held = chosen[t] | wanted
    return Count(total.needed, hits, issued, useful, evicted, moved + issued)


def recent_and_ready(needed: Needed, scores: Floats, slots: int, extra: int) -> Count:
    """A most-recent cache, and beside it `extra` slots a layer for predicted experts that it lacks."""
    _fits(needed, slots)
    held = needed[0].copy()
    hits = issued = useful = moved = 0
    own = recency(np.concatenate([needed, needed[-1:]]))
    for t in range(1, len(needed)):
        wanted = needed[t]
        fetched = top(np.where(held, -np.inf, scores[t]), extra) & ~held
        hits += int(((held | fetched) & wanted).sum())
        issued += int(fetched.sum())
        useful += int((fetched & wanted).sum())
        moved += int((wanted & ~held & ~fetched).sum())
        held = _best(held | wanted, own[t + 1], slots, always=wanted)
    return Count(int(needed[1:].sum()), hits, issued, useful, 0, moved + issued)


def _best(held: Needed, score: Floats, slots: int, *, always: Needed) -> Needed:
    """Of the held experts the `slots` of highest score, those of `always` before all others."""
    ranked = np.where(always, np.inf, np.where(held, score, -np.inf))
    return top(ranked, slots) & held


def _fits(needed: Needed, slots: int) -> None:
    most = int(needed.sum(axis=-1).max()) if needed.size else 0
    if most > slots or slots > needed.shape[-1]:
        raise BadData(
            f"{slots} slots", f"for {most} of {needed.shape[-1]} experts a forward.", "Keep as many or more."
        )


@dataclass(frozen=True)
class Text:
    """One text of a harvest: who was needed, the tokens read, and the states before each forward."""

    cluster: int
    needed: Needed
    tokens: Integers  # (T,) the token that each forward reads
    states: NDArray[np.float32]  # (T, width) the final state of each forward


class TokenTable:
    """How often training text needed each expert when it read a token, pulled towards the layer's mean."""

    def __init__(self, texts: Sequence[Text], smoothing: float) -> None:
        tokens = np.concatenate([text.tokens for text in texts])
        needed = np.concatenate([text.needed for text in texts])
        self.mean = needed.mean(axis=0, dtype=np.float64)
        self.known, place = np.unique(tokens, return_inverse=True)
        counts = np.bincount(place).astype(np.float64)
        sums = np.zeros((len(self.known), *needed.shape[1:]))
        np.add.at(sums, place, needed)
        self.rates = (sums + smoothing * self.mean) / (counts + smoothing)[:, None, None]

    def __call__(self, tokens: Integers) -> Floats:
        """Expected need of every expert at tokens, (T,) → (T, layers, experts)."""
        place = np.minimum(np.searchsorted(self.known, tokens), len(self.known) - 1)
        found = (self.known[place] == tokens)[:, None, None]
        return np.asarray(np.where(found, self.rates[place], self.mean), dtype=np.float64)


def history(text: Text, layer: int, decays: Sequence[float]) -> Floats:
    """What a layer's predictor sees of the routing before each forward, (T, columns).

    The last forward's experts of this and both neighbouring layers, and running means of this layer's.
    """
    layers = text.needed.shape[1]
    near = [text.needed[:, at] for at in (layer - 1, layer, layer + 1) if 0 <= at < layers]
    parts = [before(each.astype(np.float64)) for each in near]
    for decay in decays:
        running, means = np.zeros(text.needed.shape[2]), []
        for needed in text.needed[:, layer]:
            means.append(running)
            running = decay * running + (1.0 - decay) * needed
        parts.append(np.array(means))
    return np.concatenate(parts, axis=1)


def before(values: NDArray[np.floating]) -> NDArray[np.floating]:
    """Values moved one forward on, zero at the first. (T, …)"""
    return np.concatenate([np.zeros_like(values[:1]), values[:-1]])


Columns = Callable[[Text, int], Floats]


def predictor(
    fit: Sequence[Text], choose: Sequence[Text], columns: Columns, penalties: Sequence[float], kept: int
) -> list[Linear]:
    """A ridge a layer from columns to need; its penalty keeps most of what the choosing texts needed ready.

    A penalty is in rows: on columns of variance one it weighs as much as that many of them.
    """
    out = []
    for layer in range(fit[0].needed.shape[1]):
        rows = np.concatenate([columns(text, layer)[1:] for text in fit])
        spread = rows.std(axis=0)
        spread[spread == 0.0] = 1.0
        wanted = np.concatenate([text.needed[1:, layer] for text in fit]).astype(np.float64)
        moments = Moments(rows / spread, wanted)
        judged = [(columns(text, layer)[1:], text.needed[1:, layer]) for text in choose]
        fits = [widened(moments.fit(penalty / len(rows)), spread) for penalty in penalties]
        hits = [sum(int((top(one(x), kept) & y).sum()) for x, y in judged) for one in fits]
        out.append(fits[int(np.argmax(hits))])
    return out


def widened(made: Linear, spread: Floats) -> Linear:
    """A map fitted on columns divided by `spread` (d,), as a map on the columns themselves."""
    return Linear(made.weights / spread[:, None], made.centre * spread, made.mean)


def scores(text: Text, maps: Sequence[Linear], columns: Columns) -> Floats:
    """Predicted need of every expert before each forward. (T, layers, experts)"""
    return np.stack([one(columns(text, layer)) for layer, one in enumerate(maps)], axis=1)
