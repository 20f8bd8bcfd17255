"""One product with a weight matrix, fast for one row and for the few rows of a check.

torch's own product reads a plain matrix at memory speed for up to three rows and at half of that for
the five of a check at draft length four; oneDNN's packed layout keeps its speed there. So a wide
input goes through a packed copy, made when first needed: twice the memory for near half the time.
"""

from __future__ import annotations

from functools import cached_property

import torch
import torch.nn.functional as F
from torch import Tensor

PACKED_FROM = 4  # rows


class Weight:
    """A matrix (outputs, inputs) to multiply by, without bias."""

    def __init__(self, matrix: Tensor) -> None:
        self.matrix = matrix

    @cached_property
    def _packed(self) -> Tensor:
        packed: Tensor = torch.ops.mkldnn._reorder_linear_weight(self.matrix.contiguous(), PACKED_FROM)
        return packed

    def __call__(self, x: Tensor) -> Tensor:
        """(…, inputs) → (…, outputs)."""
        if x.numel() < PACKED_FROM * x.shape[-1]:
            return F.linear(x, self.matrix)
        product: Tensor = torch.ops.mkldnn._linear_pointwise(x, self._packed, None, "none", [], "")
        return product
