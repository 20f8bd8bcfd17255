"""The map to a state finds what is planted and nothing else, and the state follows from the law."""

from __future__ import annotations

import numpy as np
import pytest

from engine.contract.errors import BadData
from engine.observe.reconstruction import by_cluster, parts_of, rebuild, recover, rounded, support
from engine.stats.ridge import Moments

CLUSTERS, EACH, WIDTH = 40, 20, 6
FIT, CHOOSE, TEST = np.arange(20), np.arange(20, 28), np.arange(28, 40)


def explained(planted: float, *, free: float = 0.0, shift: float = 0.0) -> float:
    """Share of the state's variance on test rows that a stream adds to a baseline."""
    rng = np.random.default_rng(1)
    clusters = np.repeat(np.arange(CLUSTERS), EACH)
    states = rng.normal(size=(len(clusters), WIDTH))
    mixing = rng.normal(size=(WIDTH, 10))
    stream = planted * states @ mixing + rng.normal(size=(len(clusters), 10))
    base = free * states + rng.normal(size=states.shape)
    stream[clusters == TEST[0]] += shift
    parts = parts_of(clusters, FIT, CHOOSE, TEST)
    grid = (0.01, 0.1, 1.0)
    without, given = (rebuild(blocks, states, parts, grid) for blocks in ([base], [base, stream]))
    return float((without.error.sum() - given.error.sum()) / (states[parts.test] ** 2).sum())


def test_a_planted_state_is_rebuilt() -> None:
    assert explained(2.0) > 0.5


def test_noise_adds_nothing() -> None:
    assert abs(explained(0.0)) < 0.05


def test_a_baseline_that_holds_the_state_leaves_nothing_to_add() -> None:
    assert explained(2.0, free=50.0) < 0.01


def test_a_prompt_far_from_the_training_rows_is_outside_the_support() -> None:
    rng = np.random.default_rng(2)
    clusters = np.repeat(np.arange(CLUSTERS), EACH)
    rows = rng.normal(size=(len(clusters), 4))
    rows[clusters == TEST[3]] += 8.0
    parts = parts_of(clusters, FIT, CHOOSE, TEST)
    made = rebuild([rows], rng.normal(size=(len(clusters), 2)), parts, (0.1,))
    seen = np.concatenate([clusters[parts.choose], clusters[parts.test]])
    found = support(made.leverage, seen, CHOOSE, TEST, 2)
    assert found.outside[3]
    assert found.worst[0] == TEST[3]
    assert found.outside.sum() <= 4
    assert found.expected == pytest.approx(len(TEST) / (len(CHOOSE) + 1))


def test_a_cluster_in_two_parts_is_refused() -> None:
    with pytest.raises(BadData, match="two parts"):
        parts_of(np.arange(CLUSTERS), FIT, np.array([19, 20]), TEST)


def test_sums_by_cluster_keep_the_order_asked_for() -> None:
    values, clusters = np.array([1.0, 2.0, 4.0]), np.array([7, 3, 7])
    assert by_cluster(values, clusters, np.array([3, 7])).tolist() == [2.0, 5.0]


def law(rows: int, *, head_rank: int = WIDTH) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """A head, states, their log-probabilities and softmax constants."""
    rng = np.random.default_rng(3)
    head = rng.normal(size=(rows, head_rank)) @ rng.normal(size=(head_rank, WIDTH))
    states = rng.normal(size=(5, WIDTH))
    logits = states @ head.T
    constant = np.log(np.exp(logits).sum(axis=1))
    return head, states, logits - constant[:, None], constant


def test_the_state_and_the_constant_follow_from_the_law() -> None:
    head, states, laws, constant = law(200)
    found = recover(head, laws)
    assert (found.rank, found.unknowns) == (WIDTH + 1, WIDTH + 1)
    assert np.allclose(found.states, states, rtol=1e-10)
    assert np.allclose(found.constants, constant, rtol=1e-10)


@pytest.mark.parametrize(("rows", "head_rank"), [(WIDTH, WIDTH), (200, WIDTH - 1)])
def test_too_few_rows_or_too_low_a_rank_do_not_give_the_state(rows: int, head_rank: int) -> None:
    head, states, laws, _ = law(rows, head_rank=head_rank)
    found = recover(head, laws)
    assert found.rank < found.unknowns
    assert not np.allclose(found.states, states, atol=0.01)


def test_coarser_laws_give_coarser_states() -> None:
    head, states, laws, _ = law(200)
    errors = [
        np.abs(recover(head, rounded(laws, precision)).states - states).max()
        for precision in ("float64", "float32", "float16")
    ]
    assert errors[0] < errors[1] < errors[2] < 0.01


def test_ridge_equals_the_closed_form_on_augmented_rows() -> None:
    rng = np.random.default_rng(4)
    rows, outputs = rng.normal(size=(30, 5)) + 3.0, rng.normal(size=(30, 2))
    moments = Moments(rows, outputs)
    weight = np.sqrt(0.7 * moments.unit)
    centred = rows - rows.mean(axis=0)
    stacked = np.concatenate([centred, weight * np.eye(5)])
    wanted = np.linalg.lstsq(
        stacked, np.concatenate([outputs - outputs.mean(axis=0), np.zeros((5, 2))]), rcond=None
    )[0]
    assert np.allclose(moments.fit(0.7).weights, wanted)


@pytest.mark.parametrize("spoiled", [np.nan, np.inf])
def test_rows_that_are_not_finite_are_refused(spoiled: float) -> None:
    rows = np.ones((4, 2)) * np.arange(4)[:, None]
    rows[1, 1] = spoiled
    with pytest.raises(BadData, match="NaN or infinity"):
        Moments(rows, np.zeros((4, 1)))
