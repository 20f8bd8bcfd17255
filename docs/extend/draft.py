"""The newest token again and again: the least that a draft can do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from engine.contract.seeds import Stream
from engine.decode.scheme import Chain, Scheme, Speculative
from engine.decode.verifier import Proposal

if TYPE_CHECKING:
    from engine.decode.schemes import Parts

NAME = "repeat"
NEEDS = ()


class Repeat:
    """Guesses that nothing changes."""

    def propose(self, text: Sequence[int], length: int, stream: Stream | None) -> Proposal:
        """The newest token, `length` times."""
        return Proposal((text[-1],) * length)


def scheme(parts: Parts) -> Scheme:
    """The scheme of these parts."""
    return Speculative(NAME, parts.length + 1, parts.target, lambda _: Chain(Repeat(), parts.length))
