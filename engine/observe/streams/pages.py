"""S2: the pages of the key and value cache that carry most attention mass, layer by layer.

A page holds sixteen positions. Which pages matter at a position is known from attention weights, so
this is not a pure address stream; `schedule` is the form that needs no value.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

from engine.contract.errors import BadData
from engine.observe.constants import Sideband
from engine.observe.streams.stream import Arrays, Features, Stream

NONE = -1
"""Stands where a sequence has fewer pages than are kept."""


class Recorder:
    """Adds attention weights up by page, over all heads."""

    def __init__(self, constants: Sideband) -> None:
        self.constants = constants.pages
        self.kept: dict[int, Tensor] = {}

    def attach(self, module: Any) -> list[Any]:
        """Hook the attention of every layer; it must hand out its weights, as the eager one does."""
        self.layers = len(module.model.layers)
        return [
            layer.self_attn.register_forward_hook(partial(self._listen, index))
            for index, layer in enumerate(module.model.layers)
        ]

    def _listen(self, layer: int, _: Any, __: Any, output: tuple[Tensor, Tensor | None]) -> None:
        weights = output[1]
        if weights is None:
            raise BadData(
                f"layer {layer}",
                "hands out no attention weights.",
                "Load the model with eager attention.",
            )
        self.kept[layer] = heaviest(weights[0].float().sum(dim=0), self.constants.size, self.constants.kept)

    def take(self, rows: slice) -> dict[str, NDArray[Any]]:
        """`pages` (rows, layers, kept): page numbers by falling mass, -1 where there are fewer."""
        taken = torch.stack([self.kept.pop(layer)[rows] for layer in range(self.layers)], dim=1)
        return {"pages": taken.numpy()}


def heaviest(mass: Tensor, size: int, kept: int) -> Tensor:
    """Pages by falling mass, ties to the earlier page. `mass` (n, n) by key position → (n, kept)."""
    n = mass.shape[-1]
    by_page = F.pad(mass, (0, -n % size)).view(n, -1, size).sum(dim=-1)  # (n, pages)
    order = by_page.argsort(dim=-1, descending=True, stable=True)[:, :kept]
    order = order.masked_fill(order * size > torch.arange(n, device=order.device)[:, None], NONE)
    return F.pad(order, (0, kept - order.shape[1]), value=NONE).to(torch.int16).cpu()


def features(arrays: Arrays, constants: Sideband) -> Features:
    """Which ages of page each layer keeps, 0 the newest, the oldest shared. (N, layers·ages)"""
    pages, size, ages = arrays["pages"].astype(np.int64), constants.pages.size, constants.pages.ages
    count, layers, _ = pages.shape
    age = np.minimum(arrays["position"].astype(np.int64)[:, None, None] // size - pages, ages - 1)
    out = np.zeros((count, layers, ages), dtype=np.float32)
    row, layer, _ = np.nonzero(pages != NONE)
    out[row, layer, age[pages != NONE]] = 1.0
    return out.reshape(count, -1)


STREAM = Stream(
    name="s2",
    title="cache pages by attention mass, layer by layer",
    pure=False,
    needs=("pages", "position"),
    features=features,
    recorder=Recorder,
)
