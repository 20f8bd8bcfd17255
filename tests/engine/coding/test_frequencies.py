"""Where floats end: totals, floors, ties, refusals, and that the shares are the distribution's."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.coding import lockstep
from engine.coding.frequencies import TOTAL, Shares, apportioned, frequencies, weights
from engine.contract.errors import BadData

LOGITS = st.lists(st.floats(-80, 80, width=32) | st.just(-math.inf), min_size=1, max_size=60).filter(
    lambda logits: max(logits) > -math.inf
)


@given(LOGITS, st.sampled_from([60, 61, 997, 1 << 16, TOTAL]))
@settings(max_examples=300, deadline=None, derandomize=True)
def test_every_symbol_has_one_and_all_add_up_to_the_total(logits: list[float], total: int) -> None:
    counts = frequencies(np.array(logits, dtype=np.float32), total)
    assert counts.min() >= 1 and counts.sum() == total and counts.dtype == np.int64


def by_hand(weighing: list[int], seats: int) -> list[int]:
    """Hamilton's method in fractions, one seat at a time."""
    quotas = [Fraction(weight * seats, sum(weighing)) for weight in weighing]
    shares = [math.floor(quota) for quota in quotas]
    order = sorted(range(len(weighing)), key=lambda i: (shares[i] - quotas[i], i))
    for winner in order[: seats - sum(shares)]:
        shares[winner] += 1
    return shares


@given(
    st.lists(st.integers(0, 9) | st.integers(0, 1 << 32), min_size=1, max_size=30).filter(any),
    st.integers(0, TOTAL),
)
@settings(max_examples=300, deadline=None, derandomize=True)
def test_seats_go_by_largest_remainders_and_ties_to_the_lower_symbol(weighing: list[int], seats: int) -> None:
    assert apportioned(np.array(weighing, dtype=np.int64), seats).tolist() == by_hand(weighing, seats)


def test_the_largest_numbers_there_can_be_do_not_overflow() -> None:
    weighing = np.full(49_152, 1 << 32, dtype=np.int64)
    counts = apportioned(weighing, TOTAL - 49_152)
    assert counts.sum() == TOTAL - 49_152 and counts.max() - counts.min() <= 1
    assert counts[0] == counts.max() and counts[-1] == counts.min()


def test_no_share_is_further_than_one_seat_and_the_floor_from_its_probability() -> None:
    logits = np.random.default_rng(3).normal(0, 5, 5000).astype(np.float32)
    wanted = np.exp(logits.astype(np.float64))
    wanted *= (TOTAL - 5000) / wanted.sum()
    assert np.abs(frequencies(logits) - 1 - wanted).max() < 1.01


def test_weights_round_halves_to_even_and_minus_infinity_weighs_nothing() -> None:
    logits = np.array([0.0, -math.inf, -31 * math.log(2)], dtype=np.float32)
    assert weights(logits).tolist() == [1 << 32, 0, 2]


def test_shifting_all_logits_by_a_power_of_two_changes_nothing() -> None:
    logits = np.arange(9, dtype=np.float32)
    assert frequencies(logits + 8).tolist() == frequencies(logits).tolist()


@pytest.mark.parametrize("spoil", [math.nan, math.inf])
def test_logits_that_are_no_numbers_are_refused(spoil: float) -> None:
    with pytest.raises(BadData, match="have no finite largest one"):
        frequencies(np.array([0.0, spoil, 1.0], dtype=np.float32))


def test_all_minus_infinity_is_refused() -> None:
    with pytest.raises(BadData, match="have no finite largest one"):
        frequencies(np.full(3, -math.inf, dtype=np.float32))


@pytest.mark.parametrize(("symbols", "total"), [(0, 8), (9, 8), (2, TOTAL + 1)])
def test_a_total_without_room_is_refused(symbols: int, total: int) -> None:
    with pytest.raises(BadData, match=f"cannot give {symbols} symbols"):
        frequencies(np.zeros(symbols, dtype=np.float32), total)


def test_shares_code_and_decode_as_the_static_model_of_the_same_counts() -> None:
    counts = frequencies(np.random.default_rng(1).normal(0, 3, 40).astype(np.float32), 4096)
    shares, static = Shares(counts), lockstep.Static(counts.tolist())
    message = list(range(40))
    assert lockstep.encode(message, shares) == lockstep.encode(message, static)
    assert [shares.find(slot) for slot in range(4096)] == [static.find(slot) for slot in range(4096)]


@pytest.mark.parametrize("symbol", [-1, 40])
def test_a_symbol_outside_the_vocabulary_is_refused(symbol: int) -> None:
    with pytest.raises(BadData, match=f"symbol {symbol}"):
        list(Shares(np.ones(40, dtype=np.int64)).steps([symbol]))
