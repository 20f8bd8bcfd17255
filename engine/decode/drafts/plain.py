"""No draft at all: plain decoding, one token a round."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.decode.scheme import Nothing, Scheme, Speculative

if TYPE_CHECKING:
    from engine.decode.schemes import Parts

NAME = "plain"
NEEDS = ()


def scheme(parts: Parts) -> Scheme:
    """The scheme of these parts."""
    return Speculative(NAME, 1, parts.target, lambda _: Nothing())
