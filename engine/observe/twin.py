"""Scrambled twins: the same rows of a stream, each standing where another prompt's belongs.

A twin has the size and the marginal law of the stream and no link to the text. Rows never leave
their part of the split, and none is taken from its own prompt.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engine.contract.errors import BadData
from engine.contract.seeds import Stream
from engine.observe.split import Integers

ROUNDS = 200
CHANCE_MARGIN = 0.05
"""How far rows may agree with the original beyond what their frequencies give."""


def twin(clusters: Integers, parts: Integers, root: int, name: str) -> Integers:
    """For each row, the row to take in its place: a permutation inside each part. (N,)"""
    out = np.arange(len(clusters))
    for part in np.unique(parts):
        rows = np.flatnonzero(parts == part)
        out[rows] = rows[_elsewhere(clusters[rows], Stream(root, f"{name}/part-{part}"))]
    return out


def _elsewhere(clusters: Integers, stream: Stream) -> Integers:
    """A random permutation in which no row comes from its own cluster."""
    order = stream.permutation(len(clusters))
    for _ in range(ROUNDS):
        stuck = np.flatnonzero(clusters[order] == clusters)
        if len(stuck) == 0:
            return order
        partners = stream.below(len(clusters), len(stuck))
        for row, other in zip(stuck, partners, strict=True):
            order[row], order[other] = order[other], order[row]
    raise BadData("a part of the split", "holds too few prompts to scramble.", "Harvest more prompts.")


def check_scrambled(
    taken: Integers, clusters: Integers, parts: Integers, stream: NDArray[np.float32]
) -> None:
    """Refuse a twin that keeps a link: rows of their own prompt, of another part, or left as they were."""
    if (clusters[taken] == clusters).any():
        row = int(np.argmax(clusters[taken] == clusters))
        raise BadData(f"twin row {row}", "is taken from its own prompt.", "Scramble it across prompts.")
    if (parts[taken] != parts).any() or len(np.unique(taken)) != len(taken):
        raise BadData("the twin", "is no permutation inside each part of the split.", "Scramble it again.")
    agree = float((stream[taken] == stream).all(axis=1).mean())
    _, counts = np.unique(stream, axis=0, return_counts=True)
    chance = float(((counts / len(stream)) ** 2).sum())
    if agree > chance + CHANCE_MARGIN:
        raise BadData(
            "the twin", f"equals the stream in {agree:.0%} of rows, by chance {chance:.0%}.", "Scramble it."
        )
