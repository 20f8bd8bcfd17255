"""The page of changes between releases: each comparison as it was kept, the latest first."""

from __future__ import annotations

import re
from pathlib import Path

from generator.record import excerpt
from generator.record.record import CHANGES, Record
from generator.render import block
from generator.render.block import Book
from generator.render.environment import part
from generator.render.mark import Marker
from generator.render.page import Page
from generator.render.sheet import Sheet
from generator.report.refusal import Refusal, Refused

URL = "changes.html"


def kept(record: Record) -> list[str]:
    """The comparisons that a record keeps, the latest release first."""
    found = (record.root / CHANGES).glob("*..*.md")
    return sorted((f"{CHANGES}/{file.name}" for file in found if file.is_file()), key=_order, reverse=True)


def page(book: Book) -> Page:
    """Every comparison that is kept, verbatim."""
    marker = Marker(URL, book.tally)
    sheet = Sheet(URL, marker, "changes", lambda _: "")
    shown = "".join(_shown(book.record.root, path) for path in kept(book.record))
    markdown = sheet.mark(part("changes.html.j2") + shown)
    return Page("changes.md", "Changes between releases", markdown, sheet.finish, sheet.plain, listed=True)


def _shown(root: Path, path: str) -> str:
    try:
        return block.verbatim(excerpt.read(root, path))
    except excerpt.Unquotable as error:
        raise Refused([Refusal(path, 1, 1, "bad-template", path, str(error))]) from None


def _order(path: str) -> tuple[list[int], str]:
    """Releases by the numbers in the name of the younger one."""
    younger = path.removeprefix(CHANGES).removesuffix(".md").rpartition("..")[2]
    return [int(each) for each in re.findall(r"[0-9]{1,9}", younger)], path
