"""BiLD, the big little decoder: a small model writes until it is unsure, the target looks over what it wrote.

Source: Kim et al. 2023. Lossy by design: the target takes back a window only from the first token that it
finds very unlikely, so the text has neither model's law. Fallback: the small model hands over where its top
probability is below a threshold. Rollback: the window is cut at the first token whose negative
log-probability under the target, in nats, is above a threshold. Either way the target adds one token of its
own, so that a round emits one token and up to `steps` of the small model's; only what can no longer be taken
back is emitted.

Thresholds are read off the laws at temperature one; tokens are drawn at the request's temperature.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from engine.contract.errors import BadData
from engine.decode.llama import Cache, Llama, forward
from engine.decode.scheme import Request, Scheme
from engine.decode.verifier import Draws, draw, softmax

if TYPE_CHECKING:
    from engine.decode.schemes import Parts


@dataclass(frozen=True)
class Settings:
    """Fallback (a probability), rollback (nats), and the most tokens of a window."""

    fallback: float = 0.6
    rollback: float = 2.0
    steps: int = 10


class Writer:
    """One request in flight."""

    def __init__(self, request: Request) -> None:
        self.request, self.text = request, list(request.prompt)
        self.draws = Draws(request.root, request.seed)
        self.window: list[int] = []

    @property
    def open(self) -> bool:
        """Whether the text goes on."""
        return self.request.open(self.text)

    def writes(self, logits: Tensor, settings: Settings) -> bool:
        """Let the small model write one token under its logits (V,); False where it hands over."""
        if float(softmax(logits.numpy()).max()) < settings.fallback:
            return False
        self.window.append(self._choose(logits, self.draws.draft.uniform(1)[0]))
        return self.window[-1] != self.request.end

    def may_write(self, settings: Settings) -> bool:
        """Whether the window has room for a token, and the text for the target's one after it."""
        room = self.request.last - len(self.text) - 1
        return self.open and len(self.window) < min(settings.steps, room)

    def settle(self, logits: Tensor, settings: Settings) -> tuple[int, ...]:
        """Judge the window under the target's logits (m+1, V); returns the tokens emitted."""
        kept = stands(self.window, logits, settings.rollback)
        own = self._choose(logits[kept], self.draws.residual.uniform(1)[0])
        new = self.request.until_end([*self.window[:kept], own])
        self.text += new
        self.window = []
        return new

    def _choose(self, logits: Tensor, uniform: float) -> int:
        if self.request.greedy:
            return int(logits.argmax())
        return draw(softmax(logits.numpy(), self.request.temperature), float(uniform))


def stands(window: Sequence[int], logits: Tensor, rollback: float) -> int:
    """How many tokens of the window come before the first that is too unlikely under logits (m+1, V).

    A token that is the target's likeliest is never taken back, since the target would write it again.
    """
    wide = logits.double()
    for index, token in enumerate(window):
        nats = float(wide[index].logsumexp(dim=-1) - wide[index, token])
        if nats > rollback and int(wide[index].argmax()) != token:
            return index
    return len(window)


def lockstep(
    target: Llama, draft: Llama, requests: Sequence[Request], settings: Settings
) -> Iterator[list[tuple[int, ...]]]:
    """Decode several requests side by side; each round gives the tokens of each, empty where it is done.

    Raises `BadData` for a prompt of fewer than two tokens.
    """
    if min(len(request.prompt) for request in requests) < 2:
        raise BadData("a prompt", "has fewer than two tokens.", "Give it in its chat format.")
    writers = [Writer(request) for request in requests]
    capacity = max(request.last for request in requests) + settings.steps + 2
    big, small = (Cache(model, rows=len(writers), capacity=capacity) for model in (target, draft))
    for model, cache in ((target, big), (draft, small)):
        _prefill(model, cache, writers)
    while any(writer.open for writer in writers):
        _write(draft, small, writers, settings)
        yield _settle(target, big, writers, settings)


def _prefill(model: Llama, cache: Cache, writers: Sequence[Writer]) -> None:
    """Read every prompt but for its newest token; equal ones once."""
    rows: dict[tuple[int, ...], int] = {}
    for index, writer in enumerate(writers):
        prompt = writer.request.prompt
        if prompt not in rows:
            one = Cache(model, rows=1, capacity=len(prompt))
            forward(model, torch.tensor([prompt[:-1]]), one, 0, last=1)
            rows[prompt] = index
            keys, values = one.keys[:, 0, :, : len(prompt)], one.values[:, 0, :, : len(prompt)]
        else:
            keys = cache.keys[:, rows[prompt], :, : len(prompt)]
            values = cache.values[:, rows[prompt], :, : len(prompt)]
        cache.keys[:, index, :, : len(prompt)] = keys
        cache.values[:, index, :, : len(prompt)] = values


def _write(draft: Llama, cache: Cache, writers: Sequence[Writer], settings: Settings) -> None:
    """Let the small model write every window until it hands over.

    Each round begins by reading the two newest tokens of a text, since the newer one is the target's and the
    small model may not have read the other.
    """
    starts = torch.tensor([len(writer.text) - 2 for writer in writers])
    fed = torch.tensor([writer.text[-2:] for writer in writers])
    going = [writer.may_write(settings) for writer in writers]
    while any(going):
        logits = draft.full(forward(draft, fed, cache, starts, last=1)[:, 0])
        for index, writer in enumerate(writers):
            if going[index]:
                going[index] = writer.writes(logits[index], settings) and writer.may_write(settings)
        starts = torch.tensor([len(writer.text) + len(writer.window) - 1 for writer in writers])
        fed = torch.tensor([[writer.window[-1] if writer.window else writer.text[-1]] for writer in writers])


def _settle(
    target: Llama, cache: Cache, writers: Sequence[Writer], settings: Settings
) -> list[tuple[int, ...]]:
    """One pass of the target over every window, the short ones filled up."""
    width = max(len(writer.window) for writer in writers)
    fed = torch.tensor([[w.text[-1], *w.window, *[0] * (width - len(w.window))] for w in writers])
    starts = torch.tensor([len(writer.text) - 1 for writer in writers])
    logits = forward(target, fed, cache, starts)
    return [
        writer.settle(row[: len(writer.window) + 1], settings) if writer.open else ()
        for writer, row in zip(writers, logits, strict=True)
    ]


@dataclass(frozen=True)
class BigLittle:
    """The scheme."""

    target: Llama
    draft: Llama
    settings: Settings = field(default_factory=Settings)
    name: str = "bild"
    lossless: bool = False

    @property
    def bound(self) -> int:
        """A full window and the target's token."""
        return self.settings.steps + 1

    def rounds(self, request: Request) -> Iterator[tuple[int, ...]]:
        """Write, look over, emit, until the text ends."""
        for (new,) in lockstep(self.target, self.draft, [request], self.settings):
            yield new


NAME = "bild"
NEEDS = ("draft",)


def scheme(parts: Parts) -> Scheme:
    """The scheme of these parts."""
    assert parts.draft is not None
    return BigLittle(parts.target, parts.draft, parts.bild)
