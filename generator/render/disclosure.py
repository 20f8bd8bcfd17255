"""The pages of what was not run, what is withheld, and where a rule was bent."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from markupsafe import Markup

from generator.disclosure import deviations, reconciliation
from generator.disclosure.deviations import Deviation
from generator.number.piece import Prose
from generator.record import experiments
from generator.record.source import Source
from generator.render import block, note
from generator.render.block import Book
from generator.render.environment import part
from generator.render.mark import Marker
from generator.render.page import Page
from generator.render.sheet import Sheet

TITLES = {"unrun": "Not run", "withheld": "Withheld", "deviations": "Deviations"}
"""The title of the page of each kind; its address is the kind's name."""


def pages(book: Book) -> Iterator[Page]:
    """A page for each of these sources that the record has."""
    for source in book.record.disclosures:
        yield _page(book, source)


def _page(book: Book, source: Source) -> Page:
    """The author's words, then the entries."""
    kind = source.kind
    marker = Marker(f"{kind}.html", book.tally)
    sheet = Sheet(source.path, marker, kind, partial(block.insert, book, marker), book.terms)
    listed = book.record.experiments
    head = part(
        "disclosure_header.html.j2",
        kind=kind,
        title=TITLES[kind],
        count=marker.made(f"{kind}-count"),
        experiments=marker.made("experiments-count") if listed else "",
        file=marker.link(experiments.PATH),
    )
    entries = _deviations(book, marker) if kind == "deviations" else _experiments(book, marker, kind)
    evaluation = book.evaluations[source.path]
    body = sheet.write(evaluation.body, note.beside(book, marker, evaluation))
    top = note.top(book, marker, source)
    parts = [sheet.mark(head), *([sheet.mark(top)] if top else []), body, sheet.mark(entries)]
    return Page(f"{kind}.md", TITLES[kind], "\n\n".join(parts), sheet.finish, sheet.plain, listed=True)


def _experiments(book: Book, marker: Marker, kind: str) -> str:
    """A section for each record: its experiments that are not published, each with the reason."""
    listed = book.record.experiments
    sections: dict[str, list[dict[str, object]]] = {each: [] for each in (listed.records if listed else ())}
    said = {each.name: each.reason for each in reconciliation.entries(book.record, kind)}
    for each in listed.rows if listed else ():
        if each.name in said:
            reason = _text(book, marker, said[each.name])
            sections[each.record].append({"experiment": each, "reason": reason})
    return part("experiments.html.j2", kind=kind, sections=sections)


def _deviations(book: Book, marker: Marker) -> str:
    """Every deviation, as they were entered."""
    entries = [
        {
            "number": each.number,
            "date": marker.made(f"deviation-date:{each.number}"),
            "rule": _rule(book, marker, each),
            "what": _text(book, marker, each.what),
            "reading": _text(book, marker, each.reading),
            "allows": marker.reference(each.allows) if each.allows else "",
        }
        for each in deviations.entries(book.record)
    ]
    return part("deviations.html.j2", entries=entries)


def _rule(book: Book, marker: Marker, entry: Deviation) -> Markup | str:
    """What was bent: an id, or a file of bars by its name."""
    payload = book.record.payloads.get(entry.rule)
    return block.quoted(marker, payload, "/name") if payload else marker.reference(entry.rule)


def _text(book: Book, marker: Marker, text: str) -> Markup:
    return block.inline(book, marker, [Prose(text)])
