"""Shares, seeds, chi-square and BCa agree with scipy, numpy, and each other."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from engine.contract.errors import BadData
from engine.contract.seeds import Stream
from engine.stats.bootstrap import difference, mean, ratio, resample_weights
from engine.stats.chi_square import critical, pearson, tail
from engine.stats.seeds import Runs, spread
from engine.stats.share import wilson

RANDOM = np.random.default_rng(5)
TRIALS = RANDOM.integers(5, 40, 50)
HITS = RANDOM.binomial(TRIALS, 0.15)


def test_clusters_of_one_row_give_scipys_bca_interval_within_monte_carlo_error() -> None:
    skewed = RANDOM.geometric(0.02, 25)
    made = mean(skewed, resample_weights(25, 40_000, Stream(7, "b")), 0.95)
    theirs = stats.bootstrap(
        (skewed,), np.mean, n_resamples=40_000, method="BCa", rng=np.random.default_rng(8)
    ).confidence_interval
    assert made.bca is not None
    width = theirs.high - theirs.low
    assert (made.bca.low, made.bca.high) == pytest.approx((theirs.low, theirs.high), abs=0.02 * width)
    assert abs(made.percentile.high - theirs.high) > 0.02 * width  # the percentile interval would not pass


def test_a_difference_over_one_denominator_has_all_the_intervals_of_the_ratio_of_the_difference() -> None:
    other = RANDOM.binomial(TRIALS, 0.1)
    weights = resample_weights(50, 4000, Stream(7, "b"))
    one = difference((HITS, TRIALS), (other, TRIALS), weights, 0.95)
    two = ratio(HITS - other, TRIALS, weights, 0.95)
    for name in ("bootstrap_t", "bca", "percentile", "cluster_t"):
        mine, theirs = getattr(one, name), getattr(two, name)
        near = 1e-3 if name == "bca" else 1e-9  # a resample that ties with the value counts a half, or not
        assert (mine.low, mine.high) == pytest.approx((theirs.low, theirs.high), rel=near)


def test_where_one_cluster_could_hold_everything_there_is_no_bca() -> None:
    weights = np.ones((100, 3))
    assert ratio(np.array([1, 1, 0]), np.array([2, 0, 0]), weights, 0.95).bca is None


@pytest.mark.parametrize(("held", "trials"), [(0, 20), (20, 20), (7, 20), (1900, 2000)])
def test_a_share_has_scipys_wilson_interval(held: int, trials: int) -> None:
    theirs = stats.binomtest(held, trials).proportion_ci(0.95, method="wilson")
    made = wilson(held, trials, 0.95)
    assert (made.low, made.high) == pytest.approx((theirs.low, theirs.high), abs=1e-7)


@pytest.mark.parametrize(
    ("held", "trials", "level"), [(3, 2, 0.95), (-1, 2, 0.95), (0, 0, 0.95), (1, 2, 1.0)]
)
def test_counts_that_are_no_share_are_refused(held: int, trials: int, level: float) -> None:
    with pytest.raises(BadData, match="is no share"):
        wilson(held, trials, level)


@pytest.mark.parametrize("freedom", [1, 2, 5, 35, 199])
@pytest.mark.parametrize("at", [0.0, 0.5, 1.0, 3.0])
def test_the_tail_of_chi_square_is_scipys(freedom: int, at: float) -> None:
    assert tail(at * freedom, freedom) == pytest.approx(stats.chi2.sf(at * freedom, freedom), rel=1e-9)
    assert critical(1e-9, freedom) == pytest.approx(stats.chi2.isf(1e-9, freedom), abs=1e-5)


def test_pearsons_statistic_is_scipys_and_rare_cells_are_refused() -> None:
    counts, law = np.array([30, 50, 20]), np.array([0.25, 0.5, 0.25])
    assert pearson(counts, law) == pytest.approx(stats.chisquare(counts, 100 * law).statistic)
    with pytest.raises(BadData, match="fewer than five"):
        pearson(np.array([3, 5, 2]), law)


RUNS = Runs(RANDOM.integers(60, 96, (40, 16)), RANDOM.integers(40, 60, (40, 16)))


def test_two_runs_differ_by_the_root_of_two_of_what_one_run_moves() -> None:
    half = np.quantile(np.abs(RUNS.differences(40, 20_000, Stream(1, "pairs"))), 0.95)
    moves = spread(RUNS, 40, 1, Stream(1, "one"))
    assert half / moves == pytest.approx(np.sqrt(2.0), rel=0.35)  # sixteen seeds tell a spread roughly


def test_four_times_the_prompts_show_half_the_difference_also_beyond_those_there_are() -> None:
    some, many = (RUNS.differences(n, 20_000, Stream(1, f"n{n}")).std() for n in (30, 120))
    assert many / some == pytest.approx(0.5, rel=0.05)


def test_seeds_that_agree_show_no_difference() -> None:
    same = Runs(np.repeat(RUNS.above[:, :1], 3, axis=1), np.repeat(RUNS.below[:, :1], 3, axis=1))
    assert np.all(same.differences(20, 100, Stream(1, "same")) == 0.0)


def test_a_study_of_no_prompts_is_refused() -> None:
    with pytest.raises(BadData, match="show nothing"):
        RUNS.differences(0, 100, Stream(1, "none"))
