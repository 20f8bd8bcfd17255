"""Intervals for a ratio of sums over clusters: percentile, bootstrap-t, cluster-robust t.

Whole clusters are resampled (Efron and Tibshirani 1993, chapters 12 and 13; Cameron, Gelbach, Miller
2008 for few clusters). Inputs are integers, sums stay below 2**53, and after them only + - * / and
square roots are used, so the same state gives the same interval bit for bit on any machine.
Shapes: G clusters, R resamples.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.contract.errors import BadData
from engine.contract.seeds import Stream
from engine.stats.student import quantile

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]

FEWEST_CLUSTERS = 10
EXACT = 2**53
ROUNDING = 2.0**-48
"""Share of a sum of squares below which a difference of such sums is rounding, not spread."""


@dataclass(frozen=True)
class Interval:
    """Both ends, in the unit of the estimate."""

    low: float
    high: float


@dataclass(frozen=True)
class Ratio:
    """A ratio of sums with its three intervals. `bootstrap_t` is None where a resample has no spread."""

    value: float
    percentile: Interval
    bootstrap_t: Interval | None
    cluster_t: Interval
    clusters: int
    observations: int


def resample_weights(clusters: int, resamples: int, stream: Stream) -> Floats:
    """How often each cluster is drawn in each resample: whole numbers as doubles, (R, G)."""
    if clusters < FEWEST_CLUSTERS:
        raise BadData(
            f"{clusters} clusters", f"are too few: at least {FEWEST_CLUSTERS}.", "Collect more prompts."
        )
    drawn = stream.below(clusters, resamples * clusters).reshape(resamples, clusters)
    flat = drawn + np.arange(resamples)[:, None] * clusters
    return (
        np.bincount(flat.ravel(), minlength=resamples * clusters).reshape(resamples, clusters).astype(float)
    )


def ratio(numerator: Integers, denominator: Integers, weights: Floats, level: float) -> Ratio:
    """Sum of `numerator` (G,) over sum of `denominator` (G,), with intervals at `level`.

    Raises `BadData` where a resample has nothing in the denominator or the clusters do not differ.
    """
    y, x = _counted(numerator, denominator)
    error = _error(_residuals(y, x))
    if error == 0.0:
        raise BadData(
            "every cluster", "has the same ratio, so an interval means nothing.", "Report the value alone."
        )
    sums = weights @ np.stack([y, x, y * y, x * y, x * x], axis=1)  # (R, 5), exact
    if sums[:, 1].min() == 0.0:
        raise BadData("a resample", "has nothing in the denominator.", "Too few clusters hold observations.")
    value = float(y.sum() / x.sum())
    values, errors = _ratio_and_error(sums, len(y))
    half = quantile(level, len(y) - 1) * error
    return Ratio(
        value=value,
        percentile=_between(values, level),
        bootstrap_t=_bootstrap_t(value, error, values, errors, level),
        cluster_t=Interval(value - half, value + half),
        clusters=len(y),
        observations=int(x.sum()),
    )


@dataclass(frozen=True)
class Difference:
    """A difference of two ratios over the same clusters, with its intervals."""

    value: float
    percentile: Interval
    cluster_t: Interval
    clusters: int
    observations: int


def difference(
    first: tuple[Integers, Integers], second: tuple[Integers, Integers], weights: Floats, level: float
) -> Difference:
    """First ratio minus second, each (numerator (G,), denominator (G,)), resampled together.

    Raises `BadData` where a resample has nothing in a denominator or the clusters do not differ.
    """
    (y1, x1), (y2, x2) = _counted(*first), _counted(*second)
    sums = weights @ np.stack([y1, x1, y2, x2], axis=1)  # (R, 4), exact
    if min(sums[:, 1].min(), sums[:, 3].min()) == 0.0:
        raise BadData("a resample", "has nothing in a denominator.", "Too few clusters hold observations.")
    error = _error(_residuals(y1, x1) - _residuals(y2, x2))
    if error == 0.0:
        raise BadData(
            "every cluster", "has the same difference, so an interval means nothing.", "Report the value."
        )
    value = float(y1.sum() / x1.sum() - y2.sum() / x2.sum())
    half = quantile(level, len(y1) - 1) * error
    return Difference(
        value=value,
        percentile=_between(sums[:, 0] / sums[:, 1] - sums[:, 2] / sums[:, 3], level),
        cluster_t=Interval(value - half, value + half),
        clusters=len(y1),
        observations=int(x1.sum()),
    )


def _counted(numerator: Integers, denominator: Integers) -> tuple[Floats, Floats]:
    """Both as doubles, (G,): whole, and small enough that sums of their products are exact."""
    y, x = _whole(numerator), _whole(denominator)
    if x.min() < 0 or x.sum() == 0:
        raise BadData(
            "the denominator", "is negative or sums to zero.", "Count observations, not differences."
        )
    if max((y * y).sum(), (x * x).sum()) * len(y) >= EXACT:
        raise BadData("the state", "is too large to be summed exactly.", "Scale it down.")
    return y, x


def _residuals(y: Floats, x: Floats) -> Floats:
    """What each cluster adds to the ratio's error, (G,): all zero exactly where all ratios are equal."""
    above, below = float(y.sum()), float(x.sum())
    return (y * below - x * above) / (below * below)


def _error(residuals: Floats) -> float:
    """The cluster-robust standard error, summed in order so that every machine rounds alike."""
    squares = 0.0
    for residual in residuals:
        squares += float(residual) * float(residual)
    return float(np.sqrt(squares * (len(residuals) / (len(residuals) - 1))))


def _whole(values: Integers) -> Floats:
    if values.dtype.kind not in "iu":
        raise BadData(
            f"state of type {values.dtype}", "is not whole numbers.", "Scale it to integers and say so."
        )
    return values.astype(np.float64)


def _ratio_and_error(sums: Floats, clusters: int) -> tuple[Floats, Floats]:
    """The ratio and its cluster-robust standard error, from sums of y, x, y2, xy, x2. (R, 5) → (R,)."""
    y, x, yy, xy, xx = sums.T
    value = y / x
    squares = (yy - (value + value) * xy) + (value * value) * xx
    squares = np.where(squares > ROUNDING * yy, squares, 0.0)
    return value, np.sqrt(squares * (clusters / (clusters - 1))) / x


def _bootstrap_t(value: float, error: float, values: Floats, errors: Floats, level: float) -> Interval | None:
    if errors.min() == 0.0:
        return None
    studentised = _between((values - value) / errors, level)
    return Interval(float(value - studentised.high * error), float(value - studentised.low * error))


def _between(values: Floats, level: float) -> Interval:
    """The central `level` share of `values`, by linear interpolation of order statistics."""
    tail = (1.0 - level) / 2
    return Interval(_order(values, tail), _order(values, 1.0 - tail))


def _order(values: Floats, share: float) -> float:
    place = share * (len(values) - 1)
    below = min(int(place), len(values) - 2)
    low, high = np.partition(values, [below, below + 1])[[below, below + 1]]
    return float(low + (place - below) * (high - low))
