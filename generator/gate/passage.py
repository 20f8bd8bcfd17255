"""A stretch of visible text whose every character knows its place in the source."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from generator.gate.masking import NOTHING

_PRINTED = re.compile(f"[^{NOTHING}]+")


@dataclass(frozen=True)
class Passage:
    """Text as a reader meets it, joined over inline markup; offsets has one place per character."""

    text: str
    offsets: Sequence[int]
    surface: str = "body"


class Builder:
    """Collects text until a block ends."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._offsets: list[int] = []

    def literal(self, text: str, start: int) -> None:
        """Text that stands in the source as it reads."""
        self._parts.append(text)
        self._offsets.extend(range(start, start + len(text)))

    def written(self, text: str, start: int) -> None:
        """Text that the source spells otherwise (an entity, an escape): all of it at one place."""
        self._parts.append(text)
        self._offsets.extend([start] * len(text))

    def passage(self, surface: str = "body") -> Passage | None:
        """What was collected, without the characters that print nothing; None if that is only space."""
        text, offsets = "".join(self._parts), self._offsets
        self._parts, self._offsets = [], []
        if NOTHING in text:
            kept = [match.span() for match in _PRINTED.finditer(text)]
            offsets = [place for start, end in kept for place in offsets[start:end]]
            text = text.replace(NOTHING, "")
        return Passage(text, offsets, surface) if text.strip() else None
