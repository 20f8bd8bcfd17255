"""The page of all errata, newest first, each with its effects; and the page of the pass over them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from markupsafe import Markup

from generator.errata import rulings
from generator.errata.effects import Effects
from generator.errata.rulings import RULINGS, Ruling
from generator.number import erratum
from generator.number.evaluate import Evaluation
from generator.record.source import Source
from generator.render import block, note
from generator.render.block import Book
from generator.render.environment import part
from generator.render.mark import Marker
from generator.render.page import Page
from generator.render.sheet import Sheet

URL = "errata.html"
FEED = "errata.xml"
PASS_URL = "errata-pass.html"


def page(book: Book) -> Page:
    """All errata by date, the newest first."""
    marker = Marker(URL, book.tally)
    sheet = Sheet(URL, marker, "errata", partial(block.insert, book, marker), book.terms)
    ruled = marker.link(PASS_URL) if book.of_kind("pass") else ""
    count = marker.made("errata-count")
    parts = [sheet.mark(part("errata_header.html.j2", count=count, feed=FEED, ruled=ruled))]
    for each in reversed(book.traced.effects):
        source = each.erratum.source
        sheet.path, sheet.source_id = source.path, source.id
        facts = block.erratum(marker, each.erratum)
        parts += [sheet.mark(part("erratum.html.j2", **facts)), sheet.write(each.erratum.body)]
        parts.append(sheet.mark(part("erratum_effects.html.j2", touched=list(_touched(book, marker, each)))))
    return Page("errata.md", "Errata", "\n\n".join(parts), sheet.finish, sheet.plain, listed=True)


def _touched(book: Book, marker: Marker, effects: Effects) -> Iterator[dict[str, object]]:
    """The pages that an erratum changes, each with what changes there."""
    for found in effects.notes:
        source = found.source
        yield {
            "where": block.citation(marker, source.kind, source.id, source.path),
            **note.said(book, marker, found),
        }


def ruled(book: Book, source: Source) -> Page:
    """The pass over the errata: every statement of a record, and what is ruled on it."""
    marker = Marker(PASS_URL, book.tally)
    evaluation = book.evaluations[source.path]
    sheet = Sheet(source.path, marker, "pass", partial(block.insert, book, marker), book.terms)
    counts = {each: marker.made(f"rulings-count:{each}") for each in RULINGS}
    head = part(
        "pass_header.html.j2",
        date=marker.made("pass-date"),
        count=marker.made("rulings-count"),
        errata=marker.link(URL),
        **counts,
    )
    parts = [sheet.mark(head), sheet.write(evaluation.body)]
    findings = {each.source.id: each for each in book.of_kind("finding")}
    for row in rulings.rows(source):
        parts += list(_row(marker, sheet, findings[row.finding], row))
    return Page("errata-pass.md", "Errata pass", "\n\n".join(parts), sheet.finish, sheet.plain, listed=True)


def _row(marker: Marker, sheet: Sheet, finding: Evaluation, row: Ruling) -> Iterator[str]:
    """One statement as it is written, with its ruling."""
    link = marker.link(f"findings/{row.finding}.html#{row.finding}-{row.statement}")
    facts = {
        "finding": marker.reference(row.finding),
        "statement": link,
        "ruling": row.ruling,
        "erratum": marker.reference(row.erratum) if row.erratum else Markup(""),
        "reason": row.reason,
    }
    yield sheet.mark(part("ruling.html.j2", **facts))
    yield sheet.write(erratum.within(finding.body, row.statement))
    yield sheet.mark("</section>")
