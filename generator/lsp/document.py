"""A text as an editor counts its places: from 0, in units of its encoding; the generator counts from 1, in
characters."""

from __future__ import annotations

from lsprotocol import types
from pygls.workspace import PositionCodec, ServerTextPosition, ServerTextRange

from generator.lsp import binding
from generator.report.refusal import Refusal, Report

BINDABLE = frozenset({"untraced-number", "untraced-word"})
"""Codes of refusals for which fields are offered."""


class Document:
    """A text, and stretches of it as an editor names them."""

    def __init__(self, text: str, codec: PositionCodec) -> None:
        self.text = text
        self._codec = codec
        self._lines = text.split("\n")

    def offset(self, position: types.Position) -> int:
        """The offset in characters of a position of the editor."""
        found = self._codec.position_from_client_units(self._lines, position)
        return self._start(found.line) + found.character

    def at(self, line: int, column: int, length: int) -> types.Range:
        """A stretch that begins at a line and a column from 1, no longer than its line."""
        line = min(line, len(self._lines)) - 1
        start = self._start(line) + min(column - 1, len(self._lines[line]))
        return self.range(start, min(start + length, self._start(line) + len(self._lines[line])))

    def range(self, start: int, end: int) -> types.Range:
        """A stretch between two offsets."""
        span = ServerTextRange(self._position(start), self._position(end))
        return self._codec.range_to_client_units(self._lines, span)

    def diagnostics(self, report: Report) -> list[types.Diagnostic]:
        """What a report refuses as errors, what it warns of as warnings."""
        errors = (self._diagnostic(each, types.DiagnosticSeverity.Error) for each in report.refusals)
        warnings = (self._diagnostic(each, types.DiagnosticSeverity.Warning) for each in report.warnings)
        return [*errors, *warnings]

    def _diagnostic(self, refusal: Refusal, severity: types.DiagnosticSeverity) -> types.Diagnostic:
        """A refusal at the number it is about, or at the rest of its line."""
        span = self.at(refusal.line, refusal.column, len(self.text))
        number = binding.typed(self.text, self.offset(span.start)) if refusal.code in BINDABLE else None
        return types.Diagnostic(
            range=self.range(number.start, number.end) if number else span,
            message=refusal.message,
            severity=severity,
            code=refusal.code,
            source="findings",
        )

    def _start(self, line: int) -> int:
        """The offset at which a line begins, counted from 0."""
        return sum(len(each) + 1 for each in self._lines[:line])

    def _position(self, offset: int) -> ServerTextPosition:
        return ServerTextPosition(
            self.text.count("\n", 0, offset), offset - (self.text.rfind("\n", 0, offset) + 1)
        )
