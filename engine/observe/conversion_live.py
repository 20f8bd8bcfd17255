"""A steered draft decoding live, with the stream of a text that is known beforehand or tapped on the way."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from time import perf_counter

import numpy as np
import torch
from torch import Tensor

from engine.contract.seeds import Stream
from engine.decode.drafts.model import ModelDraft
from engine.decode.linear import Weight
from engine.decode.llama import Llama, forward
from engine.decode.verifier import Proposal, draw
from engine.observe.constants import Sideband
from engine.observe.conversion import Floats, Integers, Rows
from engine.observe.conversion_bias import Bias
from engine.observe.conversion_retrieval import Retrieval
from engine.observe.streams.tap import features

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


@dataclass(kw_only=True)
class SteeredDraft(ModelDraft):
    """A draft model whose law a mechanism changes from the stream at every round."""

    fitted: Mechanism
    look: Look
    prompt: int
    named: Integers

    def propose(self, text: Sequence[int], length: int, stream: Stream | None = None) -> Proposal:
        """`length` tokens, each drawn at temperature one, or the likeliest where `stream` is None."""
        row, tokens, laws = self.look(len(text) - self.prompt), list[int](), list[Floats]()
        pending, start = self._unread(text)
        for offset in range(length):
            logits = forward(self.model, torch.tensor([pending]), self._cache, start, last=1)[0, 0]
            start += len(pending)
            law = steered_law(logits.double().numpy(), self.fitted, row, offset)
            place = int(law.argmax()) if stream is None else draw(law, float(stream.uniform(1)[0]))
            laws.append(law)
            tokens.append(int(self.named[place]))
            pending = tokens[-1:]
        self._read = [*text, *tokens[:-1]] if tokens else self._read
        return Proposal(tuple(tokens), self._whole(laws) if laws and stream is not None else None)

    def _whole(self, laws: Sequence[Floats]) -> Floats:
        out = np.zeros((len(laws), self.model.shape.vocabulary))
        out[:, self.named] = np.stack(laws)
        return out


def recorded(rows: Rows) -> Look:
    """Look up the stream of a text that was read beforehand; row i belongs to checked position i - 1."""

    def look(start: int) -> Rows | None:
        return rows[start - 1 : start] if 1 <= start <= len(rows) else None

    return look


class TappedWeight(Weight):
    """A weight that remembers what it was last multiplied with."""

    seen: Tensor

    def __call__(self, x: Tensor) -> Tensor:
        """(…, inputs) → (…, outputs)."""
        self.seen = x
        return super().__call__(x)


class Tap:
    """S1 read from our own forward pass while it decodes: the sidecar of a live system."""

    def __init__(self, target: Llama, constants: Sideband) -> None:
        self.constants = constants
        tapped = {at: TappedWeight(target.layers[at].down.matrix) for at in constants.tap.layers}
        self._norms = {at: weight.matrix.norm(dim=0) for at, weight in tapped.items()}
        self._weights = tapped
        layers = tuple(
            replace(layer, down=tapped[at]) if at in tapped else layer
            for at, layer in enumerate(target.layers)
        )
        self.target = replace(target, layers=layers)
        """The target with taps in it."""

    def row(self, back: int) -> Rows:
        """The stream at the position `back` before the last of the newest pass, (1, slots)."""
        units = [self._strongest(at, back) for at in self.constants.tap.layers]
        return features({"tap_units": np.stack(units)[None]}, self.constants)

    def _strongest(self, at: int, back: int) -> Integers:
        strength = self._weights[at].seen[0, -1 - back].abs() * self._norms[at]
        order = strength.argsort(descending=True, stable=True)[: self.constants.tap.units]
        out: Integers = order.numpy()
        return out


class TappedDraft(SteeredDraft):
    """A steered draft that reads its stream from a tap, and times what the sidecar costs."""

    tap: Tap
    seconds: float = 0.0

    def follow(self, tap: Tap) -> TappedDraft:
        """Read from `tap` from now on. Returns itself."""
        self.tap, self.look, self._end = tap, self._tapped, 0
        return self

    def propose(self, text: Sequence[int], length: int, stream: Stream | None = None) -> Proposal:
        """See `SteeredDraft`; remembers how far the pass that checks this proposal will reach."""
        made = super().propose(text, length, stream)
        self._end = len(text) + len(made.tokens) - 1
        return made

    def _tapped(self, start: int) -> Rows | None:
        if start < 1:
            return None
        begun = perf_counter()
        row = self.tap.row(self._end - (self.prompt + start - 2))
        self.seconds += perf_counter() - begun
        return row
