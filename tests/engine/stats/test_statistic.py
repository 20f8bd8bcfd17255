"""A statement of how a value follows from state gives that value, or says why it cannot."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from engine.contract.errors import BadData
from engine.contract.seeds import Stream
from engine.stats.bootstrap import difference, ratio, resample_weights
from engine.stats.statistic import Table, compute

COLUMNS = ["cluster", "family", "hits", "more", "trials", "h_0", "h_1", "h_2", "n_0", "n_1", "n_2"]
SEEDS: dict[str, Any] = {
    "kind": "seed_spread",
    "numerator": ["h_0", "h_1", "h_2"],
    "denominator": ["n_0", "n_1", "n_2"],
    "prompts": 40,
    "subsets": 1,
    "stream": "subsets",
}
RATIO: dict[str, Any] = {"kind": "ratio", "numerator": ["hits"], "denominator": ["trials"], "stream": "b"}


def rows() -> list[list[int]]:
    """Forty clusters in two families, with three seeds."""
    random = np.random.default_rng(3)
    trials = random.integers(20, 90, (40, 4))
    hits = random.binomial(trials, 0.4)
    more = random.integers(0, 9, 40)
    return [
        [i, i % 2, int(h[0]), int(m), int(n[0]), *map(int, h[1:]), *map(int, n[1:])]
        for i, (h, m, n) in enumerate(zip(hits, more, trials, strict=True))
    ]


@pytest.fixture
def table() -> Table:
    """Forty clusters, a thousand resamples."""
    return Table.from_rows(COLUMNS, rows(), root=7, resamples=1000, level=0.95)


def column(name: str) -> Any:
    """A column of the rows, as numpy has it."""
    return np.array(rows())[:, COLUMNS.index(name)]


def test_a_ratio_adds_up_its_columns_and_draws_from_its_stream(table: Table) -> None:
    made = compute(RATIO | {"numerator": ["hits", "more"]}, table)
    drawn = resample_weights(40, 1000, Stream(7, "b"))
    direct = ratio(column("hits") + column("more"), column("trials"), drawn, 0.95)
    assert (made["value"], made["low"], made["high"]) == (
        direct.value,
        direct.percentile.low,
        direct.percentile.high,
    )
    assert direct.bootstrap_t is not None
    assert made["bootstrap_t"] == {"low": direct.bootstrap_t.low, "high": direct.bootstrap_t.high}
    assert made["cluster_t"] == {"low": direct.cluster_t.low, "high": direct.cluster_t.high}
    assert (made["level"], made["resamples"], made["clusters"]) == (0.95, 1000, 40)
    assert made["observations"] == column("trials").sum()
    assert made["method"] == "percentile prompt-cluster bootstrap"


def test_a_ratio_of_one_family_takes_only_its_rows(table: Table) -> None:
    made = compute(RATIO | {"family": 1}, table)
    ours = column("family") == 1
    direct = ratio(
        column("hits")[ours], column("trials")[ours], resample_weights(20, 1000, Stream(7, "b")), 0.95
    )
    assert (made["value"], made["low"], made["clusters"]) == (direct.value, direct.percentile.low, 20)


def test_a_difference_resamples_both_ratios_together(table: Table) -> None:
    made = compute(RATIO | {"kind": "difference", "minus": RATIO | {"numerator": ["more"]}}, table)
    pairs = (column("hits"), column("trials")), (column("more"), column("trials"))
    direct = difference(*pairs, resample_weights(40, 1000, Stream(7, "b")), 0.95)
    assert (made["value"], made["low"], made["high"]) == (
        direct.value,
        direct.percentile.low,
        direct.percentile.high,
    )
    assert made["method"] == "percentile prompt-cluster bootstrap, paired"
    assert "bootstrap_t" not in made


def test_a_sum_is_a_whole_number_without_an_interval(table: Table) -> None:
    made = compute({"kind": "sum", "numerator": ["hits", "more"], "stream": "b"}, table)
    assert made == {"value": int(column("hits").sum() + column("more").sum()), "clusters": 40}


def test_two_streams_give_two_intervals_and_one_stream_is_drawn_once(table: Table) -> None:
    one, again, other = (compute(RATIO | {"stream": name}, table) for name in ("b", "b", "c"))
    assert one == again
    assert one["low"] != other["low"] and one["cluster_t"] == other["cluster_t"]
    assert table.weights("b", 40) is table.weights("b", 40)


def ratios(chosen: Any) -> Any:
    """The ratio of each seed over some prompts."""
    return np.array([column(f"h_{s}")[chosen].sum() / column(f"n_{s}")[chosen].sum() for s in range(3)])


def test_the_spread_over_seeds_is_numpys_standard_deviation_times_the_normal_quantile(table: Table) -> None:
    made = compute(SEEDS, table)
    expected = 1.959964 * ratios(np.arange(40)).std(ddof=1)
    assert made["value"] == pytest.approx(expected, rel=1e-12)
    assert made["clusters"] == 40


def test_the_spread_of_smaller_studies_is_the_root_mean_square_over_random_subsets(table: Table) -> None:
    made = compute(SEEDS | {"prompts": 12, "subsets": 50}, table)
    stream = Stream(7, "subsets")
    variances = [ratios(stream.permutation(40)[:12]).var(ddof=1) for _ in range(50)]
    assert made["value"] == pytest.approx(1.959964 * np.sqrt(np.mean(variances)), rel=1e-12)
    assert made["clusters"] == 12
    assert made["value"] > compute(SEEDS, table)["value"]


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "unknown column": (RATIO | {"numerator": ["misses"]}, "'misses': is not there"),
    "unknown column below": (RATIO | {"denominator": ["misses"]}, "'misses': is not there"),
    "no column": (RATIO | {"numerator": []}, "names no state column"),
    "a family nobody is in": (RATIO | {"family": 9}, "too few"),
    "a sum of an unknown column": ({"kind": "sum", "numerator": ["misses"], "stream": "b"}, "is not there"),
    "unknown column of a seed": (SEEDS | {"numerator": ["h_0", "h_1", "h_9"]}, "'h_9': is not there"),
    "one seed": (SEEDS | {"numerator": ["h_0"], "denominator": ["n_0"]}, "no spread"),
    "uneven seeds": (SEEDS | {"denominator": ["n_0", "n_1"]}, "no spread"),
    "more prompts than there are": (SEEDS | {"prompts": 41}, "no spread of studies of 41"),
    "no prompts": (SEEDS | {"prompts": 0}, "no spread of studies of 0"),
    "a seed that saw nothing": (
        SEEDS | {"denominator": ["n_0", "n_1", "zero"]},
        "nothing in the denominator",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_statement_the_state_cannot_answer_is_refused(name: str) -> None:
    statement, problem = REFUSED[name]
    grown = [[*row, 0] for row in rows()]
    table = Table.from_rows([*COLUMNS, "zero"], grown, root=7, resamples=200, level=0.95)
    with pytest.raises(BadData, match=problem):
        compute(statement, table)


@pytest.mark.parametrize("grid", [[], [[1, 2]], [[1] * 12] * 3, [1] * 11])
def test_state_that_does_not_fit_its_columns_is_refused(grid: Any) -> None:
    with pytest.raises(BadData, match="for 11 columns"):
        Table.from_rows(COLUMNS, grid, root=7, resamples=1000, level=0.95)
