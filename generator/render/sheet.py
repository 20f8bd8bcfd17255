"""One page on its way through the Markdown renderer.

Each mark is a single private-use character while Markdown is at work, and is replaced by its HTML
afterwards. So Markdown can neither change nor delete a mark, a number at the start of a line makes no
list, heading ids leave the numbers out, and titles can take the plain text instead of the mark.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from html import escape

from generator.number.evaluate import REFERENCE
from generator.number.piece import (
    BarStart,
    ClaimStart,
    End,
    FigureStart,
    Listing,
    Piece,
    Printed,
    Prose,
    StatementStart,
    Verbatim,
)
from generator.render import figure
from generator.render.hanging import Hanging
from generator.render.mark import Marker, plain
from generator.report.refusal import Refusal, Refused

FIRST = 0xF0000
"""The first of the private-use characters that stand for marks."""

LIMIT = 0xFFFD - 1
"""Marks that fit on one page."""

_MARKS = re.compile("[\U000f0000-\U000ffffd]")
_ALONE = re.compile("<p>([\U000f0000-\U000ffffd])</p>")
_TAG = re.compile(r"(<[^>]*>)")
_NAME = re.compile(r"</?([a-zA-Z0-9]+)")
_ENCLOSING = frozenset({"a", "code", "pre", "script", "style"})

_BLOCKS = (
    *("<div", "</div", "<section", "</section", "<header", "<footer", "<aside"),
    *("<figure", "</figure", "</details", "<h2"),
)
_CODE = "A number or claim cannot stand inside code: it would print as markup. Move it out."
_ATTRIBUTE = "A number or claim cannot stand in an attribute: it would print as markup. Move it out."
_LINK = "A number is a link to its line, and cannot stand inside another. Move it out."


@dataclass(frozen=True)
class Mark:
    """What a character stands for in the page and in a plain title, and where it was written."""

    html: str
    plain: str
    line: int = 0
    column: int = 0


@dataclass(frozen=True)
class Annotations:
    """By index of a piece: those that are marked as corrected, and the notes that follow the block of one."""

    marked: frozenset[int] = frozenset()
    notes: Mapping[int, str] = field(default_factory=dict)


UNANNOTATED = Annotations()


@dataclass
class Sheet:
    """The text of a page with its marks; path names the source in refusals, insert makes its blocks."""

    path: str
    marker: Marker
    source_id: str
    insert: Callable[[Verbatim | Listing], str]
    terms: tuple[str, ...] = ()
    marks: list[Mark] = field(default_factory=list)
    notes: dict[str, str] = field(default_factory=dict)

    def mark(self, html: str, plain_text: str = "", line: int = 0, column: int = 0) -> str:
        """A character that will be replaced by HTML."""
        if len(self.marks) >= LIMIT:
            message = f"More than {LIMIT} numbers and claims on one page. Split it."
            raise Refused([Refusal(self.path, max(line, 1), max(column, 1), "too-large", "", message)])
        self.marks.append(Mark(html, plain_text, line, column))
        return chr(FIRST + len(self.marks) - 1)

    def write(self, pieces: Iterable[Piece], annotations: Annotations = UNANNOTATED) -> str:
        """The pieces of a source as Markdown with marks."""
        parts = []
        drawn: Mapping[int, str] = {}
        tables: dict[int, FigureStart] = {}
        for index, piece in enumerate(pieces):
            if isinstance(piece, FigureStart):
                drawn = figure.drawings(piece)
                tables = {piece.layout.table[0]: piece}
            if isinstance(piece, Prose) and index in tables:
                corrected = not annotations.marked.isdisjoint(each.at for each in tables[index].layout.cells)
                parts.append(self._table(tables[index], piece.text, corrected=corrected))
            else:
                parts.append(self._piece(piece, index in annotations.marked, drawn.get(index, "")))
            if note := annotations.notes.get(index):
                parts.append(self._note(note, alone=parts[-1].endswith("\n")))
        return "".join(parts)

    def _note(self, html: str, *, alone: bool) -> str:
        """A note after a block, or a character inside one that holds its place until the block ends."""
        if alone:
            return f"{self.mark(html)}\n\n"
        character = self.mark("")
        self.notes[character] = html
        return character

    def _table(self, start: FigureStart, text: str, *, corrected: bool) -> str:
        """The text in which the table of a figure begins, with what stands between its words and that."""
        html = figure.table(self.marker, start, corrected=corrected)
        at = start.layout.table[1]
        return f"{text[:at]}\n\n{self.mark(html)}\n\n{text[at:]}" if html else text

    def _piece(self, piece: Piece, corrected: bool, drawing: str = "") -> str:
        if isinstance(piece, Prose):
            return piece.text
        if isinstance(piece, Printed):
            text = plain(piece.number, self.marker.tally)
            html: str = self.marker.number(piece.number)
            html = f'<span class="outdated">{html}</span>' if corrected else html
            html = f'<span class="drawn">{drawing}{html}</span>' if drawing else html
            return self.mark(html, text, piece.line, piece.column)
        if isinstance(piece, ClaimStart):
            return self.mark(self.marker.claim(piece.prefix))
        if isinstance(piece, StatementStart):
            return self._statement(piece, corrected)
        if isinstance(piece, BarStart):
            return self.mark(figure.bar(piece.order))
        if isinstance(piece, FigureStart):
            return f"\n\n{self.mark(figure.opened(piece))}\n\n"
        if isinstance(piece, End) and isinstance(piece.of, FigureStart):
            return f"\n\n{self.mark(figure.closed(piece.of))}\n\n"
        if isinstance(piece, End):
            block = isinstance(piece.of, StatementStart) and piece.of.block
            return f"\n\n{self.mark('</div>')}\n\n" if block else self.mark("</span>")
        return f"\n\n{self.mark(self.insert(piece))}\n\n"

    def _statement(self, piece: StatementStart, corrected: bool) -> str:
        name, classes = escape(piece.name), f"statement{' corrected' if corrected else ''}"
        attributes = f'class="{classes}" id="{escape(self.source_id)}-{name}" data-statement="{name}"'
        if piece.block:
            return f"\n\n{self.mark(f'<div {attributes}>')}\n\n"
        return self.mark(f"<span {attributes}>")

    def plain(self, text: str) -> str:
        """A title with the plain text of its marks."""
        return _MARKS.sub(lambda match: escape(self.marks[ord(match[0]) - FIRST].plain, quote=False), text)

    def finish(self, html: str) -> str:
        """The page with its marks and its references in place; raises Refused where a mark cannot stand."""
        refusals: list[Refusal] = []
        enclosed: list[str] = []
        hanging = Hanging(self.notes)
        parts = _TAG.split(html)
        for index, part in enumerate(parts):
            if index % 2:
                _enter(enclosed, part)
                refusals += [self._misplaced(found[0], _ATTRIBUTE) for found in _MARKS.finditer(part)]
                parts[index] = hanging.tag(part)
                continue
            parts[index] = hanging.text(part)
            if enclosed:
                refusals += self._enclosed(part, _CODE if set(enclosed) != {"a"} else _LINK)
            else:
                parts[index] = REFERENCE.sub(self._reference, parts[index])
        if refusals:
            raise Refused(refusals)
        html = _ALONE.sub(lambda match: self._block(match[1]) or match[0], "".join(parts))
        return _MARKS.sub(lambda match: self.marks[ord(match[0]) - FIRST].html, html)

    def _block(self, character: str) -> str:
        """The HTML of a mark that stands alone, where it is a block."""
        html = self.marks[ord(character) - FIRST].html
        return html if html.startswith(_BLOCKS) else ""

    def _enclosed(self, text: str, where: str) -> Iterator[Refusal]:
        """What cannot stand inside code, or is a link inside a link."""
        for match in _MARKS.finditer(text):
            if where != _LINK or "<a " in self.marks[ord(match[0]) - FIRST].html:
                yield self._misplaced(match[0], where)

    def _misplaced(self, character: str, where: str) -> Refusal:
        mark = self.marks[ord(character) - FIRST]
        line, column = max(mark.line, 1), max(mark.column, 1)
        return Refusal(self.path, line, column, "number-in-code", mark.plain, where)

    def _reference(self, match: re.Match[str]) -> str:
        if any(match[0] in term for term in self.terms):
            return match[0]
        return self.marker.reference(match[0])


def _enter(enclosed: list[str], tag: str) -> None:
    """Keep the list of elements that enclose the next text."""
    name = _NAME.match(tag)
    if name is None or name[1].lower() not in _ENCLOSING:
        return
    if not tag.startswith("</"):
        enclosed.append(name[1].lower())
    elif name[1].lower() in enclosed:
        enclosed.remove(name[1].lower())
