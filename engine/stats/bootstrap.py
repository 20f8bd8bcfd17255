"""Intervals over clusters for ratios of sums, means and paired differences, by four methods.

Percentile, bootstrap-t and BCa from resamples of whole clusters (Efron and Tibshirani 1993, chapters 12 to
14; Cameron, Gelbach, Miller 2008 for few clusters), and the cluster-robust t. Inputs are integers, sums stay
below 2**53, and after them only + - * / and square roots are used (BCa's two normal probabilities are
rounded), so the same state gives the same interval bit for bit on any machine. `python -m
engine.stats.bootstrap --help` reads a table. Can be copied out with `COPIED_WITH` and numpy.
Shapes: G clusters, R resamples.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from engine.contract.errors import BadData
from engine.contract.seeds import Stream
from engine.stats.student import quantile

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]

COPIED_WITH = (
    "engine/contract/errors.py",
    "engine/contract/seeds.py",
    "engine/stats/command.py",
    "engine/stats/student.py",
)
"""The files this one needs, from the repository's root, where it is copied out; numpy is the one library."""
FEWEST_CLUSTERS = 10
"""Fewer clusters than this get no interval in a payload; other callers may ask for two or more."""
EXACT = 2**53
BLOCK = 2**15
"""Draws made at a time: few enough to stay in a processor's cache."""
ROUNDING = 2.0**-48
"""Share of a sum of squares below which a difference of such sums is rounding, not spread."""
SHARE_DIGITS = 9
"""Decimals of the share of resamples at which BCa reads an end, so that every machine reads the same."""


@dataclass(frozen=True)
class Interval:
    """Both ends, in the unit of the estimate."""

    low: float
    high: float


@dataclass(frozen=True)
class Estimate:
    """A value with its four intervals, all at the same level.

    `bootstrap_t` is None where a resample has no spread; `bca` where all resamples lie on one side of the
    value, or where a cluster alone holds all that is below the line.
    """

    value: float
    percentile: Interval
    bootstrap_t: Interval | None
    bca: Interval | None
    cluster_t: Interval
    clusters: int
    observations: int


def resample_weights(clusters: int, resamples: int, stream: Stream, fewest: int = FEWEST_CLUSTERS) -> Floats:
    """How often each cluster is drawn in each resample: whole numbers as doubles, (R, G).

    Raises `BadData` for fewer clusters than `fewest`, or than two.
    """
    if clusters < max(fewest, 2):
        raise BadData(
            f"{clusters} clusters", f"are too few: at least {max(fewest, 2)}.", "Collect more prompts."
        )
    counts = np.empty((resamples, clusters))
    rows = max(1, BLOCK // clusters)
    first = np.arange(0, rows * clusters, clusters)[:, None]
    for start in range(0, resamples, rows):
        block = counts[start : start + rows]
        drawn = stream.below(clusters, block.size).reshape(block.shape)
        drawn += first[: len(block)]
        block[:] = np.bincount(drawn.ravel(), minlength=block.size).reshape(block.shape)
    return counts


def ratio(numerator: Integers, denominator: Integers, weights: Floats, level: float) -> Estimate:
    """Sum of `numerator` (G,) over sum of `denominator` (G,), with intervals at `level`.

    Raises `BadData` where a resample has nothing in the denominator or the clusters do not differ.
    """
    y, x = _counted(numerator, denominator)
    error = _error(_residuals(y, x))
    if error == 0.0:
        raise BadData(
            "every cluster", "has the same ratio, so an interval means nothing.", "Report the value alone."
        )
    sums = _summed(weights, [y, x, y * y, x * y, x * x])
    if sums[:, 1].min() == 0.0:
        raise BadData("a resample", "has nothing in the denominator.", "Too few clusters hold observations.")
    value = float(y.sum() / x.sum())
    return _estimate(value, error, _ratio_and_error(sums, len(y)), _left_out(y, x), (len(y), x), level)


def mean(values: Integers, weights: Floats, level: float) -> Estimate:
    """The mean of a value a cluster (G,), with intervals; of paired differences, give the differences."""
    return ratio(values, np.ones(len(values), dtype=np.int64), weights, level)


def difference(
    first: tuple[Integers, Integers], second: tuple[Integers, Integers], weights: Floats, level: float
) -> Estimate:
    """First ratio minus second, each (numerator (G,), denominator (G,)), resampled together.

    Raises `BadData` where a resample has nothing in a denominator or the clusters do not differ.
    """
    (y1, x1), (y2, x2) = _counted(*first), _counted(*second)
    columns = [y1, x1, y2, x2]
    sums = _summed(weights, columns + [columns[j] * columns[k] for j, k in PAIRS])
    if min(sums[:, 1].min(), sums[:, 3].min()) == 0.0:
        raise BadData("a resample", "has nothing in a denominator.", "Too few clusters hold observations.")
    error = _error(_residuals(y1, x1) - _residuals(y2, x2))
    if error == 0.0:
        raise BadData(
            "every cluster", "has the same difference, so an interval means nothing.", "Report the value."
        )
    value = float(y1.sum() / x1.sum() - y2.sum() / x2.sum())
    one, two = _left_out(y1, x1), _left_out(y2, x2)
    without = None if one is None or two is None else one - two
    return _estimate(value, error, _difference_and_error(sums, len(y1)), without, (len(y1), x1), level)


PAIRS = tuple((j, k) for j in range(4) for k in range(j, 4))
"""Which products of a difference's four columns are summed, in order."""


def _estimate(
    value: float,
    error: float,
    resampled: tuple[Floats, Floats],
    left_out: Floats | None,
    size: tuple[int, Floats],
    level: float,
) -> Estimate:
    """The four intervals from resampled values and errors (R,) and values without each cluster (G,)."""
    values, errors = resampled
    ordered = np.sort(values)
    half = quantile(level, size[0] - 1) * error
    return Estimate(
        value=value,
        percentile=_between(ordered, level),
        bootstrap_t=_bootstrap_t(value, error, values, errors, level),
        bca=None if left_out is None else _bca(value, ordered, left_out, level),
        cluster_t=Interval(value - half, value + half),
        clusters=size[0],
        observations=int(size[1].sum()),
    )


def _summed(weights: Floats, columns: list[Floats]) -> Floats:
    """Each column summed over each resample, exactly. (R, columns)"""
    return weights @ np.stack(columns, axis=1)


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
    squares = _ordered_sum(residuals * residuals)
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


def _difference_and_error(sums: Floats, clusters: int) -> tuple[Floats, Floats]:
    """The difference of two ratios and its cluster-robust standard error. (R, 4 + 10) → (R,)"""
    y1, x1, y2, x2 = sums[:, :4].T
    one, two = y1 / x1, y2 / x2
    slopes = (1.0 / x1, -one / x1, -1.0 / x2, two / x2)
    squares, scale = np.zeros(len(sums)), np.zeros(len(sums))
    for (j, k), product in zip(PAIRS, sums[:, 4:].T, strict=True):
        term = slopes[j] * slopes[k] * product
        squares += term if j == k else term + term
        scale += term if j == k else 0.0
    squares = np.where(squares > ROUNDING * scale, squares, 0.0)
    return one - two, np.sqrt(squares * (clusters / (clusters - 1)))


def _left_out(y: Floats, x: Floats) -> Floats | None:
    """The ratio without each cluster in turn, (G,); None where one holds the whole denominator."""
    rest = x.sum() - x
    without: Floats | None = None if rest.min() == 0.0 else (y.sum() - y) / rest
    return without


def _bootstrap_t(value: float, error: float, values: Floats, errors: Floats, level: float) -> Interval | None:
    if errors.min() == 0.0:
        return None
    studentised = _between(np.sort((values - value) / errors), level)
    return Interval(float(value - studentised.high * error), float(value - studentised.low * error))


def _bca(value: float, ordered: Floats, left_out: Floats, level: float) -> Interval | None:
    """The bias-corrected and accelerated interval: percentiles at shares moved by bias and skewness."""
    below = np.searchsorted(ordered, value, "left") + np.searchsorted(ordered, value, "right")
    if not 0 < below < 2 * len(ordered):
        return None
    bias, skew = NORMAL.inv_cdf(below / (2 * len(ordered))), _acceleration(left_out)
    shares = []
    for tail in ((1.0 - level) / 2, 1.0 - (1.0 - level) / 2):
        reach = bias + NORMAL.inv_cdf(tail)
        if skew * reach >= 1.0:
            return None
        shares.append(round(NORMAL.cdf(bias + reach / (1.0 - skew * reach)), SHARE_DIGITS))
    return Interval(_order(ordered, shares[0]), _order(ordered, shares[1]))


NORMAL = NormalDist()


def _acceleration(left_out: Floats) -> float:
    """A sixth of the skewness of the values without each cluster, summed in order."""
    mean = _ordered_sum(left_out) / len(left_out)
    squares = _ordered_sum((mean - left_out) * (mean - left_out))
    cubes = _ordered_sum((mean - left_out) * (mean - left_out) * (mean - left_out))
    return cubes / (6.0 * squares * float(np.sqrt(squares))) if squares > 0.0 else 0.0


def _ordered_sum(values: Floats) -> float:
    """The sum from first to last, so that every machine rounds alike."""
    total = 0.0
    for value in values.tolist():
        total += value
    return total


def _between(ordered: Floats, level: float) -> Interval:
    """The central `level` share of sorted values, by linear interpolation."""
    tail = (1.0 - level) / 2
    return Interval(_order(ordered, tail), _order(ordered, 1.0 - tail))


def _order(ordered: Floats, share: float) -> float:
    place = share * (len(ordered) - 1)
    below = min(int(place), len(ordered) - 2)
    low, high = ordered[below : below + 2]
    return float(low + (place - below) * (high - low))


if __name__ == "__main__":
    import sys

    from engine.stats.command import main

    sys.exit(main(sys.argv[1:]))
