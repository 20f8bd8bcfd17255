"""The first mechanism: what a linear map reads from the stream is added to the draft's logits.

The map ends in a low-rank basis, the leading directions of the gap between target and draft logits, so
that a narrow sideband could carry its output. Shapes: n rows, H tokens that the draft can name, r directions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from engine.contract.errors import BadData
from engine.observe.conversion import Floats, Heads, Passage, Rows, kept, log_law, mean_run
from engine.stats.ridge import Linear, Moments


@dataclass(frozen=True)
class Basis:
    """Leading directions of target minus draft logits, over the tokens that the draft can name."""

    directions: Floats  # (H, r), orthonormal
    reading: Floats  # (r, widths of both states)

    def coefficients(self, passage: Passage) -> Floats:
        """Where the gap at each position lies in the basis. (n, r)"""
        out: Floats = _states(passage) @ self.reading.T
        return out


def basis(heads: Heads, passages: Sequence[Passage], rank: int) -> Basis:
    """The `rank` directions of largest spread of the gap over all positions of `passages`.

    The gap is linear in both states together, so its directions follow from their second moments and never
    need the (n, H) table of logits. Logits count only up to a constant, so each head is centred first.
    """
    head = np.concatenate(
        [heads.target - heads.target.mean(axis=0), heads.draft.mean(axis=0) - heads.draft], axis=1
    )
    states = np.concatenate([_states(passage) for passage in passages])
    spread, turn = np.linalg.eigh(states.T @ states / len(states))
    root = turn * np.sqrt(np.maximum(spread, 0.0))  # root root' is the states' second moment
    values, vectors = np.linalg.eigh(root.T @ (head.T @ head) @ root)
    chosen = np.argsort(-values, kind="stable")[:rank]
    if rank > len(values) or values[chosen[-1]] <= values[chosen[0]] * 1e-12:
        raise BadData(
            f"a basis of {rank} directions", "is wider than the gap it spans.", "Take fewer directions."
        )
    directions = head @ root @ vectors[:, chosen] / np.sqrt(values[chosen])
    return Basis(directions, directions.T @ head)


def _states(passage: Passage) -> Floats:
    return np.concatenate([passage.target_states, passage.draft_states], axis=1)


@dataclass(frozen=True)
class Bias:
    """A fitted map, one an offset, and how much of it is used."""

    basis: Basis
    maps: tuple[Linear, ...]
    scale: float
    penalty: float

    def chance(self, passage: Passage, logits: Floats, offset: int) -> Floats:
        """See `conversion.Fitted`."""
        at = passage.steered(offset)
        shifted = logits + self.shift(passage.rows[offset], offset)
        return kept(log_law(shifted, passage.named[at]), passage.log_probability[at])

    def shift(self, rows: Rows, offset: int) -> Floats:
        """What the stream adds to the draft's logits. (m, d) → (m, H)"""
        out: Floats = (self.scale * self.maps[offset](rows)) @ self.basis.directions.T
        return out


@dataclass(frozen=True)
class BiasGrid:
    """What is chosen on validation passages."""

    rank: int
    penalties: tuple[float, ...]
    scales: tuple[float, ...]

    def fit(self, heads: Heads, training: Sequence[Passage], validation: Sequence[Passage]) -> Bias:
        """The map of the longest expected run on `validation`, the first of equals."""
        found = basis(heads, training, self.rank)
        moments = [self._moments(found, training, j) for j in range(len(training[0].rows))]
        best, longest = None, -np.inf
        for penalty in self.penalties:
            maps = tuple(each.fit(penalty) for each in moments)
            for scale in self.scales:
                tried = Bias(found, maps, scale, penalty)
                run = mean_run(validation, heads, tried)
                if run > longest:
                    best, longest = tried, run
        if best is None:
            raise BadData("the grid", "gives no finite run.", "Look for NaN in the harvest.")
        return best

    def _moments(self, found: Basis, training: Sequence[Passage], offset: int) -> Moments:
        rows = np.concatenate([each.rows[offset] for each in training])
        wanted = np.concatenate([found.coefficients(each)[each.steered(offset)] for each in training])
        return Moments(rows, wanted)
