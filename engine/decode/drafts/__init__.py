"""Draft schemes, one file each, behind one protocol."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from engine.contract.seeds import Stream
from engine.decode.verifier import Proposal


class Draft(Protocol):
    """Guesses the tokens that follow a text."""

    def propose(self, text: Sequence[int], length: int, stream: Stream | None) -> Proposal:
        """Up to `length` tokens to follow `text`; drawn from `stream`, or the likeliest where it is None."""
