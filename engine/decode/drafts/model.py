"""A smaller model as the draft (Leviathan et al. 2023)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import torch

from engine.contract.seeds import Stream
from engine.decode.llama import Cache, Llama, forward
from engine.decode.verifier import Proposal, draw, softmax

if TYPE_CHECKING:
    from engine.decode.scheme import Scheme
    from engine.decode.schemes import Parts


@dataclass
class ModelDraft:
    """A draft model with its cache; reads only what it has not read of a text that grows."""

    model: Llama
    capacity: int
    temperature: float = 1.0
    _cache: Cache = field(init=False)
    _read: list[int] = field(init=False, default_factory=list)

    def __post_init__(self) -> None:
        self._cache = Cache(self.model, rows=1, capacity=self.capacity)

    def propose(self, text: Sequence[int], length: int, stream: Stream | None = None) -> Proposal:
        """`length` tokens, each drawn at the draft's temperature, or the likeliest where `stream` is None."""
        tokens: list[int] = []
        laws: list[np.ndarray[tuple[int], np.dtype[np.float64]]] = []
        pending, start = self._unread(text)
        for _ in range(length):
            logits = forward(self.model, torch.tensor([pending]), self._cache, start, last=1)[0, 0]
            start += len(pending)
            if stream is None:
                token = int(self.model.token(logits.argmax()))
            else:
                laws.append(softmax(self.model.full(logits).numpy(), self.temperature))
                token = draw(laws[-1], float(stream.uniform(1)[0]))
            tokens.append(token)
            pending = [token]
        self._read = [*text, *tokens[:-1]] if tokens else self._read
        return Proposal(tuple(tokens), np.stack(laws) if laws else None)

    def _unread(self, text: Sequence[int]) -> tuple[list[int], int]:
        """The tail of `text` that the cache does not hold, never empty, and where it starts."""
        shared = 0
        limit = min(len(self._read), len(text) - 1)
        while shared < limit and self._read[shared] == text[shared]:
            shared += 1
        return list(text[shared:]), shared


NAME = "draft"
NEEDS = ("draft",)


def scheme(parts: Parts) -> Scheme:
    """The scheme of these parts."""
    from engine.decode.scheme import Chain, Request, Speculative

    assert parts.draft is not None
    model = parts.draft

    def drafter(request: Request) -> Chain:
        temperature = request.temperature or 1.0
        return Chain(ModelDraft(model, request.last + parts.length, temperature), parts.length)

    return Speculative(NAME, parts.length + 1, parts.target, drafter)
