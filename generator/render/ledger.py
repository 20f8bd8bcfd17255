"""The page of registered texts: each with what came first, and the ledger as it is."""

from __future__ import annotations

from markupsafe import Markup

from generator.ledger.line import PATH
from generator.ledger.order import WORDS
from generator.record import excerpt
from generator.render import block
from generator.render.block import Book
from generator.render.environment import part
from generator.render.mark import Marker
from generator.render.page import Page
from generator.render.sheet import Sheet

URL = "registered.html"


def page(book: Book) -> Page:
    """The ledger, readable and verbatim."""
    marker = Marker(URL, book.tally)
    sheet = Sheet(URL, marker, "registered", lambda _: "")
    entries = [
        {"reference": _reference(book, marker, name), "order": WORDS[order]}
        for name, order in book.orders.items()
    ]
    shown = block.verbatim(excerpt.read(book.record.root, PATH))
    markdown = sheet.mark(part("ledger.html.j2", entries=entries) + shown)
    return Page("registered.md", "Registered texts", markdown, sheet.finish, sheet.plain, listed=True)


def _reference(book: Book, marker: Marker, name: str) -> Markup | str:
    """A link to a registered text: by its id, or by the name of a file of bars, which leads to its line."""
    payload = book.record.payloads.get(name)
    return marker.reference(name) if payload is None else block.quoted(marker, payload, "/name")
