"""Where the links of a page lead: a mark to its line, an id to what it names, and nowhere undeclared."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from html import unescape
from pathlib import Path

from generator.audit.folder import Folder
from generator.audit.reading import Context, Link, Reading
from generator.gate.numerals import ID

FINDING = re.compile(r"findings/(F-[0-9]+)\.html")
"""The page of a finding."""

_ID = re.compile(r"\sid\s*=\s*[\"']?([^\s\"'>]+)")
_LINE = re.compile(r"L([1-9][0-9]{0,8})")


@dataclass
class Linking:
    """Follows links, now that every page is known."""

    folder: Folder
    context: Context
    readings: Mapping[str, Reading]
    anchors: dict[str, frozenset[str]] = field(default_factory=dict)

    def follow(self, reading: Reading) -> None:
        """Every link of a page; a finding shows numbers of the payloads that its source names."""
        for link in reading.links:
            self._follow(reading.path, link)
        if page := FINDING.fullmatch(reading.path):
            self._undeclared(reading, self.context.sources.declared(page[1]))

    def _follow(self, path: str, link: Link) -> None:
        """A mark leads to a page that shows its line; an id to the page of what it names."""
        target = self.readings.get(link.target)
        if link.lands:
            line = _LINE.fullmatch(link.fragment)
            lands = {each for each in link.lands if line and each[1] == int(line[1])}
            if target and any(lines.holds(*each) for lines in target.lines for each in lands):
                return
            source, number = min(link.lands)
            message = f"The link does not land on line {number} of {source}."
            self.folder.at(path, link.offset, "place-mismatch", message, link.shown)
        elif not ID.fullmatch(link.shown):
            if not target:
                message = "The link does not lead to a page of this site."
                self.folder.at(path, link.offset, "unknown-id", message, link.shown)
        elif link.shown not in self.context.ids:
            message = f"{link.shown[:40]} is no finding, kill criterion or erratum of this record."
            self.folder.at(path, link.offset, "unknown-id", message, link.shown)
        elif (
            not target
            or link.shown not in (Path(link.target).stem, link.fragment)
            or (link.fragment and link.fragment not in self._ids(link.target))
        ):
            message = f"The link does not lead to {link.shown}."
            self.folder.at(path, link.offset, "unknown-id", message, link.shown)

    def _undeclared(self, reading: Reading, declared: set[str]) -> None:
        """A finding shows numbers of the payloads that its source names, and of no others."""
        for link in reading.links:
            for path in sorted({each[0] for each in link.lands} - declared):
                message = f"The number comes from {path}, which the finding does not declare."
                self.folder.at(reading.path, link.offset, "payload-undeclared", message, link.shown)

    def _ids(self, path: str) -> frozenset[str]:
        """The anchors of a page, which is read again for them."""
        if path not in self.anchors:
            file = next((each for each in self.folder.files if each.path == path), None)
            text = (self.folder.read(file) if file else None) or ""
            self.anchors[path] = frozenset(unescape(each) for each in _ID.findall(text))
        return self.anchors[path]
