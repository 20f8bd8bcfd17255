"""HTML inside a source: its text, its spoken attributes and its code, with places."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from html.parser import HTMLParser

from generator.gate.passage import Builder, Passage


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


SPOKEN = _words(
    "title alt aria-label aria-description aria-roledescription aria-valuetext aria-valuenow placeholder "
    "label value start data-title summary content"
)
"""Attributes whose text a reader sees or hears."""

CODE = frozenset({"code", "pre", "kbd", "samp", "script", "style", "textarea"})
BLOCKS = _words(
    "address article aside blockquote body br caption dd details div dl dt fieldset figcaption figure footer "
    "form h1 h2 h3 h4 h5 h6 head header hr html li main nav ol option p pre section summary table tbody td "
    "tfoot th thead title tr ul svg text"
)


def passages(html: str, offset: int = 0) -> Iterator[Passage]:
    """Every visible or spoken text of an HTML fragment whose first character stands at an offset."""
    reader = _Reader(html, offset)
    reader.feed(html)
    reader.close()
    reader.flush()
    yield from reader.found


def attributes(tag: str, offset: int) -> Iterator[Passage]:
    """The spoken attributes of one tag as it is written."""
    for match in re.finditer(r"([\w:-]+)\s*=\s*(\"[^\"]*\"|'[^']*'|[^\s\"'>]+)", tag):
        quoted = match[2][0] in "\"'"
        value = match[2][1:-1] if quoted else match[2]
        if match[1].lower() in SPOKEN or "\ue000" in value:
            surface = "attribute" if match[1].lower() in SPOKEN else "markup"
            place = offset + match.start(2) + quoted
            plain = unescape(value)
            places = range(place, place + len(value)) if plain == value else [place] * len(plain)
            yield Passage(plain, places, surface)


class _Reader(HTMLParser):
    def __init__(self, html: str, offset: int) -> None:
        super().__init__(convert_charrefs=False)
        self.found: list[Passage] = []
        self._text = Builder()
        self._code: list[str] = []
        self._lines = [offset, *(offset + match.end() for match in re.finditer("\n", html))]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in BLOCKS or (tag in CODE and not self._code):
            self.flush()
        self.found.extend(attributes(self.get_starttag_text() or "", self._place()))
        if tag in CODE:
            self._code.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in BLOCKS:
            self.flush()
        self.found.extend(attributes(self.get_starttag_text() or "", self._place()))

    def handle_endtag(self, tag: str) -> None:
        if tag in BLOCKS or self._code == [tag]:
            self.flush()
        if self._code and self._code[-1] == tag:
            self._code.pop()

    def handle_data(self, data: str) -> None:
        if not self._code or self._code[-1] not in ("script", "style"):
            self._text.literal(data, self._place())
        elif "\ue000" in data:
            self.found.append(Passage(data, range(self._place(), self._place() + len(data)), "code"))

    def handle_entityref(self, name: str) -> None:
        self._text.written(unescape(f"&{name};"), self._place())

    def handle_charref(self, name: str) -> None:
        self._text.written(unescape(f"&#{name};"), self._place())

    def flush(self) -> None:
        passage = self._text.passage("code" if self._code else "body")
        if passage:
            self.found.append(passage)

    def _place(self) -> int:
        line, column = self.getpos()
        return self._lines[line - 1] + column
