"""A synthetic world in which what a stream tells, and what that is worth, is known in closed form.

Some contexts leave two continuations open, equally likely; a hidden bit decides. A stream of symbols tells
that bit at a dialled share of the positions and is noise at the others. The baseline is dialled by the share
of positions that lie in open contexts. A reader learns from tables of counts; a draft is steered by the same
symbols through the exact verifier. Positions are independent given their cluster, and clusters differ in how
many of their positions are open. Shapes: G clusters, n positions, k draft tokens, V tokens.

What it leaves out: a stream that whispers everywhere, whose reader has to learn from many weak symbols; and
text in which one token bears on the next.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from engine.contract.errors import BadData
from engine.contract.seeds import Stream
from engine.decode.verifier import Draws, Probabilities, Proposal, draw, verify

Integers = NDArray[np.int64]
TOKENS = 8
OPEN = 2
"""The first contexts are open, the others are closed; there are as many contexts as tokens."""
TELLING = 2
"""Symbols 0 and 1 tell the hidden bit; the others are noise."""
NOISE = 4
SPREAD = (0.5, 1.5)
"""Half of the clusters have this share of the open positions, half that one."""


@dataclass(frozen=True)
class World:
    """The dials. Raises `BadData` for a share outside 0 … 1 or one that its clusters cannot have."""

    telling: float
    """Share of positions whose symbol tells the hidden bit."""
    open_share: float = 0.1
    """Share of positions that the baseline leaves open."""
    certainty: float = 0.7
    """Probability of the likeliest token, given context and hidden bit."""
    blur: float = 0.3
    """Share of a uniform law in the draft's law: how far it is from the target apart from the bit."""

    def __post_init__(self) -> None:
        shares = (self.telling, self.open_share * SPREAD[1], self.certainty, self.blur)
        if not all(0.0 <= share <= 1.0 for share in shares) or self.certainty * TOKENS <= 1.0:
            raise BadData(f"dials {shares}", "make no world.", "Give shares in 0 … 1.")

    @classmethod
    def with_margin(cls, margin: float) -> World:
        """The world whose stream is worth this much top-1 accuracy to the best reader."""
        return cls(telling=margin / cls(telling=1.0).margin)

    @cached_property
    def target(self) -> Probabilities:
        """The target's law by context and hidden bit, (V, 2, V)."""
        rest = (1.0 - self.certainty) / (TOKENS - 1)
        law = np.full((TOKENS, 2, TOKENS), rest)
        for context in range(TOKENS):
            for bit in range(2):
                law[context, bit, 2 * context + bit if context < OPEN else context] = self.certainty
        return law

    @cached_property
    def draft(self) -> Probabilities:
        """The draft's law by context and what is known: bit 0, bit 1, nothing. (V, 3, V)"""
        known = np.concatenate([self.target, self.target.mean(axis=1, keepdims=True)], axis=1)
        return (1.0 - self.blur) * known + self.blur / TOKENS

    @property
    def margin(self) -> float:
        """Top-1 accuracy of the best reader of context and stream, minus that of context alone."""
        rest = (1.0 - self.certainty) / (TOKENS - 1)
        return self.open_share * self.telling * (self.certainty - rest) / 2.0

    def acceptance(self, open_share: float, *, steered: bool) -> float:
        """Probability that one draft token stands, in a cluster with this share of open positions."""
        stands = np.minimum(self.target[:, :, None], self.draft[:, None]).sum(axis=-1)  # (V, bit, known)
        closed, unknown = stands[OPEN:, 0, 0].mean(), stands[:OPEN, :, 2].mean()
        told = (stands[:OPEN, 0, 0].mean() + stands[:OPEN, 1, 1].mean()) / 2.0
        share = self.telling if steered else 0.0
        return float((1.0 - open_share) * closed + open_share * (share * told + (1.0 - share) * unknown))

    def tokens(self, length: int, *, steered: bool) -> float:
        """Expected tokens a check at this draft length, over clusters."""
        rates = [self.acceptance(self.open_share * each, steered=steered) for each in SPREAD]
        return sum(rate**k for rate in rates for k in range(length + 1)) / len(rates)

    def gain(self, length: int) -> float:
        """Expected tokens a check that steering adds."""
        return self.tokens(length, steered=True) - self.tokens(length, steered=False)


@dataclass(frozen=True)
class Harvest:
    """Positions of every cluster, (G, n) each: context, hidden bit, symbol, the target's token."""

    context: Integers
    bit: Integers
    symbol: Integers
    token: Integers


def open_shares(world: World, clusters: int) -> NDArray[np.float64]:
    """The share of open positions of each cluster, in turn low and high. (G,)"""
    return world.open_share * np.resize(np.array(SPREAD), clusters)


def harvest(world: World, clusters: int, positions: int, stream: Stream) -> Harvest:
    """Fresh positions of `clusters` clusters."""
    shape = (clusters, positions)
    kind, place, hidden, tells, noise, chosen = (
        stream.uniform(clusters * positions).reshape(shape) for _ in range(6)
    )
    is_open = kind < open_shares(world, clusters)[:, None]
    context = np.where(is_open, place * OPEN, OPEN + place * (TOKENS - OPEN)).astype(np.int64)
    bit = (hidden < 0.5).astype(np.int64)
    symbol = np.where(tells < world.telling, bit, TELLING + (noise * NOISE).astype(np.int64))
    return Harvest(context, bit, symbol, _drawn(world.target[context, bit], chosen))


def _drawn(law: Probabilities, uniform: NDArray[np.float64]) -> Integers:
    """The token where the cumulative law (…, V) passes `uniform` (…)."""
    passed = np.cumsum(law, axis=-1)[..., :-1] <= uniform[..., None]
    return np.asarray(passed.sum(axis=-1), dtype=np.int64)


def read(train: Harvest, held_out: Harvest, stream: Stream) -> tuple[Integers, Integers]:
    """Hits a cluster of a reader of context and stream, and of its twin whose symbols are scrambled. (G,)"""
    plain = _hits(train, held_out, train.symbol, held_out.symbol)
    twin = (_scrambled(each.symbol, stream) for each in (train, held_out))
    return plain, _hits(train, held_out, *twin)


def _scrambled(symbol: Integers, stream: Stream) -> Integers:
    return symbol.ravel()[stream.permutation(symbol.size)].reshape(symbol.shape)


def _hits(train: Harvest, held_out: Harvest, learnt: Integers, shown: Integers) -> Integers:
    symbols = TELLING + NOISE
    cell = (train.context * symbols + learnt) * TOKENS + train.token
    counts = np.bincount(cell.ravel(), minlength=TOKENS * symbols * TOKENS).reshape(TOKENS, symbols, TOKENS)
    general = counts.sum(axis=1, keepdims=True)
    best = (counts * (general.sum() + 1) + general).argmax(axis=-1)  # ties by what the context says alone
    return np.asarray((best[held_out.context, shown] == held_out.token).sum(axis=1), dtype=np.int64)


@dataclass(frozen=True)
class Rounds:
    """Places of every round, (G, rounds, k) each: the positions, and draws for drafting and accepting."""

    place: Harvest
    draft: NDArray[np.float64]
    accept: NDArray[np.float64]

    @classmethod
    def drawn(cls, world: World, clusters: int, rounds: int, length: int, stream: Stream) -> Rounds:
        """Fresh rounds."""
        shape, size = (clusters, rounds, length), clusters * rounds * length
        flat = harvest(world, clusters, rounds * length, stream)
        parts = (each.reshape(shape) for each in (flat.context, flat.bit, flat.symbol, flat.token))
        return cls(Harvest(*parts), stream.uniform(size).reshape(shape), stream.uniform(size).reshape(shape))

    def known(self, *, steered: bool) -> Integers:
        """What the draft knows at each place: the bit where it is told, else nothing."""
        symbol = self.place.symbol
        return np.where(symbol < TELLING, symbol, 2) if steered else np.full(symbol.shape, 2)


def emitted(world: World, rounds: Rounds, *, steered: bool) -> Integers:
    """Tokens of every round, (G, rounds): the accept rule of the verifier, for all rounds at once."""
    place = rounds.place
    proposed = world.draft[place.context, rounds.known(steered=steered)]
    token = _drawn(proposed, rounds.draft)[..., None]
    target = np.take_along_axis(world.target[place.context, place.bit], token, axis=-1)[..., 0]
    stands = rounds.accept < target / np.take_along_axis(proposed, token, axis=-1)[..., 0]
    return np.asarray(1 + np.cumprod(stands, axis=-1).sum(axis=-1), dtype=np.int64)


def emitted_live(world: World, rounds: Rounds, draws: Draws, *, steered: bool) -> Integers:
    """Tokens a cluster, (G,), of rounds judged one by one by `engine.decode.verifier`, with its draws."""
    known = rounds.known(steered=steered)
    totals = np.zeros(len(known), dtype=np.int64)
    last = world.target[-1, 0][None]
    for cluster, turn in np.ndindex(known.shape[:2]):
        context, bit = rounds.place.context[cluster, turn], rounds.place.bit[cluster, turn]
        proposed = world.draft[context, known[cluster, turn]]
        uniform = draws.draft.uniform(len(proposed))
        tokens = tuple(draw(law, each) for law, each in zip(proposed, uniform, strict=True))
        target = np.concatenate([world.target[context, bit], last])
        totals[cluster] += 1 + verify(Proposal(tokens, proposed), target, draws).accepted
    return totals
