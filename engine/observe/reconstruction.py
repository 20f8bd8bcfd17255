"""From a stream to the target's final hidden state, and from its next-token law to the same state.

The first is a ridge map over a free baseline; the second is plain algebra: log-probabilities are the output
head times the state, less one constant a position, so least squares gives both back wherever the head has
full column rank. Shapes: n rows, d columns, V vocabulary, w width of the state.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.contract.errors import BadData
from engine.observe.conversion import Floats, Integers, Rows
from engine.stats.ridge import Linear, Matrix, Moments


@dataclass(frozen=True)
class Parts:
    """Row numbers of each part."""

    fit: Integers
    choose: Integers
    test: Integers


@dataclass(frozen=True)
class Rebuilt:
    """A fitted map on the test rows."""

    error: Floats  # (test,) squared distance from the true state
    leverage: Floats  # (choose + test,) under the chosen penalty, in that order
    penalty: float


def parts_of(clusters: Integers, fit: Integers, choose: Integers, test: Integers) -> Parts:
    """Rows of each part; `BadData` where a cluster stands in two."""
    every = np.concatenate([fit, choose, test])
    if len(np.unique(every)) != len(every):
        raise BadData("a cluster", "stands in two parts of the split.", "A prompt belongs to one part only.")
    return Parts(*(np.flatnonzero(np.isin(clusters, part)) for part in (fit, choose, test)))


def rebuild(blocks: Sequence[Rows], states: Floats, parts: Parts, penalties: Sequence[float]) -> Rebuilt:
    """Fit states (n, w) on the blocks' columns, (n, d) each; the penalty is chosen on the choosing rows."""
    rows = standardised(np.concatenate(blocks, axis=1), parts.fit)
    moments = Moments(rows[parts.fit], states[parts.fit])
    fits = [(penalty, moments.fit(penalty)) for penalty in penalties]
    errors = [squared(made, rows[parts.choose], states[parts.choose]).sum() for _, made in fits]
    penalty, best = fits[int(np.argmin(errors))]
    seen = np.concatenate([parts.choose, parts.test])
    return Rebuilt(
        error=squared(best, rows[parts.test], states[parts.test]),
        leverage=moments.leverage(rows[seen], penalty),
        penalty=penalty,
    )


def standardised(columns: Rows, fit: Integers) -> Rows:
    """Columns with mean zero and variance one on the fitting rows; constant ones become zero. (n, d)"""
    mean = columns[fit].mean(axis=0, dtype=np.float64)
    spread = columns[fit].std(axis=0, dtype=np.float64)
    return np.asarray((columns - mean) / np.where(spread > 0.0, spread, np.inf), dtype=np.float32)


def squared(made: Linear, rows: Matrix, states: Floats) -> Floats:
    """Squared length of what a map leaves of each state. (n,)"""
    out: Floats = ((made(rows) - states) ** 2).sum(axis=1)
    return out


def by_cluster(values: Floats, clusters: Integers, order: Integers) -> Floats:
    """Sums of row values over each cluster, in the order given."""
    return np.array([values[clusters == cluster].sum() for cluster in order])


@dataclass(frozen=True)
class Support:
    """Which test prompts lie outside what the fit has seen."""

    outside: NDArray[np.bool_]  # (test clusters,)
    worst: Integers  # their numbers, farthest first
    expected: float
    """How many would lie outside if test prompts were drawn as the choosing ones were."""


def support(leverage: Floats, clusters: Integers, choose: Integers, test: Integers, worst: int) -> Support:
    """The stated test: a prompt is outside where its mean leverage is above every choosing prompt's.

    `leverage` and `clusters` are of the choosing and the test rows.
    """
    mean = {int(c): float(leverage[clusters == c].mean()) for c in (*choose, *test)}
    bound = max(mean[int(c)] for c in choose)
    distance = np.array([mean[int(c)] for c in test])
    farthest = np.argsort(-distance, kind="stable")[:worst]
    return Support(distance > bound, test[farthest], len(test) / (len(choose) + 1))


@dataclass(frozen=True)
class Recovered:
    """States that follow from next-token log-probabilities."""

    states: Floats  # (n, w)
    constants: Floats  # (n,) the softmax constant of each position, nats
    rank: int
    unknowns: int


def recover(head: Floats, log_probability: Floats) -> Recovered:
    """Least squares through the output head: log-probabilities (n, V) = states head' - constant.

    `head` (V, w) holds the rows of the same tokens. Where the rank is below the unknowns, the shortest
    solution is given, and is not the state.
    """
    system = np.concatenate([head, -np.ones((len(head), 1))], axis=1)
    found, _, rank, _ = np.linalg.lstsq(system, log_probability.T, rcond=None)
    return Recovered(found[:-1].T, found[-1], int(rank), system.shape[1])


def rounded(values: Floats, precision: str) -> Floats:
    """Values as they come out of a store of another precision, back in double."""
    return values.astype(np.dtype(precision)).astype(np.float64)
