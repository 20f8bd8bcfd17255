"""Intervals agree with scipy, numpy, the formulas of the books, and their own promise of coverage."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats  # type: ignore[import-untyped]

from engine.contract.seeds import Stream
from engine.stats.bootstrap import Interval, difference, ratio, resample_weights

Integers = NDArray[np.int64]
LEVEL = 0.95


def study(seed: int, clusters: int = 30) -> tuple[Integers, Integers]:
    """Correlated counts of uneven clusters: hits and trials."""
    random = np.random.default_rng(seed)
    trials = random.integers(20, 120, clusters)
    return random.binomial(trials, random.beta(4, 3, clusters)).astype(np.int64), trials.astype(np.int64)


def weights(clusters: int, resamples: int = 4000, name: str = "bootstrap") -> NDArray[np.float64]:
    """Resampling weights of a named stream."""
    return resample_weights(clusters, resamples, Stream(7, name))


@pytest.mark.parametrize("level", [0.8, 0.95])
def test_clusters_of_one_row_give_scipys_percentile_interval_within_monte_carlo_error(level: float) -> None:
    random = np.random.default_rng(6)
    trials = random.integers(5, 40, 50)
    hits = random.binomial(trials, 0.6)
    made = ratio(hits, trials, weights(50, 40_000), level)
    theirs = stats.bootstrap(
        (hits, trials),
        lambda y, x, axis: y.sum(axis=axis) / x.sum(axis=axis),
        paired=True,
        vectorized=True,
        n_resamples=40_000,
        confidence_level=level,
        method="percentile",
        rng=np.random.default_rng(8),
    )
    tail = (1 - level) / 2
    noise = np.sqrt(2 * tail * (1 - tail) / 40_000) / stats.norm.pdf(stats.norm.ppf(tail))
    end_error = 4.5 * noise * theirs.standard_error  # a difference of two estimated quantiles
    assert made.percentile.low == pytest.approx(theirs.confidence_interval.low, abs=end_error)
    assert made.percentile.high == pytest.approx(theirs.confidence_interval.high, abs=end_error)
    assert end_error < 0.03 * (made.percentile.high - made.percentile.low)


def test_the_percentile_interval_is_numpys_quantiles_of_the_resampled_ratios() -> None:
    hits, trials = study(9)
    drawn = weights(30)
    ratios = (drawn @ hits) / (drawn @ trials)
    made = ratio(hits, trials, drawn, 0.9).percentile
    assert (made.low, made.high) == pytest.approx(np.quantile(ratios, [0.05, 0.95]), rel=1e-13)


def test_the_cluster_robust_interval_is_the_hand_formula() -> None:
    hits, trials = study(10)
    value, mean = hits.sum() / trials.sum(), trials.mean()
    influence = (hits - value * trials) / mean
    error = np.sqrt(influence.var(ddof=1) / 30)
    half = stats.t.ppf(0.975, 29) * error
    made = ratio(hits, trials, weights(30), LEVEL).cluster_t
    assert (made.low, made.high) == pytest.approx((value - half, value + half), rel=1e-7)


def test_with_clusters_of_one_size_the_cluster_robust_interval_is_the_t_interval_of_their_means() -> None:
    hits = study(11)[0]
    made = ratio(hits, np.full(30, 120), weights(30), LEVEL).cluster_t
    theirs = stats.ttest_1samp(hits / 120, 0).confidence_interval(LEVEL)
    assert (made.low, made.high) == pytest.approx((theirs.low, theirs.high), rel=1e-6)


def test_the_bootstrap_t_interval_is_the_hand_formula() -> None:
    hits, trials = study(12)
    drawn = weights(30, 2000)
    value = hits.sum() / trials.sum()

    def error(picked: NDArray[np.float64]) -> float:
        y, x = np.repeat(hits, picked.astype(int)), np.repeat(trials, picked.astype(int))
        influence = (y - y.sum() / x.sum() * x) / x.mean()
        return float(np.sqrt(influence.var(ddof=1) / 30))

    pivots = [((row @ hits) / (row @ trials) - value) / error(row) for row in drawn]
    low, high = np.quantile(pivots, [0.025, 0.975])
    made = ratio(hits, trials, drawn, LEVEL).bootstrap_t
    own = error(np.ones(30))
    assert made is not None
    assert (made.low, made.high) == pytest.approx((value - high * own, value - low * own), rel=1e-9)


@pytest.mark.parametrize(
    "common", [(1, 1), (1, 3), (3, 7), (1, 49), (3, 11), (5, 9), (7, 13), (6, 11), (11, 13)]
)
def test_where_a_resample_has_no_spread_there_is_no_bootstrap_t(common: tuple[int, int]) -> None:
    hits, trials = np.full(10, common[0]), np.full(10, common[1])
    hits[0] += 1
    made = ratio(hits, trials, weights(10, 2000), LEVEL)
    assert made.bootstrap_t is None
    assert made.cluster_t.low < made.value < made.cluster_t.high


def test_a_difference_over_one_denominator_is_the_ratio_of_the_difference() -> None:
    (first, trials), (second, _) = study(13), study(14)
    whole = ratio(first - second, trials, weights(30), LEVEL)
    made = difference((first, trials), (second, trials), weights(30), LEVEL)
    assert made.value == pytest.approx(whole.value, rel=1e-12)
    assert (made.clusters, made.observations) == (30, trials.sum())
    for mine, theirs in ((made.percentile, whole.percentile), (made.cluster_t, whole.cluster_t)):
        assert (mine.low, mine.high) == pytest.approx((theirs.low, theirs.high), rel=1e-9)


def test_a_difference_turned_round_is_its_negative() -> None:
    first, second = study(15), study(16)
    one, two = (
        difference(first, second, weights(30), LEVEL),
        difference(second, first, weights(30), LEVEL),
    )
    assert two.value == -one.value
    for mine, theirs in ((one.percentile, two.percentile), (one.cluster_t, two.cluster_t)):
        assert (mine.low, mine.high) == pytest.approx((-theirs.high, -theirs.low), rel=1e-12)


def test_a_difference_of_ratios_from_the_same_clusters_is_judged_as_a_pair() -> None:
    hits, trials = study(17)
    better = hits + np.random.default_rng(0).integers(1, 4, 30)
    paired = difference((better, trials), (hits, trials), weights(30), LEVEL).percentile
    alone = ratio(hits, trials, weights(30), LEVEL).percentile
    assert paired.high - paired.low < 0.3 * (alone.high - alone.low)
    assert paired.low > 0


Judge = Callable[[Integers, Integers, NDArray[np.float64]], Interval]
JUDGES: dict[str, Judge] = {
    "percentile": lambda y, x, w: ratio(y, x, w, LEVEL).percentile,
    "bootstrap-t": lambda y, x, w: ratio(y, x, w, LEVEL).bootstrap_t or Interval(np.nan, np.nan),
    "cluster-robust t": lambda y, x, w: ratio(y, x, w, LEVEL).cluster_t,
}


def naive(hits: Integers, trials: Integers, _: NDArray[np.float64]) -> Interval:
    """The interval of somebody who takes every observation for independent."""
    value = hits.sum() / trials.sum()
    half = 1.96 * np.sqrt(value * (1 - value) / trials.sum())
    return Interval(float(value - half), float(value + half))


def timid(hits: Integers, trials: Integers, drawn: NDArray[np.float64]) -> Interval:
    """The interval of somebody who cuts five percent from either side."""
    return ratio(hits, trials, drawn, 0.9).percentile


def covered(judge: Judge) -> float:
    """The share of 2000 studies of 30 clusters whose interval holds the true ratio, four sevenths."""
    random = np.random.default_rng(20261130)
    drawn = [weights(30, 600, f"coverage/{i}") for i in range(20)]
    held = 0
    for turn in range(2000):
        trials = random.integers(30, 120, 30)
        hits = random.binomial(trials, random.beta(4, 3, 30))
        made = judge(hits, trials, drawn[turn % len(drawn)])
        held += made.low <= 4 / 7 <= made.high
    return held / 2000


BANDS = {"percentile": (0.915, 0.950), "bootstrap-t": (0.935, 0.965), "cluster-robust t": (0.932, 0.962)}
"""Three standard errors of 2000 studies about 0.933, 0.950 and 0.947; percentile intervals run narrow."""


@pytest.mark.parametrize("name", JUDGES)
def test_intervals_at_95_percent_cover_the_truth_about_that_often(name: str) -> None:
    low, high = BANDS[name]
    assert low <= covered(JUDGES[name]) <= high


@pytest.mark.parametrize("wrong", [naive, timid])
def test_intervals_that_forget_the_clusters_or_cut_too_much_fall_outside_the_band(wrong: Judge) -> None:
    low, high = BANDS["percentile"]
    assert not low <= covered(wrong) <= high
