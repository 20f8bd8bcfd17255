"""Named random streams that all follow from one root seed.

A stream is a PCG64 bit generator keyed by (root, sha256 of the name), read through its raw
64-bit output. Only `random_raw` is used: numpy promises that a bit generator's raw stream never
changes, while it makes no such promise for `Generator` methods. So a committed interval can be
recomputed exactly under another numpy.
"""

from __future__ import annotations

import hashlib

import numpy as np
from numpy.typing import NDArray


def seed_words(root: int, name: str) -> list[int]:
    """Eight 32-bit words derived from the root seed and the stream's name."""
    digest = hashlib.sha256(f"{root}:{name}".encode()).digest()
    return [int.from_bytes(digest[i : i + 4], "big") for i in range(0, 32, 4)]


class Stream:
    """Uniform draws of one named stream, in order of asking."""

    def __init__(self, root: int, name: str) -> None:
        self._bits = np.random.PCG64(np.random.SeedSequence(seed_words(root, name)))

    def uniform(self, count: int) -> NDArray[np.float64]:
        """`count` doubles in [0, 1), 53 bits each. Shape (count,)."""
        raw = np.asarray(self._bits.random_raw(count), dtype=np.uint64)
        return (raw >> np.uint64(11)).astype(np.float64) * 2.0**-53

    def below(self, bound: int, count: int) -> NDArray[np.int64]:
        """`count` integers in [0, bound), bound up to 2**31; bias at most bound / 2**32. Shape (count,)."""
        if not 0 < bound <= 2**31:
            raise ValueError(f"bound {bound} is not in 1 … 2**31")
        raw = np.asarray(self._bits.random_raw(count), dtype=np.uint64)
        raw >>= np.uint64(32)
        raw *= np.uint64(bound)
        raw >>= np.uint64(32)
        return raw.view(np.int64)

    def permutation(self, count: int) -> NDArray[np.int64]:
        """A random order of 0 … count-1, by sorting raw draws. Shape (count,)."""
        return np.argsort(np.asarray(self._bits.random_raw(count), dtype=np.uint64), kind="stable")
