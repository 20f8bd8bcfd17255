"""Named streams: the same numbers for ever, unrelated between names."""

from __future__ import annotations

import hashlib
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from engine.contract.seeds import Stream, seed_words

ROOT = 20261130


def test_seed_words_are_the_digest_of_root_and_name() -> None:
    digest = hashlib.sha256(b"20261130:bootstrap").hexdigest()
    assert "".join(f"{word:08x}" for word in seed_words(ROOT, "bootstrap")) == digest


GOLDEN = {
    (ROOT, "bootstrap"): (
        ["0x1.7952053e8f115p-1", "0x1.8e3ef1051e713p-1", "0x1.62398ed43b854p-1"],
        [17, 70, 23, 14, 42, 44],
        [3, 6, 4, 0, 1, 5, 2],
    ),
    (0, ""): (["0x1.1cc488e686cc0p-1", "0x1.c29a1e6374678p-1"], None, None),
    (1, "a/é"): (["0x1.7f5230701d9b9p-1", "0x1.4e80df323ec5dp-1"], None, None),
}
"""Draws made once and kept: first uniform draws, then numbers below 84, then an order of seven."""


@pytest.mark.parametrize(("root", "name"), GOLDEN)
def test_a_stream_gives_the_numbers_it_gave_when_it_was_first_written(root: int, name: str) -> None:
    uniform, below, order = GOLDEN[root, name]
    stream = Stream(root, name)
    assert [value.hex() for value in stream.uniform(len(uniform))] == uniform
    if below is not None:
        assert stream.below(84, len(below)).tolist() == below
    if order is not None:
        assert stream.permutation(len(order)).tolist() == order


def test_draws_follow_on_whatever_the_size_of_the_portions() -> None:
    whole, parts = Stream(ROOT, "x").uniform(10), Stream(ROOT, "x")
    assert np.concatenate([parts.uniform(3), parts.uniform(0), parts.uniform(7)]).tolist() == whole.tolist()


Make = Callable[[int, str], NDArray[np.float64]]


def independent(make: Make) -> None:
    """Fail where draws under different names or roots have anything to do with each other."""
    names = [(ROOT, "a"), (ROOT, "b"), (ROOT, "a/b"), (ROOT + 1, "a"), (ROOT, "a "), (2026113, "0:a")]
    drawn = np.stack([make(*name) for name in names])
    assert len(np.unique(drawn)) == drawn.size
    correlation = np.corrcoef(drawn) - np.eye(len(names))
    assert np.abs(correlation).max() < 5 / np.sqrt(drawn.shape[1])
    lagged = np.corrcoef(drawn[:, 1:], drawn[:, :-1])[: len(names), len(names) :]
    assert np.abs(lagged).max() < 5 / np.sqrt(drawn.shape[1])


def test_streams_of_different_names_and_roots_are_independent() -> None:
    independent(lambda root, name: Stream(root, name).uniform(20_000))


DEPENDENT: dict[str, Make] = {
    "the name is ignored": lambda root, _: Stream(root, "").uniform(20_000),
    "one stream, a step further": lambda _, name: Stream(ROOT, "a").uniform(20_010)[len(name) :][:20_000],
    "one stream, turned round": lambda _, name: (Stream(ROOT, "a").uniform(20_000) + len(name) / 64) % 1,
}


@pytest.mark.parametrize("name", DEPENDENT)
def test_streams_that_share_noise_are_found_out(name: str) -> None:
    with pytest.raises(AssertionError):
        independent(DEPENDENT[name])


def test_asking_one_stream_does_not_move_another() -> None:
    first, second = Stream(ROOT, "a"), Stream(ROOT, "b")
    second.uniform(1000)
    np.random.seed(1)
    assert first.uniform(5).tolist() == Stream(ROOT, "a").uniform(5).tolist()


def test_uniform_draws_are_below_one_and_spread_evenly() -> None:
    drawn = Stream(ROOT, "even").uniform(100_000)
    assert drawn.min() >= 0.0 and drawn.max() < 1.0
    counts = np.bincount((drawn * 50).astype(int), minlength=50)
    assert ((counts - 2000) ** 2 / 2000).sum() < 110  # chi-square, 49 degrees: one in a million


@pytest.mark.parametrize("bound", [1, 2, 7, 84, 2**31])
def test_whole_numbers_stay_below_their_bound_and_spread_evenly(bound: int) -> None:
    drawn = Stream(ROOT, f"below {bound}").below(bound, 50_000)
    assert drawn.min() >= 0 and drawn.max() < bound
    assert abs(drawn.mean() - (bound - 1) / 2) <= 6 * bound / np.sqrt(12 * 50_000)
    if bound <= 84:
        assert len(np.unique(drawn)) == bound


@pytest.mark.parametrize("bound", [0, -1, 2**31 + 1])
def test_a_bound_that_cannot_be_drawn_below_is_refused(bound: int) -> None:
    with pytest.raises(ValueError, match="bound"):
        Stream(ROOT, "x").below(bound, 1)


def test_permutations_are_permutations_and_all_orders_occur() -> None:
    stream = Stream(ROOT, "orders")
    seen = [tuple(stream.permutation(3).tolist()) for _ in range(600)]
    assert set(map(frozenset, seen)) == {frozenset({0, 1, 2})}
    assert min(seen.count(order) for order in set(seen)) > 60 and len(set(seen)) == 6
