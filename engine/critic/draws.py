"""The critic's own resampling: how often each cluster is drawn, in each resample.

A draw is Philox (4x64, ten rounds) keyed by the BLAKE2b digest of `critic/<seed>/<clusters>`; cluster
numbers are its raw 64-bit output modulo the number of clusters, biased by less than clusters / 2**64.
Neither generator, key, nor way to an index is the engine's.
"""

from __future__ import annotations

import hashlib
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

RESAMPLES = 10_000
SEED = 0
"""The seed under which a label is judged."""

OTHERS = tuple(range(1, 11))
"""The seeds under which it is judged again."""


def _bits(purpose: str) -> np.random.Philox:
    digest = hashlib.blake2b(purpose.encode(), digest_size=16).digest()
    return np.random.Philox(key=int.from_bytes(digest, "big"))


@lru_cache(maxsize=24)
def weights(seed: int, clusters: int) -> Floats:
    """How often each of the clusters is drawn in each resample, (RESAMPLES, clusters)."""
    raw = np.asarray(_bits(f"critic/{seed}/{clusters}").random_raw(RESAMPLES * clusters), dtype=np.uint64)
    drawn = (raw % np.uint64(clusters)).astype(np.int64).reshape(RESAMPLES, clusters)
    flat = (drawn + np.arange(RESAMPLES)[:, None] * clusters).ravel()
    counted = np.bincount(flat, minlength=RESAMPLES * clusters).reshape(RESAMPLES, clusters)
    made: Floats = counted.astype(np.float64)
    made.flags.writeable = False
    return made


@lru_cache(maxsize=24)
def members(seed: int, clusters: int, chosen: int, studies: int) -> NDArray[np.bool_]:
    """Which clusters belong to each of `studies` random studies of `chosen` clusters, (studies, clusters)."""
    if chosen >= clusters:
        return np.ones((1, clusters), dtype=np.bool_)
    raw = _bits(f"studies/{seed}/{clusters}/{chosen}").random_raw(studies * clusters)
    ranks = np.asarray(raw, dtype=np.uint64).reshape(studies, clusters).argsort(axis=1).argsort(axis=1)
    return np.asarray(ranks < chosen)
