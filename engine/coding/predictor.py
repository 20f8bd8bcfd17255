"""A language model as the coder uses it: rows of tokens side by side, one token of each at a time.

Packing and unpacking ask the same questions in the same shapes: as many rows, the same positions, one token a
step. So the logits come out the same in both directions wherever the arithmetic repeats itself, and nothing
depends on one pass over many tokens agreeing with many passes over one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Logits = NDArray[np.float32]
"""Shape (rows, V): natural logarithms of unnormalised probabilities."""


class Rows(Protocol):
    """Rows of tokens in flight."""

    def step(self, tokens: Sequence[int]) -> Logits:
        """Logits of what follows, after one more token of each row."""


class Predictor(Protocol):
    """What tells the shares of the next token."""

    @property
    def sha256(self) -> bytes:
        """Digest of the weights, 32 bytes."""

    @property
    def vocabulary(self) -> int:
        """V, how many tokens there are."""

    @property
    def first(self) -> int:
        """The token that stands before the first of every row."""

    def begin(self, rows: int, capacity: int) -> Rows:
        """Rows that are empty, and take up to `capacity` tokens each."""
