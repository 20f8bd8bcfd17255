"""A steered draft decoding live, with the stream of a text that is known beforehand or tapped on the way."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import torch

from engine.contract.seeds import Stream
from engine.decode.llama import Cache, Llama, forward
from engine.decode.verifier import Proposal, draw
from engine.observe.conversion import Floats, Integers, Rows
from engine.observe.conversion_bias import Bias
from engine.observe.conversion_retrieval import Retrieval

Mechanism = Bias | Retrieval
Look = Callable[[int], Rows | None]
"""The stream's row (1, d) for a round that starts at s; None where there is none."""


def steered_law(logits: Floats, fitted: Mechanism, row: Rows | None, offset: int) -> Floats:
    """The law that the draft draws from, over the tokens it can name. Logits (H,) → (H,)"""
    if row is None:
        return _softmax(logits)
    if isinstance(fitted, Bias):
        return _softmax(logits + fitted.shift(row, offset)[0])
    return fitted.mix(_softmax(logits), row, offset)


def _softmax(logits: Floats) -> Floats:
    weight = np.exp(logits - logits.max())
    out: Floats = weight / weight.sum()
    return out


@dataclass
class SteeredDraft:
    """A draft model whose law a mechanism changes at every round; reads the whole text at each round.

    A simple draft for checking what is decoded, not for speed.
    """

    model: Llama
    fitted: Mechanism
    look: Look
    prompt: int
    named: Integers
    _laws: list[Floats] = field(default_factory=list)

    def propose(self, text: Sequence[int], length: int, stream: Stream | None = None) -> Proposal:
        """`length` tokens, each drawn at temperature one, or the likeliest where `stream` is None."""
        row, tokens, laws = self.look(len(text) - self.prompt), list[int](), list[Floats]()
        cache = Cache(self.model, rows=1, capacity=len(text) + length)
        pending, start = list(text), 0
        for offset in range(length):
            logits = forward(self.model, torch.tensor([pending]), cache, start, last=1)[0, 0].double().numpy()
            start += len(pending)
            law = steered_law(logits, self.fitted, row, offset)
            place = int(law.argmax()) if stream is None else draw(law, float(stream.uniform(1)[0]))
            laws.append(self._whole(law))
            tokens.append(int(self.named[place]))
            pending = tokens[-1:]
        return Proposal(tuple(tokens), np.stack(laws) if laws and stream is not None else None)

    def _whole(self, law: Floats) -> Floats:
        out = np.zeros(self.model.shape.vocabulary)
        out[self.named] = law
        return out


def recorded(rows: Rows) -> Look:
    """Look up the stream of a text that was read beforehand; row i belongs to checked position i - 1."""

    def look(start: int) -> Rows | None:
        return rows[start - 1 : start] if 1 <= start <= len(rows) else None

    return look
