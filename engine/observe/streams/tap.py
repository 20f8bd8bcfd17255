"""S1: the units that fire hardest at a few layers, hashed into slots.

At each tapped layer the units with the largest |activation| times the norm of their output weights are
kept, as an observer of the weights' addresses would have to be told by someone who sees values. So
this is not a pure address stream.
"""

from __future__ import annotations

import hashlib
from functools import cache, partial
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from engine.contract.errors import BadData
from engine.observe.constants import Sideband
from engine.observe.streams.stream import Arrays, Features, Stream
from engine.observe.weights import plain_weight


class Recorder:
    """Ranks the inputs of the tapped layers' down-projections."""

    def __init__(self, constants: Sideband) -> None:
        self.constants = constants.tap
        self.norms: dict[int, Tensor] = {}
        self.kept: dict[int, Tensor] = {}

    def attach(self, module: Any) -> list[Any]:
        """Hook the down-projection of each tapped layer; its columns' norms are taken once."""
        layers = module.model.layers
        if max(self.constants.layers) >= len(layers):
            raise BadData(
                f"layer {max(self.constants.layers)}",
                f"is tapped, the model has {len(layers)} layers.",
                "Register layers of this model.",
            )
        handles = []
        for layer in self.constants.layers:
            down = layers[layer].mlp.down_proj
            self.norms[layer] = plain_weight(down).float().norm(dim=0)
            handles.append(down.register_forward_pre_hook(partial(self._listen, layer)))
        return handles

    def _listen(self, layer: int, _: Any, inputs: tuple[Tensor, ...]) -> None:
        strength = inputs[0][0].float().abs() * self.norms[layer]  # (n, units)
        order = strength.argsort(dim=-1, descending=True, stable=True)
        self.kept[layer] = order[:, : self.constants.units].to(torch.int16).cpu()

    def take(self, rows: slice) -> dict[str, NDArray[Any]]:
        """`tap_units` (rows, layers, units): unit numbers by falling strength, ties to the lower number."""
        taken = torch.stack([self.kept.pop(layer)[rows] for layer in self.constants.layers], dim=1)
        return {"tap_units": taken.numpy()}


@cache
def slot(layer: int, unit: int, slots: int) -> int:
    """The slot of a unit: the first eight bytes of a digest of its name, modulo `slots`."""
    digest = hashlib.sha256(f"tap/{layer}/{unit}".encode()).digest()
    return int.from_bytes(digest[:8], "big") % slots


def features(arrays: Arrays, constants: Sideband, *, slots: int | None = None) -> Features:
    """How many kept units fall into each slot, all tapped layers together. (N, slots)"""
    units, width = arrays["tap_units"], slots or constants.tap.slots
    out = np.zeros((len(units), width), dtype=np.float32)
    rows = np.arange(len(units))[:, None]
    for index, layer in enumerate(constants.tap.layers):
        at = units[:, index].astype(np.int64)
        table = np.array([slot(layer, unit, width) for unit in range(int(at.max(initial=0)) + 1)])
        np.add.at(out, (rows, table[at]), 1.0)
    return out


STREAM = Stream(
    name="s1",
    title="units of four layers by activation times weight norm",
    pure=False,
    needs=("tap_units",),
    features=features,
    recorder=Recorder,
)
