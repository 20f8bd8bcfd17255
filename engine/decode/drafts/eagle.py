"""EAGLE: a chain of tokens from a head that guesses the target's next features (Li et al. 2024)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from engine.contract.seeds import Stream
from engine.decode.branches import Slots
from engine.decode.eagle import Head
from engine.decode.llama import Cache
from engine.decode.scheme import EMPTY, Request, Scheme, Speculative, chain_parents
from engine.decode.tree import Tree
from engine.decode.verifier import draw, softmax

if TYPE_CHECKING:
    from engine.decode.schemes import Parts


class FeatureDraft:
    """The drafter of one request; remembers the keys of true features, and writes over those of guesses."""

    def __init__(self, head: Head, request: Request, length: int) -> None:
        self.head, self.length, self.temperature = head, length, request.temperature
        self.cache = Cache(head.model, rows=1, capacity=request.last + length)
        self.read = 0  # features whose keys are kept

    @torch.inference_mode()
    def propose(self, text: Sequence[int], room: int, features: Tensor, stream: Stream | None) -> Tree:
        """A chain of `length` tokens, drawn at the request's temperature, or the likeliest."""
        length = min(room, self.length)
        if length == 0 or len(features) == 0:
            return EMPTY
        tokens: list[int] = []
        laws: list[np.ndarray[tuple[int], np.dtype[np.float64]]] = []
        pending, ids, start = features[self.read :], list(text[self.read + 1 :]), self.read
        for _ in range(length):
            guessed = self._guess(pending, ids, start)[-1:]
            start += len(ids)
            token, law = self._choose(self.head.model.head(guessed)[0], stream)
            tokens.append(token)
            if law is not None:
                laws.append(law)
            pending, ids = guessed, [token]
        self.read = len(features)
        return Tree(tuple(tokens), chain_parents(length), np.stack(laws) if laws else None)

    def _guess(self, features: Tensor, ids: Sequence[int], start: int) -> Tensor:
        """Guessed features (n, w) after features (n, w) at positions `start` on."""
        positions = torch.arange(start, start + len(ids))
        mask = torch.arange(start + len(ids)) <= positions[:, None]
        place = Slots(self.cache, positions[None], positions[None], mask[None])
        return self.head.guess(features[None], torch.tensor([list(ids)]), place)[0]

    def _choose(
        self, logits: Tensor, stream: Stream | None
    ) -> tuple[int, np.ndarray[tuple[int], np.dtype[np.float64]] | None]:
        if stream is None:
            return int(self.head.model.token(logits.argmax())), None
        law = softmax(self.head.model.full(logits).numpy(), self.temperature)
        return draw(law, float(stream.uniform(1)[0])), law


NAME = "eagle"
NEEDS = ("head",)


def scheme(parts: Parts) -> Scheme:
    """The scheme of these parts."""
    assert parts.head is not None
    head = parts.head

    def drafter(request: Request) -> FeatureDraft:
        return FeatureDraft(head, request, parts.length)

    return Speculative(NAME, parts.length + 1, parts.target, drafter)
