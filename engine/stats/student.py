"""Quantiles of Student's t, without scipy.

The distribution function is the finite series for whole degrees of freedom (Abramowitz and Stegun
26.7.3 and 26.7.4), inverted by bisection and rounded to six decimals, so that every machine gives the
same number whatever the last bit of its arctangent.
"""

from __future__ import annotations

import math
from functools import lru_cache

from engine.contract.errors import BadData


def central_probability(t: float, freedom: int) -> float:
    """P(|T| < t) for T with `freedom` degrees of freedom, t >= 0."""
    angle = math.atan(t / math.sqrt(freedom))
    sine, square = math.sin(angle), math.cos(angle) ** 2
    odd = freedom % 2 == 1
    term, total = (math.cos(angle), 0.0) if odd else (1.0, 0.0)
    for k in range(1, freedom // 2 + 1):
        total += term
        term *= square * (2 * k / (2 * k + 1) if odd else (2 * k - 1) / (2 * k))
    return 2 / math.pi * (angle + sine * total) if odd else sine * total


@lru_cache(maxsize=256)
def quantile(level: float, freedom: int) -> float:
    """The t with P(|T| < t) = `level`, rounded to six decimals. `level` in (0, 1), `freedom` at least 1."""
    if not 0.0 < level < 1.0 or freedom < 1:
        raise BadData(f"level {level}", f"at {freedom} degrees of freedom is none.", "Give one in (0, 1).")
    low, high = 0.0, 1.0
    while central_probability(high, freedom) < level:
        high *= 2.0
    for _ in range(80):
        middle = (low + high) / 2
        if central_probability(middle, freedom) < level:
            low = middle
        else:
            high = middle
    return round(high, 6)
