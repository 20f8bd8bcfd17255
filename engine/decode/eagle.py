"""The EAGLE draft head: one layer that guesses the target's next final hidden state, and how it is read.

Source: Li et al. 2024. The input at a position is the target's feature there joined with the embedding of
the token after it; the output is a guess of the next feature, which the target's own frozen head turns into a
law. Beyond its first token a chain goes on from its own guesses. Here the feature is the normed final hidden
state, a draft is a chain, and the law is over the tokens most frequent in the samples it was trained on.
Shapes: B rows, n positions, w width, k depth, V' tokens of the head.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

from engine.decode.llama import Llama, Place, block
from engine.decode.replay import Accepted


@dataclass(frozen=True)
class Head:
    """The trained layer as a Llama of one layer, its final norm unused, and the join of its inputs."""

    model: Llama  # its embedding and head rows are the target's
    join: Tensor  # (w, 2 w)
    bias: Tensor  # (w,)

    def inputs(self, features: Tensor, ids: Tensor) -> Tensor:
        """What enters the layer. Features (B, n, w) and the tokens after them (B, n) → (B, n, w)."""
        embedded = F.embedding(ids, self.model.embedding)
        return F.linear(torch.cat([features, embedded], dim=-1), self.join, self.bias)

    def guess(self, features: Tensor, ids: Tensor, place: Place) -> Tensor:
        """The next feature after each, guessed. (B, n, w)"""
        model = self.model
        return block(model.shape, model.layers[0], self.inputs(features, ids), place, 0)


class Unrolled:
    """The places of all chains of one depth: chain b sees true positions up to b, and itself."""

    def __init__(self, cos: Tensor, sin: Tensor, count: int) -> None:
        self.angles, self.count, self.depth = (cos, sin), count, 0
        self.kept: list[tuple[Tensor, Tensor]] = []
        self.mask: Tensor | None = None

    def deepen(self) -> None:
        """Move every chain to its next place."""
        at = torch.arange(self.count) + self.depth
        self.cos, self.sin = self.angles[0][at], self.angles[1][at]
        own = [torch.eye(self.count, dtype=torch.bool)] * self.depth
        true = torch.ones(self.count, self.count, dtype=torch.bool).tril()
        self.mask = torch.cat([true, *own], dim=1)
        self.depth += 1

    def store(self, layer: int, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        """Add the keys and values of this depth; return those of all depths."""
        del layer
        self.kept.append((keys, values))
        return torch.cat([k for k, _ in self.kept], dim=2), torch.cat([v for _, v in self.kept], dim=2)


def unroll(
    head: Head, features: Tensor, ids: Tensor, depth: int, angles: tuple[Tensor, Tensor]
) -> list[Tensor]:
    """Guessed features of the chains that start after every position: `depth` times (B, n, w).

    `features` (B, n, w) are the target's at positions 0 … n-1, `ids` (B, n + depth) the text; chain b guesses
    what comes after token b + 1, then b + 2 and so on. The rotary `angles` reach n + depth positions.
    """
    count = features.shape[1]
    place, out = Unrolled(*angles, count), [features]
    for step in range(1, depth + 1):
        place.deepen()
        out.append(head.guess(out[-1], ids[:, step : step + count], place))
    return out[1:]


@dataclass(frozen=True)
class Chains:
    """What the chains that start before each token of a text say of its tokens; text of n tokens."""

    best: NDArray[np.int64]  # (n, k): the likeliest token at each depth
    log_probability: NDArray[
        np.float64
    ]  # (n, k): of the text's token there, nats; minus infinity off the list


@torch.inference_mode()
def read(
    head: Head,
    features: Tensor,
    prompt: Sequence[int],
    texts: Sequence[Sequence[int]],
    *,
    depth: int,
    temperature: float,
    angles: tuple[Tensor, Tensor],
) -> list[Chains]:
    """Read several answers to one prompt. `features` (B, n, w): the target's, of all but the newest token.

    Temperature zero means greedy; the laws are then at temperature one.
    """
    first, scale = len(prompt) - 2, temperature or 1.0
    width = features.shape[1] + 1 + depth
    rows = [[*prompt, *text] for text in texts]
    ids = torch.tensor([row + [0] * (width - len(row)) for row in rows])
    columns: list[tuple[Tensor, Tensor]] = []
    for step, guessed in enumerate(unroll(head, features, ids, depth, angles)):
        wanted = ids[:, len(prompt) + step :][:, : guessed.shape[1] - first]
        logits = head.model.head(guessed[:, first : first + wanted.shape[1]]) / scale
        columns.append((head.model.token(logits.argmax(dim=-1)), named(head.model, logits, wanted)))
    best, named_ = (torch.stack(part, dim=-1) for part in zip(*columns, strict=True))
    return [
        Chains(np.asarray(best[row, : len(text)]), np.asarray(named_[row, : len(text)]))
        for row, text in enumerate(texts)
    ]


def named(model: Llama, logits: Tensor, ids: Tensor) -> Tensor:
    """Log-probabilities of tokens under logits over a head's list. (B, n, V'), (B, n) → (B, n) in float64."""
    if model.head_tokens is None:
        at, there = ids, torch.ones_like(ids, dtype=torch.bool)
    else:
        at = torch.searchsorted(model.head_tokens, ids.contiguous()).clamp(max=len(model.head_tokens) - 1)
        there = model.head_tokens[at] == ids
    chosen = logits.gather(-1, at[..., None])[..., 0].double() - logits.double().logsumexp(dim=-1)
    return torch.where(there, chosen, -torch.inf)


def stands(
    chains: Chains, target: NDArray[np.float64] | None, text: Sequence[int], uniform: NDArray[np.float64]
) -> NDArray[np.bool_]:
    """Where a chain's token, if it is reached, stands. (n, k); row s, column j judges token s + j.

    Greedy where `target` is None, else with probability min(1, draft/target) given the text's token, as for
    a draft model: `target` (n,) is its log-probability there, `uniform` (n,) one draw a token. A token is
    judged by one round at most, so that one draw serves it whichever chain reaches it.
    """
    count, depth = chains.best.shape
    at = np.arange(count)[:, None] + np.arange(depth)
    inside, at = at < count, np.minimum(at, count - 1)
    if target is None:
        agrees = chains.best == np.asarray(text)[at]
    else:
        agrees = uniform[at] < np.exp(np.minimum(0.0, chains.log_probability - target[at]))
    out: NDArray[np.bool_] = agrees & inside
    return out


def by_chains(stood: NDArray[np.bool_]) -> Accepted:
    """Rounds of chains that each start with the round; `stood` (n, k) as `stands` gives it."""

    def accepted(start: int, room: int) -> tuple[int, int]:
        run = stood[start, :room]
        return len(run), int(np.argmin(np.append(run, False)))

    return accepted
