"""A forward pass over tokens that share a past: the nodes of a tree, or the tokens of a window.

Each new token has a position, a slot of the cache that keeps its keys, and a list of slots it may attend
to (tree attention: Miao et al. 2024, SpecInfer). Shapes: B rows, n new tokens, T slots.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from engine.decode.llama import Cache, Llama, hidden_at
from engine.decode.tree import ROOT, Tree


class Slots:
    """Places given one by one: `slots` and `positions` (B, n), `mask` (B, n, T) over the first T slots."""

    def __init__(self, cache: Cache, slots: Tensor, positions: Tensor, mask: Tensor) -> None:
        self.cache, self.slots, self.end = cache, slots, mask.shape[-1]
        if int(slots.max()) >= self.end or self.end > cache.capacity:
            raise ValueError(f"slot {int(slots.max())} is beyond the cache's {cache.capacity}")
        self.rows = torch.arange(len(slots))[:, None]
        self.cos, self.sin = cache.cos[positions][:, None], cache.sin[positions][:, None]
        self.mask: Tensor | None = mask[:, None]

    def store(self, layer: int, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        """Write new keys and values (B, kv_heads, n, D) into their slots; return the first T slots."""
        all_keys, all_values = self.cache.keys[layer], self.cache.values[layer]
        all_keys[self.rows, :, self.slots] = keys.transpose(1, 2)
        all_values[self.rows, :, self.slots] = values.transpose(1, 2)
        return all_keys[:, :, : self.end], all_values[:, :, : self.end]


def depths(tree: Tree) -> list[int]:
    """How many nodes stand above each node."""
    out: list[int] = []
    for parent in tree.parents:
        out.append(0 if parent == ROOT else out[parent] + 1)
    return out


def read_tree(model: Llama, cache: Cache, newest: int, length: int, tree: Tree) -> Tensor:
    """Hidden states (n+1, width) of the newest token of a text and of the n nodes after it.

    The text has `length` tokens. The cache (one row) holds all but the newest, and afterwards that one and
    every node, node i in slot `length` + i.
    """
    count = len(tree.tokens)
    slots = torch.arange(length - 1, length + count)
    positions = torch.tensor([length - 1, *(length + depth for depth in depths(tree))])
    mask = torch.zeros(count + 1, length + count, dtype=torch.bool)
    mask[:, :length] = True
    for node, parent in enumerate(tree.parents):
        if parent != ROOT:
            mask[node + 1] = mask[parent + 1]
        mask[node + 1, length + node] = True
    ids = torch.tensor([[newest, *tree.tokens]])
    return hidden_at(model, ids, Slots(cache, slots[None], positions[None], mask[None]))[0]


def keep(cache: Cache, length: int, nodes: Sequence[int]) -> None:
    """Move the keys of the nodes that stand to where the text goes on."""
    source = [length + node for node in nodes]
    for tensor in (cache.keys, cache.values):
        tensor[:, :, :, length : length + len(nodes)] = tensor[:, :, :, source].clone()
