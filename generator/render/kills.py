"""The page of kill criteria: each with its rule, its outcome, and its bar drawn against the intervals."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial

from markupsafe import Markup

from generator.number.claim import UNTESTED
from generator.number.evaluate import Evaluation
from generator.record import excerpt
from generator.record.source import Source
from generator.render import block, note
from generator.render.block import Book
from generator.render.environment import part
from generator.render.figure import rule
from generator.render.mark import Marker
from generator.render.sheet import Sheet

URL = "kill-criteria.html"
TITLE = "Kill criteria"

_RULE = re.compile(r"^fires_when:[^\n]*(?:\n[ \t]+[^\n]*)*", re.MULTILINE)


def sheet(book: Book) -> tuple[Sheet, str]:
    """The page as its sheet and its Markdown; each criterion keeps a place of its own for refusals."""
    marker = Marker(URL, book.tally)
    made = Sheet(URL, marker, "kills", partial(block.insert, book, marker), book.terms)
    outcomes = {each: marker.made(f"kills-count:{each}") for each in ("fired", "did-not-fire", "untested")}
    head = part("kills_header.html.j2", title=TITLE, count=marker.made("kills-count"), outcomes=outcomes)
    parts = [made.mark(head)]
    for evaluation in book.of_kind("kill"):
        parts += list(_section(book, made, evaluation))
    return made, "\n\n".join(parts)


def _section(book: Book, made: Sheet, evaluation: Evaluation) -> Iterator[str]:
    source, marker = evaluation.source, made.marker
    made.path, made.source_id = source.path, source.id
    facts = block.entry(book, marker, evaluation)
    heads = note.heads(book, marker, source)
    yield made.mark(part("collected.html.j2", **facts, heads=heads))
    yield made.write(evaluation.body, note.beside(book, marker, evaluation))
    yield made.mark(_rule(book, source) + "".join(_figures(book, marker, evaluation)))
    yield made.mark("</section>")


def _rule(book: Book, source: Source) -> str:
    """The rule as its source writes it."""
    found = _RULE.search(source.text)
    if found is None:
        return ""
    first = source.text.count("\n", 0, found.start()) + 1
    shown = excerpt.read(book.record.root, source.path, first, first + found[0].count("\n"))
    return str(part("rule.html.j2", rule=Markup(block.verbatim(shown))))


def _figures(book: Book, marker: Marker, evaluation: Evaluation) -> Iterator[str]:
    """Every interval that the rule names, against the bars that it names in the same unit."""
    status = evaluation.status
    if status is None or status.words == UNTESTED or status.prefix is None:
        return
    for drawn in rule.against(status.rules, status.leaves):
        yield rule.figure(marker, drawn)
