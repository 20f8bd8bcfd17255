"""Prompt lookup: copy what followed the latest earlier occurrence of the last few tokens.

No model. Source: Saxena 2023 (prompt lookup decoding); here the latest occurrence is taken, of the
longest suffix that has one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from engine.contract.seeds import Stream
from engine.decode.verifier import Proposal

if TYPE_CHECKING:
    from engine.decode.scheme import Scheme
    from engine.decode.schemes import Parts


@dataclass
class Lookup:
    """Remembers where each n-gram of the text last ended, and copies from there.

    One instance serves one text that grows; a text that is not a continuation starts it anew.
    """

    longest: int = 3
    shortest: int = 1
    _text: list[int] = field(default_factory=list)
    _ends: dict[tuple[int, ...], int] = field(default_factory=dict)

    def propose(self, text: Sequence[int], length: int, stream: Stream | None = None) -> Proposal:
        """Up to `length` copied tokens, fewer where the text ends; none where nothing recurs."""
        self._read(text)
        for size in range(min(self.longest, len(text) - 1), self.shortest - 1, -1):
            end = self._ends.get(tuple(text[-size:]))
            if end is not None:
                return Proposal(tuple(self._text[end : end + length]))
        return Proposal(())

    def _read(self, text: Sequence[int]) -> None:
        """Index every n-gram that ends before the last token of `text`."""
        known = len(self._text)
        if len(text) < known or list(text[:known]) != self._text:
            self._text, self._ends, known = [], {}, 0
        for end in range(max(known, 1), len(text)):
            for size in range(self.shortest, min(self.longest, end) + 1):
                self._ends[tuple(text[end - size : end])] = end
        self._text = list(text)


NAME = "lookup"
NEEDS = ()


def scheme(parts: Parts) -> Scheme:
    """The scheme of these parts."""
    from engine.decode.scheme import Chain, Request, Speculative

    def drafter(_: Request) -> Chain:
        return Chain(Lookup(parts.longest, parts.shortest), parts.length)

    return Speculative(NAME, parts.length + 1, parts.target, drafter)
