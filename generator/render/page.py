"""The pages of a site, each as the Markdown and the marks that the builder needs."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from html import escape

from markupsafe import Markup

from generator.number.evaluate import Evaluation
from generator.number.piece import Piece, Printed, Prose
from generator.record import checksums, excerpt
from generator.record.payload import Payload
from generator.record.source import Source
from generator.render import block, browse, kills, note
from generator.render.block import Book
from generator.render.environment import part
from generator.render.mark import Marker, payload_url, plain
from generator.render.sheet import Sheet

LINE_LIMIT = 5000
"""Lines of a payload that its page shows, unless a later one is cited."""


@dataclass(frozen=True)
class Page:
    """A page: its place among the sources of the site, its plain title, its Markdown, its marks."""

    source: str
    title: str
    markdown: str
    finish: Callable[[str], str]
    plain: Callable[[str], str]
    searchable: bool = True
    listed: bool = False

    @property
    def url(self) -> str:
        return self.source.removesuffix(".md") + ".html"


def finding(book: Book, evaluation: Evaluation) -> Page:
    """The page of a finding: eyebrow, title, conditions, text, payloads."""
    source = evaluation.source
    sheet = _sheet(book, f"findings/{source.id}.html", source)
    facts = block.entry(book, sheet.marker, evaluation)
    heads = note.heads(book, sheet.marker, source)
    sources = list(browse.cited(book, sheet.marker, source))
    anchor = _slug(evaluation.title)
    head = part("finding_header.html.j2", **facts, heads=heads, anchor=anchor, sources=sources)
    foot = part("finding_footer.html.j2", **browse.foot(book, sheet.marker, source))
    body = sheet.write(evaluation.body, note.beside(book, sheet.marker, evaluation))
    markdown = f"{sheet.mark(head)}\n\n{body}\n\n{sheet.mark(foot)}\n"
    return _page(sheet, _title(book, evaluation), markdown)


def landing(book: Book, evaluation: Evaluation) -> Page:
    """The front page, from the author's template."""
    return _authored(book, evaluation, "index.html")


def authored(book: Book, evaluation: Evaluation) -> Page:
    """A page of site_src."""
    name = evaluation.source.path.removeprefix("site_src/").removesuffix(".md")
    return _authored(book, evaluation, f"{name}.html")


def _authored(book: Book, evaluation: Evaluation, url: str) -> Page:
    sheet = _sheet(book, url, evaluation.source)
    markdown = sheet.write(evaluation.body, note.beside(book, sheet.marker, evaluation))
    if top := note.top(book, sheet.marker, evaluation.source):
        markdown = f"{sheet.mark(top)}\n\n{markdown}"
    return _page(sheet, _title(book, evaluation), markdown, listed=True)


def findings_index(book: Book) -> Page:
    """All findings with their status."""
    return _index(book, "findings/index.html", "Findings", "findings")


def payloads_index(book: Book) -> Page:
    """All payloads with who cites them."""
    return _index(book, "payloads/index.html", "Payloads", "payloads")


def _index(book: Book, url: str, title: str, what: str) -> Page:
    marker = Marker(url, book.tally)
    sheet = Sheet(url, marker, what, partial(block.insert, book, marker))
    head = part("index_header.html.j2", what=what, count=marker.made(f"{what}-count"), title=title)
    listed = block.listing(book, marker, what, filtered=what == "findings")
    return _page(sheet, title, sheet.mark(head + listed), listed=True)


def kill_criteria(book: Book) -> Page:
    """All kill criteria with their rules and computed outcomes."""
    sheet, markdown = kills.sheet(book)
    return _page(sheet, kills.TITLE, markdown, listed=True)


def _sheet(book: Book, url: str, source: Source) -> Sheet:
    marker = Marker(url, book.tally)
    return Sheet(source.path, marker, source.id, partial(block.insert, book, marker), book.terms)


def _page(sheet: Sheet, title: str, markdown: str, *, listed: bool = False) -> Page:
    source = sheet.marker.url.removesuffix(".html") + ".md"
    return Page(source, title, markdown, sheet.finish, sheet.plain, listed=listed)


def _title(book: Book, evaluation: Evaluation) -> str:
    """The title as a plain string."""
    return "".join(_plain(book, piece) for piece in evaluation.title)


def _plain(book: Book, piece: Piece) -> str:
    if isinstance(piece, Prose):
        return piece.text
    return plain(piece.number, book.tally) if isinstance(piece, Printed) else ""


def _slug(pieces: Iterable[Piece]) -> str:
    """An anchor from the words of a title, without its numbers, so that an erratum breaks no link."""
    words = "".join(piece.text if isinstance(piece, Prose) else " " for piece in pieces)
    text = unicodedata.normalize("NFKD", words).encode("ascii", "ignore").decode()
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-") or "title"


def payload(book: Book, document: Payload) -> Page:
    """The page of a payload: what it is, who made it, and its bytes line by line with who cites each."""
    url = payload_url(document.path)
    marker = Marker(url, book.tally)
    html = part(
        "payload.html.j2",
        **block.payload_entry(book, marker, document),
        file=document.path,
        schema=block.quoted(marker, document, "/schema"),
        command=list(browse.command(marker, document)),
        commit=block.quoted(marker, document, "/provenance/commit"),
        dirty=_dirty(document),
        device=block.quoted(marker, document, "/provenance/device"),
        models=list(browse.named(marker, document, "/provenance/models", "name")),
        inputs=list(browse.named(marker, document, "/provenance/inputs", "path")),
        digest=marker.made(f"sha256:{document.path}"),
        checksum=Markup(_checksum(book, document)),
        history=note.history(book, marker, document),
        **_lines(book, marker, document),
    )
    title = document.at("/name").text if "name" in document.root.members else document.path
    source = url.removesuffix(".html") + ".md"
    return Page(source, title, "", lambda _: html, lambda text: text, searchable=False)


def _dirty(document: Payload) -> bool:
    try:
        return document.at("/provenance/dirty").kind == "true"
    except KeyError:
        return False


def _checksum(book: Book, document: Payload) -> str:
    """The line of the checksum list that is about a payload, as it stands there."""
    try:
        listed = excerpt.read(book.record.root, checksums.PATH)
    except excerpt.Unquotable:
        return ""
    for number, line in enumerate(listed.lines, 1):
        if line.endswith(f" {document.path}"):
            return block.verbatim(excerpt.read(book.record.root, checksums.PATH, number, number))
    return ""


def _lines(book: Book, marker: Marker, document: Payload) -> dict[str, object]:
    """The lines of a payload with anchors, their numbers, and links to the sources that cite them."""
    citing = _citing(book, marker, document)
    lines = document.data.decode("utf-8").removesuffix("\n").split("\n")
    last = min(len(lines), max(LINE_LIMIT, *citing, 1))
    spans = [
        f'<span id="L{number}"{" class=cited" if number in citing else ""}>{escape(line, quote=False)}</span>'
        for number, line in enumerate(lines[:last], 1)
    ]
    gutter = "\n".join(str(number) for number in range(1, last + 1))
    cites = "\n".join(" ".join(citing.get(number, ())) for number in range(1, last + 1))
    return {
        "name_of_lines": f"{document.path}#L1-L{last}",
        "sha256": document.sha256,
        "gutter": gutter,
        "lines": Markup("\n".join(spans)),
        "cites": Markup(cites),
        "cut": last < len(lines),
    }


def _citing(book: Book, marker: Marker, document: Payload) -> dict[int, list[str]]:
    """Links to the sources that cite each line."""
    return {
        line: [str(block.citation(marker, each.kind, each.id, each.path)) for each in sources.values()]
        for line, sources in book.cited_lines.get(document.path, {}).items()
    }
