"""Rounds recomputed from a recorded text, in one pass of each model instead of one a round.

Greedy: a draft model's guess at a position depends only on the text before it, so the rounds follow
from its top tokens along the text, equal to live decoding round by round.

Sampled: given that the text's token at a position is x, the draft had proposed x and the target had
accepted it with probability q(x) min(1, p(x)/q(x)) / p(x) = min(1, q(x)/p(x)); p is the target's law,
q the draft's. One uniform draw a position decides it, and text and rounds together then have the
same law as live decoding. Whether the drawn proposal merely equals x would accept the sum of p q, less
than the sum of min(p, q). For a draft that does not draw, q is one at its token: accepted where equal.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from engine.decode.drafts.lookup import Lookup
from engine.decode.live import Round
from engine.decode.llama import Cache, Llama, forward


@dataclass(frozen=True)
class Pass:
    """What one model says along a text of n tokens: its top token and the text token's log-probability."""

    best: NDArray[np.int64]  # (n,)
    log_probability: NDArray[np.float64]  # (n,), nats; minus infinity where the model cannot name the token


Accepted = Callable[[int, int], tuple[int, int]]  # (start, room) -> (proposed, accepted before the text ends)


def read(model: Llama, prompt: Sequence[int], text: Sequence[int]) -> Pass:
    """One pass of a model over prompt and text."""
    ids = torch.tensor([[*prompt, *text[:-1]]])
    logits = forward(model, ids, Cache(model, rows=1, capacity=ids.shape[1]), 0, last=len(text))[0]
    best = model.token(logits.argmax(dim=-1))
    wide = model.full(logits).double()
    chosen = wide[torch.arange(len(text)), torch.tensor(list(text))]
    return Pass(np.asarray(best), np.asarray(chosen - wide.logsumexp(dim=-1)))


def rounds(accepted: Accepted, *, text: int, length: int, new_tokens: int) -> list[Round]:
    """Walk a text of `text` tokens, written under a limit of `new_tokens`, by rounds of `length` drafts."""
    out, start = [], 0
    while start < text:
        room = min(length, new_tokens - start - 1)
        proposed, kept = accepted(start, room)
        left = text - start
        out.append(Round(proposed, min(kept, left), min(kept + 1, left)))
        start += out[-1].emitted
    return out


def by_agreement(agrees: NDArray[np.bool_]) -> Accepted:
    """A draft model that proposes at every position; `agrees` (n,) says where its token stands."""
    misses = np.flatnonzero(~agrees)

    def accepted(start: int, room: int) -> tuple[int, int]:
        following = misses[np.searchsorted(misses, start) :]
        run = int(following[0]) - start if len(following) else len(agrees) - start
        return room, min(run, room)

    return accepted


def greedy_agreement(draft: Pass, text: Sequence[int]) -> NDArray[np.bool_]:
    """Where the draft's top token is the text's. (n,)"""
    agrees: NDArray[np.bool_] = draft.best == np.asarray(text)
    return agrees


def sampled_agreement(target: Pass, draft: Pass, uniform: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Where the text's token had been proposed and accepted: with probability min(1, draft/target). (n,)"""
    return uniform < np.exp(np.minimum(0.0, draft.log_probability - target.log_probability))


def by_lookup(prompt: Sequence[int], text: Sequence[int], lookup: Lookup) -> Accepted:
    """Prompt lookup over a recorded text; it draws nothing, so a proposal stands where it equals the text."""

    def accepted(start: int, room: int) -> tuple[int, int]:
        tokens = lookup.propose([*prompt, *text[:start]], room).tokens if room else ()
        kept = 0
        while kept < min(len(tokens), len(text) - start) and tokens[kept] == text[start + kept]:
            kept += 1
        return len(tokens), kept

    return accepted
