"""Where the law is too large to enumerate, a chi-square test whose power is computed beforehand.

At most one run in a thousand million of a right verifier fails; the fault that must be seen is small, and
the number of rounds is the one at which missing it is about as rare.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import chi2, ncx2  # type: ignore[import-untyped]

from engine.decode.tree import ROOT, Tree, verify_by_match, verify_tree
from engine.decode.verifier import Draws, Proposal, draw, verify

VOCABULARY = 200
ROUNDS = 60_000
FALSE_ALARM = 1e-9
Law = NDArray[np.float64]
First = Callable[[Law, Law, Draws], int]


def laws() -> tuple[Law, Law]:
    """A target's law and a draft's, both with long tails, neither with a cell too rare to count."""
    source = np.random.default_rng(7)
    target, draft = source.dirichlet(np.full(VOCABULARY, 0.8), 2)
    return tuple((each + 0.2 / VOCABULARY) / 1.2 for each in (target, draft))  # type: ignore[return-value]


def by_chain(judge: Callable[..., Any]) -> First:
    """The first token of a round with one draft token."""

    def first(target: Law, draft: Law, draws: Draws) -> int:
        token = draw(draft, draws.draft.uniform(1)[0])
        verdict = judge(Proposal((token,), draft[None]), np.stack([target, target]), draws)
        return token if verdict.accepted else int(verdict.token)

    return first


def by_tree(target: Law, draft: Law, draws: Draws) -> int:
    """The first token of a round with three branches."""
    tokens = tuple(draw(draft, draws.draft.uniform(1)[0]) for _ in range(3))
    tree = Tree(tokens, (ROOT,) * 3, np.stack([draft] * 3))
    path = verify_tree(tree, np.stack([target] * 4), draws)
    return tokens[path.nodes[0]] if path.nodes else path.token


def slightly_wrong(proposal: Proposal, target: Law, draws: Draws) -> Any:
    """The draft's law reported a little flatter than the one drawn from."""
    assert proposal.probability is not None
    flat = 0.85 * proposal.probability + 0.15 / VOCABULARY
    return verify(Proposal(proposal.tokens, flat), target, draws)


def statistic(first: First, rounds: int, name: str) -> float:
    """Pearson's statistic of the first tokens against the target's law."""
    (target, draft), draws = laws(), Draws(20261130, f"chi-square/{name}")
    counts = np.bincount([first(target, draft, draws) for _ in range(rounds)], minlength=VOCABULARY)
    expected = rounds * target
    return float(((counts - expected) ** 2 / expected).sum())


def emitted(target: Law, draft: Law, reported: Law) -> Law:
    """The exact law of the first token when the draft's law is reported as another."""
    stands = draft * np.minimum(1.0, target / reported)
    rest = np.maximum(target - reported, 0.0)
    law: Law = stands + (1.0 - stands.sum()) * rest / rest.sum()
    return law


CRITICAL = float(chi2.isf(FALSE_ALARM, VOCABULARY - 1))

RIGHT: dict[str, First] = {
    "ratio": by_chain(verify),
    "match": by_chain(verify_by_match),
    "a tree of three": by_tree,
}


def test_the_fault_that_must_be_seen_is_seen_all_but_surely() -> None:
    target, draft = laws()
    wrong = emitted(target, draft, 0.85 * draft + 0.15 / VOCABULARY)
    shift = ROUNDS * float(((wrong - target) ** 2 / target).sum())
    missed = ncx2.cdf(CRITICAL, VOCABULARY - 1, shift)
    assert np.abs(wrong - target).sum() / 2 < 0.06
    assert missed < 1e-6


@pytest.mark.parametrize("name", RIGHT)
def test_a_right_rule_passes(name: str) -> None:
    assert statistic(RIGHT[name], ROUNDS, name) < CRITICAL


def test_the_planted_fault_is_rejected() -> None:
    assert statistic(by_chain(slightly_wrong), ROUNDS, "planted") > CRITICAL
