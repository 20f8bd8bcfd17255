"""S3: which experts each router chose. Addresses only."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from engine.contract.errors import BadData
from engine.observe.constants import Sideband
from engine.observe.streams.stream import Arrays, Features, Stream


class Recorder:
    """Listens to the gate of every layer; takes logits, or (logits, weights, indices)."""

    def __init__(self, constants: Sideband) -> None:
        self.constants = constants.experts
        self.kept: dict[int, Tensor] = {}

    def attach(self, module: Any) -> list[Any]:
        """Hook every router; each must have the registered number of experts and choose as many."""
        layers = module.model.layers
        self.layers = len(layers)
        if not all(hasattr(layer.mlp, "gate") for layer in layers):
            raise BadData("a layer", "has no router.", "S3 is read from a mixture of experts.")
        return [
            layer.mlp.gate.register_forward_hook(partial(self._listen, index))
            for index, layer in enumerate(layers)
        ]

    def _listen(self, layer: int, _: Any, __: Any, output: Any) -> None:
        self.kept[layer] = chosen(output, self.constants.experts, self.constants.chosen, f"router {layer}")

    def take(self, rows: slice) -> dict[str, NDArray[Any]]:
        """`experts` (rows, layers, chosen): expert numbers by falling probability."""
        taken = torch.stack([self.kept.pop(layer)[rows] for layer in range(self.layers)], dim=1)
        return {"experts": taken.numpy()}


def chosen(output: Any, experts: int, count: int, place: str) -> Tensor:
    """The experts of each token by falling logit, ties to the lower number. (n, count)

    Where the router says which it took, these are they: of equal shares it may take either. Raises `BadData`
    where others have larger shares than those that it says it took.
    """
    given: Tensor = output if isinstance(output, Tensor) else output[0]
    logits = given.reshape(-1, given.shape[-1]).float()
    if logits.shape[-1] != experts or not bool(torch.isfinite(logits).all()):
        raise BadData(
            place, f"gives {logits.shape[-1]} logits, some not finite or not {experts}.", "Check the model."
        )
    if isinstance(output, Tensor):
        return _ranked(logits)[:, :count].to(torch.uint8).cpu()
    taken: Tensor = output[2]
    said = taken.reshape(len(logits), -1).sort(dim=-1).values
    shares, alike = logits.softmax(dim=-1), said.shape == (len(logits), count)
    if not alike or not torch.equal(_falling(shares.gather(-1, said)), _falling(shares)[:, :count]):
        raise BadData(place, "chose other experts than its logits rank first.", "Check the model's code.")
    return said.gather(-1, _ranked(logits.gather(-1, said))).to(torch.uint8).cpu()


def _ranked(logits: Tensor) -> Tensor:
    """Places by falling logit, ties to the earlier one."""
    return logits.argsort(dim=-1, descending=True, stable=True)


def _falling(values: Tensor) -> Tensor:
    return values.sort(dim=-1, descending=True).values


def features(arrays: Arrays, constants: Sideband) -> Features:
    """A one for each chosen expert of each layer. (N, layers·experts)"""
    experts = arrays["experts"].astype(np.int64)
    count, layers, _ = experts.shape
    out = np.zeros((count, layers, constants.experts.experts), dtype=np.float32)
    np.put_along_axis(out, experts, 1.0, axis=2)
    return out.reshape(count, -1)


STREAM = Stream(
    name="s3",
    title="experts chosen by every router, addresses only",
    pure=True,
    needs=("experts",),
    features=features,
    recorder=Recorder,
)
