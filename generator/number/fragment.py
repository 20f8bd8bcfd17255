"""A piece of a source's text that knows where it stands in its file."""

from __future__ import annotations

from dataclasses import dataclass

from generator.record.source import Source
from generator.report.refusal import Refusal


@dataclass(frozen=True)
class Fragment:
    """Text that starts at a line and a column of a file; offsets in it are in characters."""

    path: str
    text: str
    line: int
    column: int

    def place(self, offset: int) -> tuple[int, int]:
        """Line and column, from 1, of an offset."""
        newlines = self.text.count("\n", 0, offset)
        if newlines == 0:
            return self.line, self.column + offset
        return self.line + newlines, offset - self.text.rfind("\n", 0, offset)

    def refusal(self, offset: int, code: str, text: str, message: str) -> Refusal:
        line, column = self.place(offset)
        return Refusal(self.path, line, column, code, text, message)


def body(source: Source) -> Fragment:
    """The Markdown below the front matter."""
    return Fragment(source.path, source.body, source.body_line, 1)


def front(source: Source, *keys: str) -> Fragment:
    """The text under a key of the front matter, or under a key of a mapping there."""
    value: object = source.front
    for key in keys:
        value = value.get(key, "") if isinstance(value, dict) else ""
    line, column = source.place(".".join(keys))
    return Fragment(source.path, str(value), line, column)
