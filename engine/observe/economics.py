"""What a stream costs to send, in bits a token, beside the hidden state it stands for."""

from __future__ import annotations

from math import comb, log2

import numpy as np


def listed(kept: int, of: int) -> float:
    """Bits to list `kept` of `of` addresses in order."""
    return kept * log2(of)


def chosen(kept: int, of: int) -> float:
    """Bits to name which `kept` of `of` addresses, without their order."""
    return log2(comb(of, kept))


def counted(kept: int, slots: int) -> float:
    """Bits of a table of `slots` counts that `kept` addresses fall into: the cheaper of a list and a table.

    The table's cells are as wide as the largest count they could hold.
    """
    return min(listed(kept, slots), slots * log2(kept + 1))


def state(width: int, precision: str) -> float:
    """Bits of a hidden state of `width` numbers of a numpy type."""
    return float(width * np.dtype(precision).itemsize * 8)
