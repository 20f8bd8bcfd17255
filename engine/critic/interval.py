"""Ends of an interval from resamples, and how far chance may move them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from engine.critic.draws import Floats

SIGMAS = 4.0
"""Standard deviations of the draws by which two honest bootstraps may differ."""

Band = tuple[float, float]


@dataclass(frozen=True)
class Interval:
    """Both ends, and for each the band that an end made from other draws must lie in."""

    low: float
    high: float
    low_band: Band
    high_band: Band

    def flipped(self, value: float, error: float) -> Interval:
        """From studentised resamples to the value's own scale: value − t · error, ends changing sides."""

        def place(t: float) -> float:
            return value - t * error

        bands = [(place(high), place(low)) for low, high in (self.high_band, self.low_band)]
        return Interval(place(self.high), place(self.low), *bands)


def percentile(values: Floats, level: float, theirs: int) -> Interval:
    """The central `level` share of resampled values.

    Among R resamples the share below a fixed place has variance p(1 − p)/R. An end taken from `theirs`
    other resamples lies between our quantiles at p ± SIGMAS deviations of the difference of two shares,
    whatever the law of the values.
    """
    tail = (1.0 - level) / 2
    slack = SIGMAS * np.sqrt(tail * (1.0 - tail) * (1.0 / len(values) + 1.0 / theirs))
    shares = np.array([tail - slack, tail, tail + slack])
    outer, low, inner = np.quantile(values, np.clip(shares, 0.0, 1.0))
    inner_high, high, outer_high = np.quantile(values, np.clip(1.0 - shares[::-1], 0.0, 1.0))
    return Interval(
        float(low), float(high), (float(outer), float(inner)), (float(inner_high), float(outer_high))
    )


def around(value: float, half: float, relative: float) -> Interval:
    """A symmetric interval without chance in it, its bands a share of its half width."""
    low, high, slack = value - half, value + half, half * relative
    return Interval(low, high, (low - slack, low + slack), (high - slack, high + slack))
