"""One round of draft and verify: the pieces of the rule, what it refuses, which streams it asks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special  # type: ignore[import-untyped]

from engine.contract.errors import BadData
from engine.contract.seeds import Stream
from engine.decode.verifier import (
    Draws,
    Probabilities,
    Proposal,
    acceptance,
    draw,
    residual,
    softmax,
    verify,
    verify_greedy,
)

Acceptance = Callable[[Probabilities, Probabilities | None, int], float]
Residual = Callable[[Probabilities, Probabilities | None, int], Probabilities]


def law(*weights: float) -> Probabilities:
    """A law from weights."""
    return np.array(weights, dtype=np.float64) / float(sum(weights))


DEGENERATE = {
    "equal": (law(1, 2, 3), law(1, 2, 3)),
    "equal up to rounding": (law(1, 2, 4), np.nextafter(law(1, 2, 4), 1)),
    "apart": (law(1, 0, 0), law(0, 1, 2)),
    "target certain": (law(0, 1, 0), law(1, 1, 1)),
    "draft certain": (law(1, 1, 1), law(0, 0, 1)),
    "both certain": (law(0, 1, 0), law(0, 1, 0)),
    "target inside the draft": (law(1, 1, 0, 0), law(1, 1, 1, 1)),
    "draft inside the target": (law(1, 1, 1, 1), law(0, 1, 1, 0)),
    "tiny draft": (law(1, 1), law(1e-300, 1)),
    "tiny target": (law(1e-300, 1), law(1, 1)),
    "one token": (law(1), law(1)),
}


def lossless(target: Probabilities, draft: Probabilities, accept: Acceptance, rest: Residual) -> None:
    """Fail unless the sum over drafts of what is kept and what replaces it is the target's law."""
    out = np.zeros_like(target)
    for token in np.flatnonzero(draft):
        chance = accept(target, draft, int(token))
        assert 0.0 <= chance <= 1.0
        out[token] += draft[token] * chance
        out += draft[token] * (1.0 - chance) * rest(target, draft, int(token))
    assert np.abs(out - target).max() < 1e-14


def lossless_undrawn(target: Probabilities, accept: Acceptance, rest: Residual) -> None:
    """The same for drafts that were not drawn: each token for itself."""
    for token in range(len(target)):
        chance = accept(target, None, token)
        out = (1.0 - chance) * rest(target, None, token)
        out[token] += chance
        assert np.abs(out - target).max() < 1e-14


@pytest.mark.parametrize("name", DEGENERATE)
def test_keeping_and_replacing_together_give_the_targets_law_in_degenerate_cases(name: str) -> None:
    target, draft = DEGENERATE[name]
    lossless(target, draft, acceptance, residual)
    lossless_undrawn(target, acceptance, residual)


@pytest.mark.parametrize("size", [2, 3, 5, 50, 1000])
@pytest.mark.parametrize("concentration", [0.05, 1.0, 20.0])
def test_keeping_and_replacing_together_give_the_targets_law(size: int, concentration: float) -> None:
    random = np.random.default_rng(size)
    for _ in range(10):
        target, draft = random.dirichlet([concentration] * size, 2)
        lossless(target, draft, acceptance, residual)
        lossless_undrawn(target, acceptance, residual)


def unscaled(target: Probabilities, draft: Probabilities | None, token: int) -> Probabilities:
    """The residual without its normalisation."""
    return np.maximum(target - (np.eye(len(target))[token] if draft is None else draft), 0.0)


MUTANTS: dict[str, tuple[Acceptance, Residual]] = {
    "always accept": (lambda p, q, x: 1.0, residual),
    "never accept": (lambda p, q, x: 0.0, residual),
    "accept by the target alone": (lambda p, q, x: float(p[x]), residual),
    "accept by the draft alone": (lambda p, q, x: 1.0 if q is None else float(q[x]), residual),
    "accept by the inverse ratio": (lambda p, q, x: min(1.0, (1 if q is None else q[x]) / p[x]), residual),
    "residual not renormalised": (acceptance, unscaled),
    "replacement from the target": (acceptance, lambda p, q, x: p.copy()),
    "replacement from the draft": (acceptance, lambda p, q, x: (np.eye(3)[x] if q is None else q).copy()),
    "residual of the rest": (acceptance, lambda p, q, x: residual(np.eye(3)[x] if q is None else q, p, x)),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_a_wrong_rule_is_found_out(name: str) -> None:
    target, draft = law(1, 3, 4), law(4, 2, 2)
    lossless(target, draft, acceptance, residual)
    with pytest.raises(AssertionError):
        lossless(target, draft, *MUTANTS[name])
    if name != "accept by the target alone":  # which is right for a token that was not drawn
        with pytest.raises(AssertionError):
            lossless_undrawn(target, *MUTANTS[name])


def test_where_nothing_is_left_of_the_residual_the_target_replaces() -> None:
    target = law(1, 2, 3)
    assert residual(target, target.copy(), 1).tolist() == target.tolist()
    assert residual(target, np.nextafter(target, 1), 1).tolist() == target.tolist()
    assert residual(law(0, 1, 0), None, 1).tolist() == [0, 1, 0]


def test_neither_rule_changes_the_laws_it_is_given() -> None:
    target, draft = law(1, 2, 3), law(3, 2, 1)
    before = target.tolist(), draft.tolist()
    residual(target, None, 2)
    residual(target, draft, 0)
    acceptance(target, draft, 0)
    assert (target.tolist(), draft.tolist()) == before


def test_a_token_its_own_draft_could_not_have_drawn_is_refused() -> None:
    with pytest.raises(BadData, match="token 1: has draft probability zero"):
        acceptance(law(1, 1), law(1, 0), 1)
    with pytest.raises(BadData, match="token 2: has draft probability zero"):
        verify(Proposal((2,), law(1, 1, 0)[None]), np.stack([law(1, 1, 1)] * 2), Draws(7, "x"))


EVEN = [1 / 3] * 3
BAD_LAWS: dict[str, tuple[Proposal, Any, str]] = {
    "a row too few": (Proposal((0, 1)), [EVEN, EVEN], "target law of shape"),
    "a row too many": (Proposal((0,)), [EVEN, EVEN, EVEN], "target law of shape"),
    "one law, not a table": (Proposal(()), EVEN, "target law of shape"),
    "a draft law too many": (
        Proposal((0,), np.array([EVEN, EVEN])),
        [EVEN, EVEN],
        "draft law of shape",
    ),
    "another vocabulary": (Proposal((0,), np.array([[0.5, 0.5]])), [EVEN, EVEN], "draft law of shape"),
    "target that sums to less": (Proposal(()), [[0.5, 0.4, 0.0]], "sums to 0.9"),
    "target that sums to more": (Proposal(()), [[0.5, 0.5, 0.1]], "sums to 1.1"),
    "draft that sums to less": (Proposal((0,), np.array([[0.5, 0.4, 0.0]])), [EVEN, EVEN], "sums to 0.9"),
    "negative weight": (Proposal(()), [[1.2, -0.2, 0.0]], "sums to"),
    "NaN": (Proposal(()), [[np.nan, 0.5, 0.5]], "sums to"),
    "logits": (Proposal(()), [[2.0, 5.0, 1.0]], "sums to 8"),
}


@pytest.mark.parametrize("name", BAD_LAWS)
def test_what_is_no_law_is_refused(name: str) -> None:
    proposal, target, problem = BAD_LAWS[name]
    with pytest.raises(BadData, match=problem):
        verify(proposal, np.array(target), Draws(7, "x"))


GREEDY = {
    "nothing proposed": ((), [5], (0, 5)),
    "all stand": ((5, 6), [5, 6, 7], (2, 7)),
    "the first is wrong": ((4, 6), [5, 6, 7], (0, 5)),
    "a later one is wrong": ((5, 4, 7), [5, 6, 7, 8], (1, 6)),
}


@pytest.mark.parametrize("name", GREEDY)
def test_a_greedy_round_keeps_what_the_target_would_have_said(name: str) -> None:
    tokens, best, expected = GREEDY[name]
    verdict = verify_greedy(tokens, np.array(best))
    assert (verdict.accepted, verdict.token) == expected


def test_the_four_streams_are_distinct_and_named() -> None:
    draws = Draws(7, "a")
    streams = {name: getattr(draws, name) for name in ("draft", "accept", "residual", "bonus")}
    drawn = {name: stream.uniform(50).tolist() for name, stream in streams.items()}
    assert drawn == {name: Stream(7, f"a/{name}").uniform(50).tolist() for name in streams}
    assert len({value for values in drawn.values() for value in values}) == 200


@given(
    weights=st.lists(st.sampled_from([0.0, 1e-300, 0.1, 1.0, 3.0]), min_size=1, max_size=6).filter(any),
    uniform=st.one_of(
        st.floats(0, 1, exclude_max=True), st.sampled_from([0.0, float(np.nextafter(1, 0)), 0.5])
    ),
)
@settings(max_examples=200, deadline=None, derandomize=True)
def test_a_draw_is_the_token_whose_share_of_the_line_holds_the_number(
    weights: list[float], uniform: float
) -> None:
    probability = law(*weights)
    token = draw(probability, uniform)
    assert probability[token] > 0.0
    before, upto = probability[:token].sum(), probability[: token + 1].sum()
    assert before - 1e-12 <= uniform <= upto + 1e-12


def test_softmax_is_scipys_in_double_precision_and_bears_minus_infinity_and_large_logits() -> None:
    logits = np.random.default_rng(0).normal(0, 8, (3, 4, 50)).astype(np.float32)
    logits[0, 0, :40] = -np.inf
    logits[1] += np.float32(1e4)
    for temperature in (1.0, 0.7):
        made = softmax(logits, temperature)
        assert made.dtype == np.float64
        np.testing.assert_allclose(
            made, special.softmax(logits.astype(np.float64) / temperature, axis=-1), rtol=1e-11, atol=0
        )
        np.testing.assert_allclose(made.sum(axis=-1), 1.0, rtol=1e-14)
    assert (softmax(logits)[0, 0, :40] == 0).all()
