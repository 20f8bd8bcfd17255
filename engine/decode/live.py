"""Speculative decoding as a server runs it: draft, verify in one pass, keep what stands, repeat."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from engine.decode.drafts import Draft
from engine.decode.llama import Cache, Llama, forward
from engine.decode.verifier import Draws, Proposal, Verdict, softmax, verify, verify_greedy


@dataclass(frozen=True)
class Round:
    """One draft-and-verify step, in tokens.

    Tokens beyond the end of the text count as neither accepted nor emitted.
    """

    proposed: int
    accepted: int
    emitted: int

    @property
    def tried(self) -> int:
        """Draft positions the verdict depended on: the accepted ones and the first rejected."""
        return min(self.proposed, self.emitted)


@dataclass(frozen=True)
class Decoded:
    """A continuation and the rounds it took."""

    tokens: tuple[int, ...]
    rounds: tuple[Round, ...]


def decode(
    target: Llama,
    draft: Draft,
    prompt: Sequence[int],
    *,
    length: int,
    new_tokens: int,
    end: int,
    draws: Draws | None = None,
) -> Decoded:
    """Continue `prompt` by up to `new_tokens` tokens, `length` draft tokens a round.

    Greedy where `draws` is None, else sampled at temperature one. Stops after the token `end`. A round
    never drafts beyond the limit, so near it fewer tokens are proposed.
    """
    text, rounds = list(prompt), list[Round]()
    last = len(prompt) + new_tokens
    cache = Cache(target, rows=1, capacity=last + 1)
    read = 0  # positions of `text` in the target's cache
    while len(text) < last and (len(text) == len(prompt) or text[-1] != end):
        room = min(length, last - len(text) - 1)
        proposal = draft.propose(text, room, None if draws is None else draws.draft) if room else Proposal(())
        fed = [*text[read:], *proposal.tokens]
        logits = forward(target, torch.tensor([fed]), cache, read, last=len(proposal.tokens) + 1)[0]
        verdict = _judge(proposal, logits, draws)
        new = _until(end, [*proposal.tokens[: verdict.accepted], verdict.token])
        rounds.append(Round(len(proposal.tokens), min(verdict.accepted, len(new)), len(new)))
        read = len(text) + min(verdict.accepted, len(new))
        text += new
    return Decoded(tuple(text[len(prompt) :]), tuple(rounds))


def _judge(proposal: Proposal, logits: torch.Tensor, draws: Draws | None) -> Verdict:
    if draws is None:
        return verify_greedy(proposal.tokens, np.asarray(logits.argmax(dim=-1)))
    return verify(proposal, softmax(logits.numpy()), draws)


def _until(end: int, tokens: list[int]) -> list[int]:
    return tokens[: tokens.index(end) + 1] if end in tokens else tokens
