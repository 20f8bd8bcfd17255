"""A Llama forward pass with a rollback-free cache, for one row or many, in plain torch.

Positions are given by the caller, so taking back a rejected draft is writing over it: the cache
has no length of its own. Shapes: B rows, n new tokens, T cached positions, H heads of width D.
Architecture: Touvron et al. 2023 (RMSNorm, rotary positions, SwiGLU, grouped-query attention); with
routers, Mixtral (Jiang et al. 2024): the chosen experts' outputs weighted by their renormalised shares.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import torch
import torch.nn.functional as F
from torch import Tensor

from engine.decode.linear import Weight


@dataclass(frozen=True)
class Shape:
    """Sizes that fix the computation."""

    width: int
    heads: int
    kv_heads: int
    head_width: int
    vocabulary: int
    rope_theta: float
    norm_epsilon: float
    chosen: int = 0  # experts a token in each layer; none in a dense model


@dataclass(frozen=True)
class Layer:
    """Weights of one block; query/key/value and gate/up are stacked so that each is one product."""

    attention_norm: Tensor  # (width,)
    query_key_value: Weight  # ((heads + 2 kv_heads) D, width)
    attention_out: Weight  # (width, heads D)
    mlp_norm: Tensor  # (width,)
    gate_up: Weight  # (2 hidden, width)
    down: Weight  # (width, hidden)
    router: Tensor | None = None  # (experts, width); expert e owns the e-th of equal shares of hidden


@dataclass(frozen=True)
class Llama:
    """A whole model. `head_tokens` lists the token of each output row; None means all, in order."""

    shape: Shape
    embedding: Tensor  # (vocabulary, width)
    layers: tuple[Layer, ...]
    norm: Tensor  # (width,)
    head: Weight  # (outputs, width)
    head_tokens: Tensor | None

    def full(self, logits: Tensor) -> Tensor:
        """Logits over the vocabulary, minus infinity off the head's list. (…, outputs) → (…, vocabulary)."""
        if self.head_tokens is None:
            return logits
        whole = logits.new_full((*logits.shape[:-1], self.shape.vocabulary), -torch.inf)
        whole[..., self.head_tokens] = logits
        return whole

    def token(self, output: Tensor) -> Tensor:
        """Token ids of output rows, any shape."""
        return output if self.head_tokens is None else self.head_tokens[output]


class Cache:
    """Keys and values of every layer: two tensors (layers, B, kv_heads, capacity, D)."""

    def __init__(self, model: Llama, *, rows: int, capacity: int) -> None:
        s = model.shape
        size = (len(model.layers), rows, s.kv_heads, capacity, s.head_width)
        self.keys, self.values = torch.zeros(size), torch.zeros(size)
        self.capacity = capacity
        self.cos, self.sin = _rotary(s, capacity)


def _rotary(shape: Shape, capacity: int) -> tuple[Tensor, Tensor]:
    frequency = 1.0 / shape.rope_theta ** (torch.arange(0, shape.head_width, 2).float() / shape.head_width)
    angle = torch.arange(capacity).float()[:, None] * frequency
    both = torch.cat([angle, angle], dim=-1)  # (capacity, D)
    return both.cos(), both.sin()


@torch.inference_mode()
def forward(
    model: Llama, ids: Tensor, cache: Cache, start: Tensor | int, *, last: int | None = None
) -> Tensor:
    """Logits of the tokens `ids` (B, n) that stand at positions start … start+n-1 of their rows.

    `start` is one integer for all rows or a tensor (B,). Returns (B, n, outputs), or only the `last`
    of the n. The cache must hold every earlier position of each row.
    """
    hidden = final_hidden(model, ids, cache, start)
    if last is not None:
        hidden = hidden[:, -last:]
    return model.head(hidden)


@torch.inference_mode()
def final_hidden(model: Llama, ids: Tensor, cache: Cache, start: Tensor | int) -> Tensor:
    """The normed last hidden state of each new token, (B, n, width); fills the cache."""
    rows, new = ids.shape
    return hidden_at(model, ids, _Place(cache, rows, new, start))


@torch.inference_mode()
def hidden_at(model: Llama, ids: Tensor, place: Place) -> Tensor:
    """The same for tokens whose places are given one by one. (B, n) → (B, n, width)."""
    x = F.embedding(ids, model.embedding)
    for index, layer in enumerate(model.layers):
        x = block(model.shape, layer, x, place, index)
    return F.rms_norm(x, (model.shape.width,), model.norm, model.shape.norm_epsilon)


class Place(Protocol):
    """Where new tokens stand: their rotary angles, what each may attend to, and where their keys are kept."""

    cos: Tensor
    sin: Tensor
    mask: Tensor | None

    def store(self, layer: int, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        """Keep new keys and values (B, kv_heads, n, D); return all that the mask speaks of."""


class _Place:
    """Where the new tokens stand: rotary angles, attention mask, and how they enter the cache."""

    def __init__(self, cache: Cache, rows: int, new: int, start: Tensor | int) -> None:
        self.cache = cache
        self.first = start if isinstance(start, int) else None
        if isinstance(start, int):
            self.end = start + new
            self.cos, self.sin = cache.cos[start : self.end], cache.sin[start : self.end]
            causal = new > 1
            self.mask: Tensor | None = (
                torch.ones(new, self.end, dtype=torch.bool).tril(start) if causal else None
            )
        else:
            self.positions = start[:, None] + torch.arange(new)  # (B, n)
            self.end = int(start.max()) + new
            self.cos, self.sin = cache.cos[self.positions][:, None], cache.sin[self.positions][:, None]
            self.mask = (torch.arange(self.end) <= self.positions[..., None])[:, None]  # (B, 1, n, T)
            self.rows = torch.arange(rows)[:, None]
        if self.end > cache.capacity:
            raise ValueError(f"position {self.end} is beyond the cache's {cache.capacity}")

    def store(self, layer: int, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        """Write new keys and values (B, kv_heads, n, D); return all up to the newest, (B, kv_heads, T, D)."""
        all_keys, all_values = self.cache.keys[layer], self.cache.values[layer]
        if self.first is not None:
            all_keys[:, :, self.first : self.end] = keys
            all_values[:, :, self.first : self.end] = values
        else:
            all_keys[self.rows, :, self.positions] = keys.transpose(1, 2)
            all_values[self.rows, :, self.positions] = values.transpose(1, 2)
        return all_keys[:, :, : self.end], all_values[:, :, : self.end]


def block(shape: Shape, layer: Layer, x: Tensor, place: Place, index: int) -> Tensor:
    """One layer over the new tokens. (B, n, width) → the same."""
    rows, new, width = x.shape
    normed = F.rms_norm(x, (width,), layer.attention_norm, shape.norm_epsilon)
    stacked = layer.query_key_value(normed)
    stacked = stacked.view(rows, new, -1, shape.head_width).transpose(1, 2)  # (B, H + 2 kv, n, D)
    turning, values = stacked[:, : -shape.kv_heads], stacked[:, -shape.kv_heads :]
    half = shape.head_width // 2
    turned = torch.cat([-turning[..., half:], turning[..., :half]], dim=-1)
    turning = turning * place.cos + turned * place.sin
    keys, values = place.store(index, turning[:, shape.heads :], values)
    mixed = F.scaled_dot_product_attention(
        turning[:, : shape.heads], keys, values, attn_mask=place.mask, enable_gqa=True
    )
    x = x + layer.attention_out(mixed.transpose(1, 2).reshape(rows, new, -1))
    normed = F.rms_norm(x, (width,), layer.mlp_norm, shape.norm_epsilon)
    gate, up = layer.gate_up(normed).chunk(2, dim=-1)
    active = F.silu(gate) * up
    if layer.router is not None:
        active = weighted(active, expert_weights(normed @ layer.router.T, shape.chosen))
    return x + layer.down(active)


def expert_weights(scores: Tensor, chosen: int) -> Tensor:
    """Each expert's weight, zero unless among the `chosen` largest. Router logits (…, experts) → the same."""
    best = scores.float().softmax(dim=-1).topk(chosen, dim=-1)
    shares = best.values / best.values.sum(dim=-1, keepdim=True)
    return torch.zeros_like(scores, dtype=shares.dtype).scatter(-1, best.indices, shares)


def weighted(active: Tensor, weights: Tensor) -> Tensor:
    """Hidden units times the weight of the expert that owns them. (…, hidden), (…, experts) → (…, hidden).

    Units of experts that were not chosen are computed and weighted zero: as fast as the dense layer here,
    where a loop over small experts is slower.
    """
    grouped = active.view(*weights.shape, -1) * weights.to(active.dtype)[..., None]
    return grouped.flatten(-2)
