"""The same model in another precision, on another device, under another attention kernel.

Weights and cache are cast as they are; everything between runs in that precision. The packed products of the
engine's own weights are for fp32 on a CPU alone, so a cast model multiplies plainly.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, fields, replace
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.nn.attention import SDPBackend, sdpa_kernel

from engine.coding.predictor import Logits, Rows
from engine.contract.errors import BadData
from engine.decode.linear import Weight
from engine.decode.llama import Cache, Llama, forward

PRECISIONS = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}
ATTENTIONS = ("default", "math")


class _Plain(Weight):
    """A product that is never packed."""

    def __call__(self, x: Tensor) -> Tensor:
        return F.linear(x, self.matrix)


def cast(model: Llama, precision: str, device: str) -> Llama:
    """The model with every weight in `precision` on `device`; itself for fp32 on a CPU."""
    if precision == "fp32" and device == "cpu":
        return model
    dtype = PRECISIONS[precision]

    def moved(value: Any) -> Any:
        if isinstance(value, Weight):
            return _Plain(value.matrix.to(device, dtype))
        if isinstance(value, Tensor):
            return value.to(device, dtype if value.is_floating_point() else value.dtype)
        return tuple(map(_layer, value)) if isinstance(value, tuple) else value

    def _layer(layer: Any) -> Any:
        return replace(layer, **{field.name: moved(getattr(layer, field.name)) for field in fields(layer)})

    cast_model: Llama = _layer(model)
    return cast_model


@dataclass(frozen=True)
class CastPredictor:
    """A model as the coder uses it, in any precision; logits come out in fp32."""

    model: Llama
    first: int
    sha256: bytes
    attention: str = "default"

    @property
    def vocabulary(self) -> int:
        """Rows of the embedding."""
        return self.model.shape.vocabulary

    def begin(self, rows: int, capacity: int) -> Rows:
        """Rows with a cache in the model's precision, on its device."""
        like = self.model.embedding
        cache = Cache(self.model, rows=rows, capacity=capacity)
        for name in ("keys", "values", "cos", "sin"):
            setattr(cache, name, getattr(cache, name).to(like.device, like.dtype))
        return _CastRows(self.model, cache, self.attention)


class _CastRows:
    def __init__(self, model: Llama, cache: Cache, attention: str) -> None:
        self._model, self._cache, self._attention, self._at = model, cache, attention, 0

    def step(self, tokens: Sequence[int]) -> Logits:
        ids = torch.tensor(tokens, device=self._model.embedding.device)[:, None]
        with _kernel(self._attention):
            logits = forward(self._model, ids, self._cache, self._at)[:, 0]
        self._at += 1
        shaped: Logits = self._model.full(logits).float().cpu().numpy()
        return shaped


def _kernel(attention: str) -> AbstractContextManager[object]:
    if attention not in ATTENTIONS:
        raise BadData(f"attention {attention!r}", "is unknown.", f"Choose one of: {', '.join(ATTENTIONS)}.")
    return sdpa_kernel(SDPBackend.MATH) if attention == "math" else nullcontext()
