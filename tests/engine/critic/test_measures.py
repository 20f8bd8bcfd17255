"""The critic's own numbers against the engine's, against theory, and against recomputation by hand."""

from __future__ import annotations

import subprocess
import sys
from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from engine.contract.errors import BadData
from engine.contract.seeds import Stream
from engine.critic import draws, student
from engine.critic.counts import Spread, Sum
from engine.critic.ratios import Ratios
from engine.stats import bootstrap

LEVEL = 0.95
RESAMPLES = 10_000


def columns(clusters: int, seed: int = 3, wide: int = 2) -> np.ndarray:
    """Counts of a ratio, or of two."""
    random = np.random.default_rng(seed)
    n = random.integers(20, 80, (clusters, wide // 2))
    hits = random.binomial(n, random.beta(4, 5, (clusters, wide // 2)))
    return np.stack([part for at in range(wide // 2) for part in (hits[:, at], n[:, at])], axis=1)


def engine_ratio(table: np.ndarray, root: int = 1) -> bootstrap.Ratio:
    """The engine's ratio of the first two columns."""
    drawn = bootstrap.resample_weights(len(table), RESAMPLES, Stream(root, "b"))
    return bootstrap.ratio(table[:, 0], table[:, 1], drawn, LEVEL)


def engine_difference(table: np.ndarray, root: int = 1) -> bootstrap.Difference:
    """The engine's difference of two ratios."""
    drawn = bootstrap.resample_weights(len(table), RESAMPLES, Stream(root, "b"))
    return bootstrap.difference((table[:, 0], table[:, 1]), (table[:, 2], table[:, 3]), drawn, LEVEL)


@pytest.mark.parametrize("freedom", [2, 3, 9, 11, 29, 83, 500])
@pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.99])
def test_quantiles_of_student_are_those_of_scipy(freedom: int, level: float) -> None:
    assert student.quantile(level, freedom) == pytest.approx(stats.t.ppf((1 + level) / 2, freedom), abs=1e-8)


@pytest.mark.parametrize(("level", "freedom"), [(0.95, 1), (1.0, 9), (0.0, 9)])
def test_a_quantile_out_of_range_is_refused(level: float, freedom: int) -> None:
    with pytest.raises(ValueError, match="out of range"):
        student.quantile(level, freedom)


@pytest.mark.parametrize("clusters", [12, 30, 84])
def test_ratios_agree_with_the_engine_and_its_intervals_pass_under_any_seed(clusters: int) -> None:
    table = columns(clusters)
    made = Ratios(table, range(clusters), LEVEL, RESAMPLES)
    for root in range(15):
        theirs = engine_ratio(table, root)
        assert theirs.bootstrap_t is not None
        committed = {
            "value": repr(theirs.value),
            "clusters": clusters,
            "observations": theirs.observations,
            "low": theirs.percentile.low,
            "high": theirs.percentile.high,
            "bootstrap_t": {"low": theirs.bootstrap_t.low, "high": theirs.bootstrap_t.high},
            "cluster_t": {"low": theirs.cluster_t.low, "high": theirs.cluster_t.high},
        }
        assert made.faults(committed) == []


@pytest.mark.parametrize("clusters", [12, 84])
def test_differences_agree_with_the_engine(clusters: int) -> None:
    table = columns(clusters, wide=4)
    made, theirs = Ratios(table, range(clusters), LEVEL, RESAMPLES), engine_difference(table)
    committed = {
        "value": repr(theirs.value),
        "observations": theirs.observations,
        "low": theirs.percentile.low,
        "high": theirs.percentile.high,
        "cluster_t": {"low": theirs.cluster_t.low, "high": theirs.cluster_t.high},
    }
    assert made.faults(committed) == []


CHANGED = {
    "last digit of the value": ({"value": 1e-15}, "value"),
    "a cluster more": ({"clusters": 1}, "clusters"),
    "an observation fewer": ({"observations": -1}, "observations"),
    "a fifth of the half width at the low end": ({"low": 0.2}, "percentile low"),
    "a fifth inward": ({"low": -0.2}, "percentile low"),
    "a fifth at the high end": ({"high": 0.2}, "percentile high"),
    "a wider bootstrap-t": ({"bootstrap_t.low": 0.3}, "bootstrap_t low"),
    "a hundred-thousandth of a robust interval": ({"cluster_t.high": 1e-5}, "cluster_t high"),
}


@pytest.mark.parametrize("name", CHANGED)
def test_a_changed_field_is_named(name: str) -> None:
    table = columns(84)
    made = Ratios(table, range(84), LEVEL, RESAMPLES)
    committed = made.fields()
    assert made.faults(committed) == []
    changes, expected = CHANGED[name]
    half = (committed["high"] - committed["low"]) / 2
    for field, by in changes.items():
        owner, _, end = field.rpartition(".")
        place = committed[owner] if owner else committed
        place[end] = place[end] + by * (half if end in ("low", "high") else 1)
    assert [fault.split(" is committed")[0] for fault in made.faults(committed)] == [expected]


@pytest.mark.parametrize("wide", [2, 4])
def test_what_remains_without_clusters_is_what_the_rest_alone_gives(wide: int) -> None:
    table = columns(9, wide=wide)
    numbered = [100, 3, 7, 21, 5, 9, 11, 13, 2]  # clusters are known by number, in any order
    made = Ratios(table, numbered, LEVEL, RESAMPLES)
    sets = np.array(list(combinations(numbered, 2)))
    moved = {name: made.moved(name, sets) for name in ("value", "low", "clusters", "observations")}
    offset = (made.part("low") - made.value) / made.error
    for at, gone in enumerate(sets.tolist()):
        left = table[[row for row, number in enumerate(numbered) if number not in gone]]
        ratios = [left[:, i].sum() / left[:, i + 1].sum() for i in range(0, wide, 2)]
        value = ratios[0] - (ratios[1] if wide == 4 else 0)
        parts = [
            (left[:, 2 * i] - r * left[:, 2 * i + 1]) / left[:, 2 * i + 1].sum() for i, r in enumerate(ratios)
        ]
        residuals = parts[0] - (parts[1] if wide == 4 else 0)
        error = np.sqrt((residuals**2).sum() * len(left) / (len(left) - 1))
        assert moved["value"][at] == pytest.approx(value, rel=1e-12)
        assert moved["low"][at] == pytest.approx(value + offset * error, rel=1e-9)
        assert (moved["clusters"][at], moved["observations"][at]) == (len(left), left[:, 1].sum())
        assert made.rest(frozenset(gone)).value == pytest.approx(value, rel=1e-12)


def test_clusters_that_are_not_counted_change_nothing_and_more_than_half_is_not_judged() -> None:
    made = Ratios(columns(9), range(9), LEVEL, RESAMPLES)
    untouched = made.moved("high", np.array([[9, 40], [1000, 12]]))
    assert untouched.tolist() == [made.part("high")] * 2
    most = made.moved("value", np.array([[0, 1, 2, 3, 9], [0, 1, 2, 3, 4]]))
    assert np.isfinite(most).tolist() == [True, False]


DEGENERATE = {
    "too few clusters": columns(2),
    "nothing in the denominator": np.zeros((12, 2), dtype=np.int64),
    "negative below the line": columns(12) - 100,
    "too large": columns(12) * 10**9,
}


@pytest.mark.parametrize("name", DEGENERATE)
def test_state_that_cannot_be_judged_is_refused(name: str) -> None:
    table = DEGENERATE[name]
    with pytest.raises(BadData):
        Ratios(table, range(len(table)), LEVEL, RESAMPLES)


def test_equal_clusters_and_empty_resamples_have_no_interval() -> None:
    equal = Ratios(np.tile([3, 6], (12, 1)), range(12), LEVEL, RESAMPLES)
    sparse = np.zeros((12, 2), dtype=np.int64)
    sparse[:3] = [[1, 2], [0, 3], [2, 2]]
    for made, problem in (
        (equal, "same ratio"),
        (Ratios(sparse, range(12), LEVEL, RESAMPLES), "a denominator"),
    ):
        with pytest.raises(BadData, match=problem):
            made.part("low")


def test_draws_are_whole_resamples_and_follow_from_seed_and_size_alone() -> None:
    drawn = draws.weights(0, 12)
    assert drawn.shape == (draws.RESAMPLES, 12) and (drawn.sum(axis=1) == 12).all()
    assert drawn[0].tolist() != draws.weights(1, 12)[0].tolist()
    assert drawn.mean(axis=0) == pytest.approx(np.ones(12), abs=0.05)
    assert drawn[:2].astype(int).tolist() == GOLDEN
    studies = draws.members(0, 20, 7, 500)
    assert studies.shape == (500, 20) and (studies.sum(axis=1) == 7).all()
    assert studies.mean(axis=0) == pytest.approx(np.full(20, 0.35), abs=0.08)
    assert draws.members(0, 20, 20, 500).tolist() == [[True] * 20]


GOLDEN = [[1, 1, 1, 0, 0, 1, 3, 2, 1, 1, 0, 1], [1, 0, 1, 0, 0, 1, 4, 0, 2, 1, 2, 0]]


def test_a_sum_is_a_sum_with_and_without_clusters() -> None:
    made = Sum(np.array([5, 7, 0, 2]), [4, 5, 6, 7])
    assert (made.part("value"), made.part("clusters")) == (14, 4)
    assert made.moved("value", np.array([[4, 5], [6, 99]])).tolist() == [2, 14]
    assert made.rest(frozenset({4})).part("value") == 9
    assert made.faults({"value": 14, "clusters": 4}) == []
    assert len(made.faults({"value": 15, "clusters": 3})) == 2


def spread_columns() -> tuple[np.ndarray, np.ndarray]:
    """Counts of three seeds over thirty clusters."""
    random = np.random.default_rng(8)
    below = random.integers(20, 60, (30, 3))
    return random.binomial(below, 0.4), below


def test_a_spread_over_all_clusters_is_that_of_the_totals_and_moves_exactly() -> None:
    above, below = spread_columns()
    made = Spread(above, below, range(30), 30, 1)

    def by_hand(rows: list[int]) -> float:
        return 1.959963984540054 * float((above[rows].sum(0) / below[rows].sum(0)).std(ddof=1))

    assert made.part("value") == pytest.approx(by_hand(list(range(30))), rel=1e-12)
    moved = made.moved("value", np.array([[2, 9], [0, 1]]))
    expected = [by_hand([r for r in range(30) if r not in gone]) for gone in ((2, 9), (0, 1))]
    assert moved == pytest.approx(expected, rel=1e-12)
    assert made.rest(frozenset({2, 9})).part("value") == pytest.approx(expected[0], rel=1e-12)
    assert made.faults({"value": repr(made.part("value") * (1 + 1e-8)), "clusters": 30}) == []
    assert len(made.faults({"value": repr(made.part("value") * (1 + 1e-5)), "clusters": 29})) == 2


def test_a_spread_of_small_studies_moves_as_studies_of_the_rest_would() -> None:
    above, below = spread_columns()
    made = Spread(above, below, range(30), 8, 1000)
    moved = made.moved("value", np.array([[4], [17]]))
    for at, gone in enumerate((4, 17)):
        assert moved[at] == pytest.approx(made.rest(frozenset({gone})).part("value"), rel=0.05)
    assert made.faults({"value": repr(made.part("value") * 1.02)}) == []
    assert len(made.faults({"value": repr(made.part("value") * 1.3)})) == 1
    many = made.moved("value", np.array([list(range(14))]))
    assert np.isnan(many).all()  # too few studies hold none of fourteen clusters


LOADED = "import sys; import engine.critic.run; print(' '.join(sorted(sys.modules)))"


def test_the_critic_loads_none_of_what_it_judges() -> None:
    done = subprocess.run(
        [sys.executable, "-c", LOADED], capture_output=True, text=True, check=True, timeout=60
    )
    engine = {name for name in done.stdout.split() if name.startswith("engine.")}
    assert "engine.critic.judge" in engine
    assert {name.split(".")[1] for name in engine} == {"critic", "contract"}
    assert "engine.contract.seeds" not in engine
