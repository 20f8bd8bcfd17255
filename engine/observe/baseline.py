"""What the decoder holds anyway at a checked position: the free baselines a stream is measured against."""

from __future__ import annotations

import hashlib
from functools import cache

import numpy as np

from engine.observe.constants import Sideband
from engine.observe.streams.stream import Arrays, Features

NEEDS = ("summary", "top_ids", "top_log_probability", "hidden")


def partial(arrays: Arrays, constants: Sideband) -> Features:
    """A summary of the target's next-token distribution. (N, 12)"""
    return np.asarray(arrays["summary"], dtype=np.float32)


def full(arrays: Arrays, constants: Sideband) -> Features:
    """The summary, the likeliest ids and the target's last hidden state. (N, 12 + 2 slots + width)

    The likeliest id is one-hot in its slot; the next ones share a second table, weighted by probability.
    """
    ids, p = np.asarray(arrays["top_ids"]), np.exp(arrays["top_log_probability"])
    slots, count = constants.baseline.candidate_slots, constants.baseline.candidates
    table = _table(int(ids.max()) + 1, slots)
    out = np.zeros((len(ids), 2 * slots), dtype=np.float32)
    rows = np.arange(len(ids))
    out[rows, table[ids[:, 0]]] = 1.0
    for rank in range(1, count):
        np.add.at(out, (rows, slots + table[ids[:, rank]]), p[:, rank])
    return np.concatenate([partial(arrays, constants), out, arrays["hidden"]], axis=1)


BASELINES = {"partial": partial, "full": full}


@cache
def _table(tokens: int, slots: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.array([slot(token, slots) for token in range(tokens)])


def slot(token: int, slots: int) -> int:
    """The slot of a token id: the first eight bytes of a digest of its name, modulo `slots`."""
    digest = hashlib.sha256(f"token/{token}".encode()).digest()
    return int.from_bytes(digest[:8], "big") % slots
