"""Quantiles of Student's t by adding up its density.

The engine's own come from a finite series; these share nothing with them but the definition.
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np

PANELS = 4000
"""Panels of Simpson's rule between zero and the quantile."""


def central(t: float, freedom: int) -> float:
    """P(|T| < t) for T with `freedom` degrees of freedom, t >= 0."""
    places = np.linspace(0.0, t, PANELS + 1)
    heights = (1.0 + places * places / freedom) ** (-(freedom + 1) / 2)
    weights = np.full(PANELS + 1, 2.0)
    weights[1::2] = 4.0
    weights[[0, -1]] = 1.0
    constant = math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2)
    scale = math.exp(constant) / math.sqrt(freedom * math.pi)
    return 2.0 * scale * float((weights * heights).sum()) * (t / PANELS / 3.0)


@cache
def quantile(level: float, freedom: int) -> float:
    """The t with P(|T| < t) = `level`, to nine decimals. `level` up to 0.999, `freedom` at least 2."""
    if not 0.0 < level <= 0.999 or freedom < 2:
        raise ValueError(f"level {level} at {freedom} degrees of freedom is out of range")
    low, high = 0.0, 32.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if central(middle, freedom) < level else (low, middle)
    return round(high, 9)
