"""The interval of a share of independent trials (Wilson 1927)."""

from __future__ import annotations

import math
from statistics import NormalDist

from engine.contract.errors import BadData
from engine.stats.bootstrap import Interval


def wilson(held: int, trials: int, level: float) -> Interval:
    """Both ends for `held` of `trials`, 0 … 1; defined where none or all are held.

    The normal quantile is rounded to six decimals, so that every machine gives the same ends. Raises
    `BadData` for counts that are none and for a level outside (0, 1).
    """
    if not 0 <= held <= trials or trials < 1 or not 0.0 < level < 1.0:
        raise BadData(
            f"{held} of {trials} at level {level}", "is no share.", "Count trials, then those that held."
        )
    reach = round(NormalDist().inv_cdf((1.0 + level) / 2), 6)
    square = reach * reach
    middle = held + square / 2
    half = reach * math.sqrt(held * (trials - held) / trials + square / 4)
    low, high = (middle - half) / (trials + square), (middle + half) / (trials + square)
    return Interval(0.0 if held == 0 else low, 1.0 if held == trials else high)
