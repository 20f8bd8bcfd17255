"""Where a token stands in a model's ranking, and which token stands at a place.

The ranking is by value, the larger first; equal values are ordered by token id, the smaller first. A margin
is the gap in logits to the nearer neighbour in that order: how far values may move before the rank does.
Shapes: B rows, V vocabulary.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.contract.errors import BadData

Logits = NDArray[np.float32]
Integers = NDArray[np.int64]

MARGIN_CLASSES = 16
MARGIN_UNIT = 2.0**-12
"""Class 0 holds margins below this, class k those from 2^(k-1) of it, the last all that are larger."""


@dataclass(frozen=True)
class Ranked:
    """Of one token a row: its rank from 0, (B,), and its margin in logits, (B,).

    A token of value minus infinity is out of the ranking: its rank is -1 and its margin 0.
    """

    ranks: Integers
    margins: NDArray[np.float32]


def ranked(logits: Logits, tokens: Integers) -> Ranked:
    """Ranks and margins of `tokens` (B,) under `logits` (B, V); `BadData` where a logit is not a number."""
    _refuse_nan(logits)
    value = logits[np.arange(len(tokens)), tokens][:, None]
    above, equal = logits > value, logits == value
    before = equal & (np.arange(logits.shape[1]) < tokens[:, None])
    ranks = above.sum(axis=1) + before.sum(axis=1)
    inside = np.isfinite(value[:, 0])
    return Ranked(np.where(inside, ranks, -1), np.where(inside, _margins(logits, value, above, equal), 0))


def _margins(
    logits: Logits, value: Logits, above: NDArray[np.bool_], equal: NDArray[np.bool_]
) -> NDArray[np.float32]:
    infinity = np.float32(np.inf)
    next_above = np.where(above, logits, infinity).min(axis=1)
    next_below = np.where(above | equal, -infinity, logits).max(axis=1)
    with np.errstate(invalid="ignore"):
        gap = np.minimum(next_above - value[:, 0], value[:, 0] - next_below)
    tied = equal.sum(axis=1) > 1
    return np.where(tied, np.float32(0), gap).astype(np.float32)


def tokens_at(logits: Logits, ranks: Integers) -> Integers:
    """The token at each rank (B,), from 0, under `logits` (B, V); `BadData` where a logit is not a number."""
    _refuse_nan(logits)
    tokens: Integers = logits.argmax(axis=1).astype(np.int64)  # the first of the largest
    for row in np.flatnonzero(ranks > 0):
        tokens[row] = _token_at(logits[row], int(ranks[row]))
    return tokens


def _token_at(logits: Logits, rank: int) -> int:
    if rank >= logits.size:
        problem = f"is beyond the {logits.size} tokens of the model."
        raise BadData(f"rank {rank}", problem, "Unpack it with the model that packed it.")
    place = logits.size - 1 - rank
    value = np.partition(logits, place)[place]
    ahead = int((logits > value).sum())
    return int(np.flatnonzero(logits == value)[rank - ahead])


def first_places(logits: Logits, places: int) -> Integers:
    """The tokens at ranks 0 … places - 1 of one row (V,); `BadData` where a logit is not a number."""
    _refuse_nan(logits)
    place = max(logits.size - places, 0)
    near = np.flatnonzero(logits >= np.partition(logits, place)[place])
    order: Integers = near[np.argsort(-logits[near], kind="stable")][:places]
    return order


def margin_classes(margins: NDArray[np.float32]) -> Integers:
    """Margins as whole numbers 0 … 15, by powers of two."""
    with np.errstate(divide="ignore"):
        power = np.floor(np.log2(margins.astype(np.float64) / MARGIN_UNIT)) + 1
    classes: Integers = np.clip(power, 0, MARGIN_CLASSES - 1).astype(np.int64)
    return classes


def _refuse_nan(logits: Logits) -> None:
    if np.isnan(logits).any():
        raise BadData("logits", "hold what is not a number.", "The model, or its arithmetic, is broken here.")
