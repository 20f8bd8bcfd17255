"""The registered reader: ridge regression on one-hot labels, its scores sharpened into probabilities.

Closed form, so that a baseline's products are computed once for all arms, and all label spaces are
solved together. The stream's block has a scale of its own. Ridge, scale and sharpness are chosen on
the validation clusters by log loss, arm by arm and space by space. Shapes: n rows, b baseline columns,
s stream columns, k buckets.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from engine.contract.errors import BadData
from engine.observe.constants import Linear
from engine.observe.probe.score import Floats, log_loss
from engine.observe.split import Integers

Matrix = NDArray[np.float32]
NO_STREAM = np.zeros((0, 0), dtype=np.float32)


def standardise(columns: Matrix, train: Integers) -> Matrix:
    """Zero mean and unit variance over training rows; constant columns become zero. (N, d)"""
    if not np.isfinite(columns).all():
        raise BadData("a feature", "is not a finite number.", "Harvest again.")
    mean, spread = columns[train].mean(axis=0), columns[train].std(axis=0)
    live = spread > 1e-6
    return np.asarray((columns - mean) * np.where(live, 1 / np.where(live, spread, 1), 0), dtype=np.float32)


@dataclass(frozen=True)
class Labels:
    """Buckets of every row in each space, and how many buckets each space has."""

    buckets: Mapping[str, Integers]
    sizes: Mapping[str, int]

    def one_hot(self, rows: Integers) -> Floats:
        """All spaces side by side. (n, k1 + k2 + …)"""
        return np.concatenate([np.eye(self.sizes[s])[self.buckets[s][rows]] for s in self.buckets], axis=1)

    def columns(self) -> Iterator[tuple[str, slice]]:
        """Where each space stands in `one_hot`."""
        start = 0
        for space in self.buckets:
            yield space, slice(start, start + self.sizes[space])
            start += self.sizes[space]


@dataclass(frozen=True)
class Choice:
    """What validation chose for one space, and the scores of every held-out row. `scores` (m, k)"""

    ridge: float
    scale: float
    sharpness: float
    validation_loss: float
    scores: Floats


@dataclass(frozen=True)
class Rows:
    """Row numbers of each part."""

    train: Integers
    validation: Integers
    held_out: Integers


class Reader:
    """A baseline with its products kept; `fit` adds a stream's block, or none."""

    def __init__(self, baseline: Matrix, labels: Labels, rows: Rows, grid: Linear) -> None:
        self.baseline, self.labels, self.rows, self.grid = baseline, labels, rows, grid
        self.target = labels.one_hot(rows.train)
        self.mean = self.target.mean(axis=0)
        self.target = self.target - self.mean
        train = baseline[rows.train]
        self.own = _product(train, train)
        self.toward = _product(train, self.target.astype(np.float32))

    def fit(self, stream: Matrix = NO_STREAM) -> dict[str, Choice]:
        """The chosen reader of each space with this block (N, s) beside the baseline."""
        if not stream.size:
            return self._choose(self.own, self.toward, self.baseline, None)
        base, block = self.baseline[self.rows.train], stream[self.rows.train]
        across = _product(base, block)
        gram = np.block([[self.own, across], [across.T, _product(block, block)]])
        toward = np.concatenate([self.toward, _product(block, self.target.astype(np.float32))])
        return self._choose(gram, toward, self.baseline, stream)

    def _choose(self, gram: Floats, toward: Floats, base: Matrix, stream: Matrix | None) -> dict[str, Choice]:
        best: dict[str, Choice] = {}
        columns = base if stream is None else np.concatenate([base, stream], axis=1)
        seen, unseen = columns[self.rows.validation], columns[self.rows.held_out]
        for scale in sorted(self.grid.stream_scale) if stream is not None else (1.0,):
            scales = np.ones(len(gram))
            scales[base.shape[1] :] = scale
            scaled = gram * scales[:, None] * scales
            for ridge in sorted(self.grid.ridge, reverse=True):
                weights = _solve(scaled, toward * scales[:, None], ridge * len(self.rows.train))
                weights = (weights * scales[:, None]).astype(np.float32)
                checked = (seen @ weights).astype(np.float64) + self.mean
                for space, at in self.labels.columns():
                    found = self._sharpen(checked[:, at], space)
                    if space not in best or found[1] < best[space].validation_loss:
                        scores = ((unseen @ weights[:, at]).astype(np.float64) + self.mean[at]) * found[0]
                        best[space] = Choice(ridge, scale, found[0], found[1], scores)
        return best

    def _sharpen(self, scores: Floats, space: str) -> tuple[float, float]:
        """The sharpness of least validation loss, and that loss in nats."""
        labels = self.labels.buckets[space][self.rows.validation]
        losses = [float(log_loss(scores * sharp, labels).mean()) for sharp in self.grid.sharpness]
        least = int(np.argmin(losses))
        return self.grid.sharpness[least], losses[least]


def _product(left: Matrix, right: Matrix) -> Floats:
    return (left.T @ right).astype(np.float64)


def _solve(gram: Floats, toward: Floats, ridge: float) -> Floats:
    """(gram + ridge) x = toward, by Cholesky."""
    penalised = torch.from_numpy(gram + ridge * np.eye(len(gram)))
    factor = torch.linalg.cholesky(penalised)
    solved: Floats = torch.cholesky_solve(torch.from_numpy(toward), factor).numpy()
    return solved
