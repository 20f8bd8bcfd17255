"""Finds the marks of finished pages as they are written there, and takes them apart to be changed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from html import escape, unescape

_TAG = re.compile(r'<(?:data|span|pre)(?:\s+[\w-]+="[^"]*")+\s*>')
_ATTRIBUTE = re.compile(r'\s([\w-]+)="([^"]*)"')
_LINK = re.compile(r'<a href="([^"]*)"')
_TAGS = re.compile(r"<[^<>]*>")
_TRACES = frozenset(
    {"data-src", "data-expression", "data-claim", "data-computed", "data-verbatim", "data-gutter"}
)


@dataclass(frozen=True)
class Mark:
    """An element of a page whose attributes say where something came from."""

    path: str
    page: str
    start: int
    opened: int

    @cached_property
    def attributes(self) -> dict[str, str]:
        """Its attributes, decoded."""
        found = _ATTRIBUTE.finditer(self.page, self.start, self.opened)
        return {each[1]: unescape(each[2]) for each in found}

    @property
    def line(self) -> int:
        return self.page.count("\n", 0, self.start) + 1

    @cached_property
    def end(self) -> int:
        """Where a number's element ends."""
        return self.page.index("</data>", self.opened) + len("</data>")

    @property
    def text(self) -> str:
        """What the element shows, as it is written in the page, entities and all."""
        return _TAGS.sub("", self.page[self.opened : self.end])

    @property
    def link(self) -> str:
        """The address that the element's number links to, as it is written in the page."""
        found = _LINK.match(self.page, self.opened)
        return found[1] if found else ""

    @property
    def is_shown(self) -> bool:
        """Whether the element shows a number or a text, and is not a claim or a block."""
        return self.page.startswith("<data", self.start)

    @property
    def is_text(self) -> bool:
        """Whether it shows a text of a payload."""
        return self.attributes.get("class") == "num text"

    @property
    def is_leaf(self) -> bool:
        """Whether it shows a number or a text of a payload as it stands there."""
        return self.is_shown and "data-src" in self.attributes

    def typed(self) -> str:
        """The page with the element's own text in its place, as if typed by hand."""
        return self.page[: self.start] + self.text + self.page[self.end :]

    def changed(self, name: str, value: str) -> str:
        """The page with another value of an attribute."""
        found = _ATTRIBUTE.finditer(self.page, self.start, self.opened)
        start, end = next(each.span(2) for each in found if each[1] == name)
        return self.page[:start] + escape(value) + self.page[end:]

    def exchanged(self, old: str, new: str) -> str:
        """The page with something in the element replaced wherever it stands there."""
        element = self.page[self.start : self.end].replace(old, new)
        return self.page[: self.start] + element + self.page[self.end :]

    def replaced(self, old: str, new: str) -> str:
        """The page with something inside the element replaced once."""
        at = self.page.index(old, self.start)
        return self.page[:at] + new + self.page[at + len(old) :]


def marks(path: str, page: str) -> Iterator[Mark]:
    """Every mark of a page, in order."""
    for tag in _TAG.finditer(page):
        mark = Mark(path, page, tag.start(), tag.end())
        if not _TRACES.isdisjoint(mark.attributes):
            yield mark
