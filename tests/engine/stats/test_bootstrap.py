"""Intervals for ratios of sums over clusters: what they refuse, what they ignore, whom they agree with."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from engine.contract.errors import BadData
from engine.contract.seeds import Stream
from engine.stats.bootstrap import Estimate, Interval, difference, ratio, resample_weights

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


def whole(*values: int) -> Integers:
    """Ten clusters: the values given, then ones."""
    return np.array([*values, *[1] * (10 - len(values))], dtype=np.int64)


HITS, TRIALS = whole(3, 2), whole(9, 5)
REFUSED: dict[str, tuple[tuple[Any, Any], str]] = {
    "floats above the line": ((HITS.astype(float), TRIALS), "float64: is not whole numbers"),
    "floats below the line": ((HITS, TRIALS.astype(float)), "float64: is not whole numbers"),
    "booleans": ((HITS > 1, TRIALS), "bool: is not whole numbers"),
    "nothing below the line": ((HITS, np.zeros(10, np.int64)), "sums to zero"),
    "negative below the line": ((HITS, whole(-1)), "is negative"),
    "one cluster holds all": ((HITS, np.eye(10, dtype=np.int64)[0]), "a resample: has nothing"),
    "too large to be exact": ((HITS, whole(2**26)), "too large"),
    "far too large to be exact": ((whole(2**62), TRIALS), "too large"),
    "clusters that are the same": ((whole(1), whole(1)), "the same"),
    "clusters of one ratio": ((whole(7, 5), whole(7, 5)), "the same"),
    "clusters of one ratio that no double holds": ((3 * TRIALS, 7 * TRIALS), "the same"),
    "clusters of one tiny ratio": ((np.full(10, 1), np.full(10, 49)), "the same"),
    "no hits at all": ((np.zeros(10, np.int64), TRIALS), "the same"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_data_that_cannot_be_judged_is_refused_by_a_ratio(name: str) -> None:
    (above, below), problem = REFUSED[name]
    with pytest.raises(BadData, match=problem):
        ratio(above, below, weights(10, 300), LEVEL)


@pytest.mark.parametrize("name", REFUSED)
@pytest.mark.parametrize("side", ["first", "second"])
def test_data_that_cannot_be_judged_is_refused_by_a_difference(name: str, side: str) -> None:
    (above, below), problem = REFUSED[name]
    if problem == "the same":  # one side may be the same in every cluster, the difference may not
        pairs = ((above, below), (above, below))
    else:
        pairs = ((above, below), (HITS, TRIALS)) if side == "first" else ((HITS, TRIALS), (above, below))
    with pytest.raises(BadData, match=problem):
        difference(*pairs, weights(10, 300), LEVEL)


def test_good_data_is_not_refused() -> None:
    assert ratio(HITS, TRIALS, weights(10, 300), LEVEL).clusters == 10
    assert difference((HITS, TRIALS), (whole(1), TRIALS), weights(10, 300), LEVEL).clusters == 10


@pytest.mark.parametrize("clusters", [0, 1, 9])
def test_fewer_than_ten_clusters_are_refused(clusters: int) -> None:
    with pytest.raises(BadData, match="too few: at least 10"):
        resample_weights(clusters, 100, Stream(7, "x"))


def test_every_resample_draws_as_many_clusters_as_there_are_each_equally_often() -> None:
    drawn = weights(12, 20_000)
    assert drawn.shape == (20_000, 12)
    assert np.all(drawn.sum(axis=1) == 12) and np.all(drawn == np.round(drawn))
    assert np.abs(drawn.mean(axis=0) - 1).max() < 5 * np.sqrt(11 / 12 / 20_000)
    assert drawn.var(axis=0) == pytest.approx(np.full(12, 11 / 12), rel=0.05)


def test_value_and_counts_are_plain_sums() -> None:
    hits, trials = study(1)
    made = ratio(hits, trials, weights(30), LEVEL)
    assert made.value == hits.sum() / trials.sum()
    assert (made.clusters, made.observations) == (30, trials.sum())


def ends(made: Estimate) -> NDArray[np.float64]:
    """All six ends of the three intervals."""
    assert made.bootstrap_t is not None
    intervals: list[Interval] = [made.percentile, made.bootstrap_t, made.cluster_t]
    return np.array([[i.low, i.high] for i in intervals])


def test_the_order_of_clusters_changes_no_value_and_no_interval_beyond_monte_carlo_error() -> None:
    hits, trials = study(2)
    order = np.random.default_rng(0).permutation(30)
    one = ratio(hits, trials, weights(30, 20_000), LEVEL)
    two = ratio(hits[order], trials[order], weights(30, 20_000), LEVEL)
    assert (two.value, two.observations) == (one.value, one.observations)
    assert ends(two)[2] == pytest.approx(ends(one)[2], rel=1e-13)
    width = ends(one)[0, 1] - ends(one)[0, 0]
    assert np.abs(ends(two) - ends(one)).max() < 0.03 * width


def test_the_order_of_clusters_changes_nothing_where_the_draws_are_ordered_with_them() -> None:
    hits, trials = study(2)
    order, drawn = np.random.default_rng(0).permutation(30), weights(30)
    one, two = (
        ratio(hits, trials, drawn, LEVEL),
        ratio(hits[order], trials[order], drawn[:, order], LEVEL),
    )
    assert two.percentile == one.percentile and two.bootstrap_t == one.bootstrap_t


def test_clusters_given_twice_keep_the_value_and_narrow_every_interval_by_the_root_of_two() -> None:
    hits, trials = study(3)
    made = ratio(hits, trials, weights(30, 20_000), LEVEL)
    twice = ratio(np.repeat(hits, 2), np.repeat(trials, 2), weights(60, 20_000), LEVEL)
    assert twice.value == made.value
    shrunk = np.diff(ends(twice), axis=1) / np.diff(ends(made), axis=1)
    assert shrunk[:, 0] == pytest.approx(np.full(3, np.sqrt(0.5)), rel=0.06)


@pytest.mark.parametrize("factor", [2, 1024, 3, 10])
def test_scaling_both_columns_changes_no_bit(factor: int) -> None:
    hits, trials = study(4)
    one = ratio(hits, trials, weights(30), LEVEL)
    two = ratio(hits * factor, trials * factor, weights(30), LEVEL)
    assert (two.value, two.percentile, two.cluster_t) == (one.value, one.percentile, one.cluster_t)
    if factor in (2, 1024):
        assert two.bootstrap_t == one.bootstrap_t
    assert ends(two) == pytest.approx(ends(one), rel=1e-10)


@pytest.mark.parametrize("factor", [2, 1024])
def test_scaling_above_the_line_scales_value_and_intervals_bit_for_bit(factor: int) -> None:
    hits, trials = study(4)
    one, two = (ratio(above, trials, weights(30), LEVEL) for above in (hits, hits * factor))
    assert two.value == factor * one.value
    assert (ends(two) == factor * ends(one)).all()


def test_the_same_state_gives_the_same_bits_again() -> None:
    hits, trials = study(5)
    made = ratio(hits, trials, weights(30), LEVEL)
    assert made == ratio(hits.copy(), np.asfortranarray(trials), np.asfortranarray(weights(30)), LEVEL)
    assert made.percentile == GOLDEN


GOLDEN = Interval(0.46866201356024606, 0.5895296419937839)
