"""Weights as plain numbers, and how many bytes they take; the only door to bitsandbytes."""

from __future__ import annotations

from typing import Any

from torch import Tensor

from engine.contract.errors import BadData

FULL_SHARE = 0.35
"""Largest share of a 4-bit model's bytes that may be wider: embeddings, norms, output head."""


def plain_weight(linear: Any) -> Tensor:
    """The weight of a linear layer, (outputs, inputs), taken out of 4 bits where it is packed."""
    state = getattr(linear.weight, "quant_state", None)
    if state is None:
        plain: Tensor = linear.weight.detach()
        return plain
    from bitsandbytes.functional import dequantize_4bit

    unpacked: Tensor = dequantize_4bit(linear.weight.data, state)
    return unpacked


def full_share(module: Any) -> float:
    """Share of the parameters' bytes that are not packed into bytes of two."""
    sizes = [(p.numel() * p.element_size(), p.dtype.itemsize) for p in module.parameters()]
    wide: int = sum(size for size, width in sizes if width > 1)
    return wide / int(sum(size for size, _ in sizes))


def assert_packed(module: Any, name: str) -> None:
    """Refuse a model that was asked for in 4 bits and is not, whatever its flags say."""
    share = full_share(module)
    if share > FULL_SHARE:
        raise BadData(
            name,
            f"was asked for in 4 bits, yet {share:.0%} of its bytes are 16 or 32 bits wide.",
            "transformers leaves fused experts unpacked; do not call this NF4.",
        )
