"""The accept/reject rule of speculative decoding, in numpy, float64.

Sources: Leviathan, Kalman, Matias 2023, algorithm 1; Chen et al. 2023, algorithm 2. A draft token x
with draft probability q(x) and target probability p(x) is accepted with probability min(1, p(x)/q(x));
at the first rejection the next token is drawn from the residual max(p - q, 0), renormalised; if every
draft token is accepted, a bonus token is drawn from the target. The output then follows the target's
law exactly. Shapes: k draft tokens, V vocabulary.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.contract.errors import BadData
from engine.contract.seeds import Stream

Probabilities = NDArray[np.float64]


@dataclass(frozen=True)
class Proposal:
    """What a draft offers for one round.

    `probability` (k, V) is the law each token was drawn from; None says that the tokens were not
    drawn at all, so that each has draft probability one.
    """

    tokens: tuple[int, ...]
    probability: Probabilities | None = None


@dataclass(frozen=True)
class Verdict:
    """How many draft tokens stand, and the token the target adds after them."""

    accepted: int
    token: int


class Draws:
    """Uniform draws for verification, in separate streams so that no decision shares noise with another."""

    def __init__(self, root: int, name: str) -> None:
        self.draft = Stream(root, f"{name}/draft")
        self.accept = Stream(root, f"{name}/accept")
        self.residual = Stream(root, f"{name}/residual")
        self.bonus = Stream(root, f"{name}/bonus")


def verify(proposal: Proposal, target: Probabilities, draws: Draws) -> Verdict:
    """Judge one round. `target` (k+1, V) holds the target's law after 0 … k draft tokens.

    Raises `BadData` for a law that is not one, and for a token its own draft could not have drawn.
    """
    check_laws(proposal, target)
    for index, token in enumerate(proposal.tokens):
        law = target[index]
        draft = None if proposal.probability is None else proposal.probability[index]
        chance = acceptance(law, draft, token)
        if draws.accept.uniform(1)[0] >= chance:
            return Verdict(index, draw(residual(law, draft, token), draws.residual.uniform(1)[0]))
    return Verdict(len(proposal.tokens), draw(target[-1], draws.bonus.uniform(1)[0]))


def verify_greedy(tokens: tuple[int, ...], best: NDArray[np.int64]) -> Verdict:
    """Judge one greedy round. `best` (k+1,) is the target's top token after 0 … k draft tokens."""
    accepted = 0
    while accepted < len(tokens) and tokens[accepted] == best[accepted]:
        accepted += 1
    return Verdict(accepted, int(best[accepted]))


def acceptance(target: Probabilities, draft: Probabilities | None, token: int) -> float:
    """Probability that a proposed token is kept: min(1, target/draft)."""
    proposed = 1 if draft is None else draft[token]
    if proposed <= 0.0:
        raise BadData(
            f"token {token}", "has draft probability zero,", "Pass the law the token was drawn from."
        )
    chance: float = min(1, target[token] / proposed)
    return chance


def residual(target: Probabilities, draft: Probabilities | None, token: int) -> Probabilities:
    """The law of the token that replaces a rejected one: max(target - draft, 0), renormalised. (V,)

    Where rounding leaves nothing of it (draft equal to target), the target's own law is returned.
    """
    if draft is None:
        rest = target.copy()
        rest[token] = 0
    else:
        rest = np.maximum(target - draft, 0)
    total = rest.sum()
    return rest / total if total > 0.0 else target


def draw(probability: Probabilities, uniform: float) -> int:
    """The token where the cumulative probability (V,) passes `uniform` (0 … 1), never of weight zero."""
    cumulative = np.cumsum(probability)
    token = int(np.searchsorted(cumulative, uniform * cumulative[-1], side="right"))
    return min(token, int(np.flatnonzero(probability)[-1]))


def softmax(logits: NDArray[np.float32], temperature: float = 1.0) -> Probabilities:
    """Probabilities in float64 of fp32 logits (…, V); sums to one along the last axis."""
    wide = logits.astype(np.float64)
    wide /= temperature
    wide -= wide.max(axis=-1, keepdims=True)
    np.exp(wide, out=wide)
    wide /= wide.sum(axis=-1, keepdims=True)
    return wide


def check_laws(proposal: Proposal, target: Probabilities) -> None:
    """Raise `BadData` unless there is a law a token and one more, each a law."""
    drafted = len(proposal.tokens)
    if target.ndim != 2 or len(target) != drafted + 1:
        raise BadData(
            f"target law of shape {target.shape}", f"for {drafted} draft tokens.", "Pass one row more."
        )
    if proposal.probability is not None and proposal.probability.shape != (drafted, target.shape[1]):
        raise BadData(
            f"draft law of shape {proposal.probability.shape}", "does not fit.", "Pass a row a token."
        )
    laws = target if proposal.probability is None else np.concatenate([target, proposal.probability])
    totals = laws.sum(axis=1)
    if not np.all(np.abs(totals - 1.0) < 1e-9) or laws.min() < 0.0:
        raise BadData(
            "a law", f"sums to {totals.min():.6g} … {totals.max():.6g}.", "Pass normalised probabilities."
        )
