"""Scores of a reader by cluster: whole hits, and log loss in whole parts of a bit."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.observe.split import Integers

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Score:
    """What a reader got right, and what it cost, for each cluster. (G,) each"""

    hits: Integers
    loss: Integers


def log_loss(scores: Floats, labels: Integers) -> Floats:
    """Nats at each row under softmax of `scores` (N, k), stable for any finite scores. (N,)"""
    top = scores.max(axis=1)
    rest = np.log(np.exp(scores - top[:, None]).sum(axis=1))
    return np.asarray(top + rest - scores[np.arange(len(labels)), labels])


def by_cluster(scores: Floats, labels: Integers, clusters: Integers, order: Integers, scale: int) -> Score:
    """Hits and loss (in `scale` parts of a bit) of each cluster of `order`. Ties go to the lower label."""
    place = np.searchsorted(order, clusters)
    right = scores.argmax(axis=1) == labels
    bits = log_loss(scores, labels) / np.log(2)
    hits = np.bincount(place, weights=right, minlength=len(order))
    loss = np.bincount(place, weights=bits, minlength=len(order))
    return Score(hits.astype(np.int64), np.rint(scale * loss).astype(np.int64))
