"""Notes that are written inside a block and stand after it: below the paragraph, the heading, the table."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

_NAME = re.compile(r"</?([a-zA-Z0-9]+)")
_AFTER = frozenset({"p", "pre", "h1", "h2", "h3", "h4", "h5", "h6"})
"""Blocks of text alone: a note stands after them."""

_WITHIN = frozenset({"li", "dd", "dt", "div", "blockquote", "section", "article", "details", "aside"})
"""Blocks that hold others: a note stands at their end."""

_STARTS = _AFTER | _WITHIN | {"ul", "ol", "dl", "table", "hr"}


@dataclass
class Hanging:
    """The notes of one page by the character that holds the place of each, and those that wait."""

    notes: Mapping[str, str]
    waiting: list[str] = field(default_factory=list)
    tables: int = 0

    def text(self, text: str) -> str:
        """A text without the characters that hold places; their notes wait from here on."""
        if not self.notes:
            return text
        for character in text:
            if character in self.notes:
                self.waiting.append(self.notes[character])
        return "".join(each for each in text if each not in self.notes)

    def tag(self, tag: str) -> str:
        """A tag, with the notes that stand before or after it."""
        if not self.notes:
            return tag
        match = _NAME.match(tag)
        name, closing = (match[1].lower() if match else ""), tag.startswith("</")
        if name == "table":
            self.tables += -1 if closing else 1
            if self.tables == 0:
                return tag + self._released()
            return (self._released() if self.tables == 1 and not closing else "") + tag
        if self.tables or not self.waiting:
            return tag
        if closing and name in _AFTER:
            return tag + self._released()
        return self._released() + tag if name in (_WITHIN if closing else _STARTS) else tag

    def _released(self) -> str:
        found, self.waiting = "".join(self.waiting), []
        return found
