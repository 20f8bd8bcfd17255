"""Plain decoding of many prompts at once, greedy or sampled.

Each row draws from its own uniform stream, so its text depends on the batch it shares only through
rounding of the logits. Shapes: B rows, V vocabulary.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from engine.decode.llama import Cache, Llama, forward
from engine.decode.verifier import draw, softmax


@dataclass(frozen=True)
class Row:
    """One prompt to continue. `uniform` holds a draw for each new token; None means greedy."""

    prompt: tuple[int, ...]
    uniform: NDArray[np.float64] | None = None
    temperature: float = 1.0


@dataclass(frozen=True)
class Batch:
    """The continuation of each row, in order, without its prompt."""

    texts: tuple[tuple[int, ...], ...]


class Texts:
    """Texts of a batch while they grow."""

    def __init__(self, rows: Sequence[Row], new_tokens: int, end: int) -> None:
        self.rows, self.new_tokens, self.end = rows, new_tokens, end
        self.texts: list[list[int]] = [[] for _ in rows]
        self.open = [True] * len(rows)

    def choose(self, logits: Tensor) -> Tensor:
        """Append to each open row its next token under `logits` (B, V). Returns the tokens (B,)."""
        chosen = logits.argmax(dim=-1)
        for index, row in enumerate(self.rows):
            if row.uniform is not None and self.open[index]:
                uniform = float(row.uniform[len(self.texts[index])])
                chosen[index] = draw(softmax(logits[index].numpy(), row.temperature), uniform)
            if self.open[index]:
                self.texts[index].append(int(chosen[index]))
                self.open[index] = int(chosen[index]) != self.end and len(self.texts[index]) < self.new_tokens
        return chosen


class Decoder(Texts):
    """A batch in flight: prefill once, then one token a row at each step."""

    def __init__(self, model: Llama, rows: Sequence[Row], new_tokens: int, end: int) -> None:
        super().__init__(rows, new_tokens, end)
        self.model = model
        longest = max(len(row.prompt) for row in rows)
        self.cache = Cache(model, rows=len(rows), capacity=longest + new_tokens)
        self.length = torch.tensor([len(row.prompt) for row in rows])

    def prefill(self, watch: Callable[[int, Tensor], None] | None = None) -> Tensor:
        """Read every prompt, a row at a time. Returns the last logits (B, V).

        `watch(row, logits)` is shown the logits at every position of the row's prompt, (length, V).
        """
        last = []
        for index, row in enumerate(self.rows):
            one = Cache(self.model, rows=1, capacity=len(row.prompt))
            logits = forward(self.model, torch.tensor([row.prompt]), one, 0, last=None if watch else 1)[0]
            self.cache.keys[:, index, :, : len(row.prompt)] = one.keys[:, 0]
            self.cache.values[:, index, :, : len(row.prompt)] = one.values[:, 0]
            last.append(logits[-1])
            if watch is not None:
                watch(index, logits)
        return torch.stack(last)

    def step(self, tokens: Tensor) -> Tensor:
        """Feed the newest token of each row (B,); returns the next logits (B, V)."""
        logits = forward(self.model, tokens[:, None], self.cache, self.length)[:, 0]
        self.length = torch.clamp(self.length + 1, max=self.cache.capacity - 1)
        return logits


class ModuleDecoder(Texts):
    """The same with a transformers module, on whatever device it is; the shorter prompts are padded."""

    def __init__(self, module: Any, rows: Sequence[Row], new_tokens: int, end: int) -> None:
        from engine.decode.models import module_cache

        super().__init__(rows, new_tokens, end)
        self.module, self.cache = module, module_cache(module)
        self.mask = torch.zeros(len(rows), 0, dtype=torch.long)

    def prefill(self) -> Tensor:
        """Read every prompt at once. Returns the last logits (B, V), on the CPU."""
        longest = max(len(row.prompt) for row in self.rows)
        ids = torch.tensor([[0] * (longest - len(row.prompt)) + list(row.prompt) for row in self.rows])
        lengths = torch.tensor([len(row.prompt) for row in self.rows])
        return self._read(ids, torch.arange(longest) >= longest - lengths[:, None])

    def step(self, tokens: Tensor) -> Tensor:
        """Feed the newest token of each row (B,); returns the next logits (B, V)."""
        return self._read(tokens[:, None], torch.ones(len(self.rows), 1, dtype=torch.bool))

    @torch.inference_mode()
    def _read(self, ids: Tensor, seen: Tensor) -> Tensor:
        self.mask = torch.cat([self.mask, seen.long()], dim=1)
        places = (self.mask.cumsum(dim=1) - 1).clamp(min=0)[:, -ids.shape[1] :]
        device = self.module.device
        out = self.module(
            input_ids=ids.to(device),
            attention_mask=self.mask.to(device),
            position_ids=places.to(device),
            cache=self.cache,
            use_cache=True,
            logits_to_keep=1,
        )
        logits: Tensor = out.logits[:, -1].float().cpu()
        return logits


def generate(model: Any, rows: Sequence[Row], *, new_tokens: int, end: int) -> Batch:
    """Continue every row by up to `new_tokens` tokens, stopping a row after `end`.

    `model` is our own form of one, or a transformers module.
    """
    kind = Decoder if isinstance(model, Llama) else ModuleDecoder
    decoder = kind(model, rows, new_tokens, end)
    logits = decoder.prefill()
    while True:
        tokens = decoder.choose(logits)
        if not any(decoder.open):
            return Batch(tuple(tuple(text) for text in decoder.texts))
        logits = decoder.step(tokens)
