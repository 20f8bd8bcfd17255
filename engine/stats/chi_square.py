"""The chi-square test without scipy: Pearson's statistic, its tail, and the value too rare to be chance.

For whole degrees of freedom the tail is a finite sum (Abramowitz and Stegun 26.4.4 and 26.4.5).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from engine.contract.errors import BadData

FEWEST_EXPECTED = 5.0
"""Cells that expect less do not follow the law of the statistic."""


def pearson(counts: NDArray[np.int64], law: NDArray[np.float64]) -> float:
    """Sum of (count - expected)² / expected over cells (C,) of a law (C,) that sums to one.

    Raises `BadData` where a cell expects fewer than five.
    """
    expected = counts.sum() * law
    if counts.shape != law.shape or not abs(float(law.sum()) - 1.0) < 1e-6:
        raise BadData(f"counts of shape {counts.shape}", "have no law of that shape.", "Give a cell each.")
    if expected.min() < FEWEST_EXPECTED:
        raise BadData(
            "a cell", f"expects {expected.min():.3g}, fewer than five.", "Draw more, or join cells."
        )
    return float(((counts - expected) ** 2 / expected).sum())


def tail(statistic: float, freedom: int) -> float:
    """P(X > statistic) for chi-square X with `freedom` whole degrees of freedom, at least one."""
    if freedom < 1 or not statistic >= 0.0:
        raise BadData(f"{statistic} at {freedom} degrees of freedom", "has no tail.", "Give one from 0 up.")
    if statistic == 0.0:
        return 1.0
    half, odd = statistic / 2.0, freedom % 2
    total = math.erfc(math.sqrt(half)) if odd else 0.0
    for k in range(freedom // 2):
        power = k + 0.5 if odd else float(k)
        total += math.exp(power * math.log(half) - half - math.lgamma(power + 1.0))
    return min(total, 1.0)


def critical(false_alarm: float, freedom: int) -> float:
    """The statistic that chance passes with probability `false_alarm`, rounded to six decimals."""
    if not 0.0 < false_alarm < 1.0:
        raise BadData(f"false alarm {false_alarm}", "is no probability.", "Give one in (0, 1).")
    low, high = 0.0, 1.0
    while tail(high, freedom) > false_alarm:
        high *= 2.0
    for _ in range(80):
        middle = (low + high) / 2.0
        low, high = (middle, high) if tail(middle, freedom) > false_alarm else (low, middle)
    return round(high, 6)
