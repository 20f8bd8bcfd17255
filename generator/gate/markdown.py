"""Reads masked Markdown into passages: what it will print, with the place of every character."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from markdown_it.token import Token

from generator.gate import markup, placed
from generator.gate.masking import VALUE
from generator.gate.passage import Builder, Passage

CODE = "\ue002"
"""Stands in running text for a code span, which is judged by itself."""

ILLUSTRATION = re.compile(r"(?:^|[\s{.])illustration\b")
"""A fence whose info string says this holds made-up code; the output side checks its class."""

_PARSER = placed.parser()
_TITLE = re.compile(r"title=(\"[^\"]*\"|'[^']*')")


@dataclass(frozen=True)
class Fault:
    """A piece of syntax that prints a number of its own."""

    offset: int
    text: str
    message: str


def read(masked: str) -> Iterator[Passage | Fault]:
    """Every passage that the text prints or speaks, in order, and every list that numbers by hand."""
    environment: dict[str, Any] = {}
    tokens = _PARSER.parse(masked, environment)
    lines = [0, *(match.end() for match in re.finditer("\n", masked))]
    yield from _Reader(masked, lines).read(tokens)
    for reference in environment.get("references", {}).values():
        yield from _reference(masked, lines, reference)


def _reference(masked: str, lines: list[int], reference: dict[str, Any]) -> Iterator[Passage]:
    """The title of a link definition, which prints wherever the link is used."""
    title = reference.get("title") or ""
    start = masked.find(title, lines[reference["map"][0]]) if title else -1
    if start >= 0:
        yield Passage(title, range(start, start + len(title)), "attribute")


class _Reader:
    def __init__(self, masked: str, lines: list[int]) -> None:
        self._masked = masked
        self._lines = lines
        self._cell: int | None = None

    def read(self, tokens: list[Token]) -> Iterator[Passage | Fault]:
        previous = ""
        for token in tokens:
            if token.level >= placed.NESTING - 1 and token.map:
                message = "Quotations or lists are nested deeper than can be read. Take some away."
                yield Fault(self._lines[token.map[0]], "", message)
                return
            if token.type == "inline":
                yield from self._inline(token)
            elif token.type == "fence":
                yield from self._fence(token)
            elif token.type == "html_block" and token.map:
                start, end = self._lines[token.map[0]], self._line(token.map[1])
                yield from markup.passages(self._masked[start:end], start)
            elif token.type == "ordered_list_open" and token.map:
                yield from self._list(token, previous)
            elif token.type == "tr_open" and token.map:
                self._cell = self._lines[token.map[0]]
            elif token.type == "tr_close":
                self._cell = None
            previous = token.type if token.level == 0 else ""

    def _line(self, number: int) -> int:
        return self._lines[number] if number < len(self._lines) else len(self._masked)

    def _list(self, token: Token, previous: str) -> Iterator[Fault]:
        assert token.map is not None
        start = self._lines[token.map[0]]
        marker = re.compile(r"[^\w\ue000]*([0-9]+)[.)]").match(self._masked, start)
        place = marker.start(1) if marker else start
        number = str(token.attrGet("start") or (marker[1] if marker else ""))
        if token.attrGet("start") is not None:
            yield Fault(place, number, "A list that starts elsewhere than at 1 prints a number. Start at 1.")
        elif token.markup == ")":
            yield Fault(place, number, 'A marker such as "1)" prints as text. Write "1." instead.')
        elif token.level == 0 and previous == "paragraph_close" and not self._blank_before(token.map[0]):
            yield Fault(
                place,
                number,
                "The list runs on from a paragraph and would print as text. Leave a blank line.",
            )

    def _blank_before(self, number: int) -> bool:
        return number == 0 or not self._masked[self._lines[number - 1] : self._lines[number]].strip()

    def _fence(self, token: Token) -> Iterator[Passage]:
        assert token.map is not None
        start = self._lines[token.map[0]]
        for title in _TITLE.finditer(self._masked, start, self._line(token.map[0] + 1)):
            yield Passage(title[1][1:-1], range(title.start(1) + 1, title.end(1) - 1), "attribute")
        surface = "illustration" if ILLUSTRATION.search(token.info) else "code"
        first = self._line(token.map[0] + 1)
        text = self._masked[first : self._line(token.map[1])]
        yield Passage(text, range(first, first + len(text)), surface)

    def _inline(self, token: Token) -> Iterator[Passage]:
        starts, places = self._content(token)

        def place(offset: int) -> int:
            index = bisect_right(starts, offset) - 1
            return places[index] + offset - starts[index]

        yield from _Inline(token.content, place).read(token.children or [])

    def _content(self, token: Token) -> tuple[list[int], list[int]]:
        """Start of each line of an inline content, in the content and in the source."""
        assert token.map is not None
        starts, places, offset = [], [], 0
        for index, line in enumerate(token.content.split("\n")):
            number = token.map[0] + index
            begin, end = self._cell or self._line(number), self._line(number + 1)
            found = self._masked.find if self._cell else self._masked.rfind
            column = max(found(line.strip(), begin, end), begin)
            if self._cell:
                self._cell = column + len(line.strip())
            starts.append(offset)
            places.append(max(column - (len(line) - len(line.lstrip())), begin))
            offset += len(line) + 1
        return starts, places


class _Inline:
    """Walks the children of one inline token."""

    def __init__(self, source: str, place: Any) -> None:
        self._source = source
        self._place = place
        self._text = Builder()
        self._code = 0

    def read(self, tokens: list[Token], shift: int = 0, surface: str = "body") -> Iterator[Passage]:
        for token in tokens:
            at = token.meta.get("at", 0) + shift
            if token.type in ("text", "text_special"):
                self._literal(token, at)
            elif token.type in ("softbreak", "hardbreak"):
                self._text.written("\n", self._place(at))
            elif token.type == "code_inline":
                yield from self._code_span(token, at)
            elif token.type == "html_inline":
                yield from self._tag(token, at)
            elif token.type == "image":
                yield from self._image(token, at)
            elif token.type == "link_open":
                yield from self._spoken(token, at)
        passage = self._text.passage("code" if self._code else surface)
        if passage:
            yield passage

    def _literal(self, token: Token, at: int) -> None:
        if token.type == "text" and self._source.startswith(token.content, at):
            self._text.literal(token.content, self._place(at))
        else:
            self._text.written(token.content, self._place(at))

    def _code_span(self, token: Token, at: int) -> Iterator[Passage]:
        start = self._source.find(token.content[:1], at + len(token.markup))
        places = [self._place(start + index) for index in range(len(token.content))]
        yield Passage(token.content, places, "code")
        self._text.written(CODE, self._place(at))

    def _tag(self, token: Token, at: int) -> Iterator[Passage]:
        name = re.match(r"</?\s*([a-zA-Z][\w-]*)", token.content)
        if name and name[1].lower() in markup.CODE:
            passage = self._text.passage("code" if self._code else "body")
            if passage:
                yield passage
            self._code = max(0, self._code + (-1 if token.content.startswith("</") else 1))
        elif name and name[1].lower() in markup.BLOCKS:
            self._text.written("\n", self._place(at))
        yield from markup.attributes(token.content, self._place(at))

    def _image(self, token: Token, at: int) -> Iterator[Passage]:
        label = self._source.find(token.content, at + 1)
        inner = _Inline(self._source, self._place)
        yield from inner.read(token.children or [], label, "attribute")
        yield from self._spoken(token, label)

    def _spoken(self, token: Token, at: int) -> Iterator[Passage]:
        """Title and target of a link or an image."""
        title = str(token.attrGet("title") or "")
        start = self._source.find(title, at) if title else -1
        if start >= 0:
            yield Passage(title, [self._place(start + index) for index in range(len(title))], "attribute")
        target = str(token.attrGet("href") or token.attrGet("src") or "")
        if VALUE in target:
            start = max(self._source.find(VALUE, at), 0)
            yield Passage(VALUE, [self._place(start)], "markup")
