"""Blocks that the generator lays into pages: files as they are, and lists of the record's parts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from html import escape

from markupsafe import Markup

from generator.disclosure import reconciliation
from generator.errata.effects import Traced
from generator.ledger.order import WORDS, Order, orders
from generator.number.claim import UNTESTED
from generator.number.evaluate import REFERENCE, Evaluation
from generator.number.number import Leaf, Shown
from generator.number.piece import ClaimStart, Listing, Piece, Printed, Prose, Verbatim
from generator.number.unit import NONE
from generator.record.excerpt import Excerpt
from generator.record.payload import Payload
from generator.record.record import Record
from generator.record.source import DISCLOSURES, Source
from generator.render import comparison, verdicts
from generator.render.environment import part
from generator.render.mark import Marker, payload_url
from generator.render.tally import Tally


@dataclass(frozen=True)
class Book:
    """All that pages are made from."""

    record: Record
    evaluations: Mapping[str, Evaluation]
    tally: Tally
    traced: Traced

    @cached_property
    def terms(self) -> tuple[str, ...]:
        return tuple(term.text for term in self.record.terms)

    @cached_property
    def cited_lines(self) -> dict[str, dict[int, dict[str, Source]]]:
        """The sources that cite each line of each payload, by path."""
        cited: dict[str, dict[int, dict[str, Source]]] = {}
        for evaluation in self.evaluations.values():
            for leaf in evaluation.citations:
                lines = cited.setdefault(leaf.payload.path, {})
                lines.setdefault(leaf.node.line, {})[evaluation.source.path] = evaluation.source
        return cited

    @cached_property
    def orders(self) -> dict[str, Order]:
        """Of each registered text, whether it was there before its data."""
        return orders(self.record.root)

    def of_kind(self, kind: str) -> list[Evaluation]:
        """The evaluated sources of one kind, in order."""
        return [each for each in self.evaluations.values() if each.source.kind == kind]


def insert(book: Book, marker: Marker, piece: Verbatim | Listing) -> str:
    """The HTML of a block that an author asked for."""
    if isinstance(piece, Verbatim):
        return verbatim(piece.excerpt)
    return listing(book, marker, piece.what, record=piece.record)


def verbatim(excerpt: Excerpt) -> str:
    """Lines of a file as they are, for the auditor to compare."""
    name = escape(f"{excerpt.path}#L{excerpt.first}-L{excerpt.last}")
    text = escape("\n".join(excerpt.lines), quote=False)
    return (
        f'<div class="verbatim" data-search-exclude><pre data-verbatim="{name}"'
        f' data-sha256="{excerpt.sha256}"><code>{text}</code></pre></div>'
    )


def inline(book: Book, marker: Marker, pieces: Iterable[Piece]) -> Markup:
    """Pieces of a title or a regime as HTML: plain text, numbers, claims, and ids as links."""
    return Markup("").join(_inline(book, marker, piece) for piece in pieces)


def _inline(book: Book, marker: Marker, piece: Piece) -> Markup:
    if isinstance(piece, Prose):
        return Markup("").join(_linked(book, marker, piece.text))
    if isinstance(piece, Printed):
        return marker.number(piece.number)
    return marker.claim(piece.prefix) if isinstance(piece, ClaimStart) else Markup("</span>")


def _linked(book: Book, marker: Marker, text: str) -> Iterator[Markup | str]:
    at = 0
    for match in REFERENCE.finditer(text):
        if not any(match[0] in term for term in book.terms):
            yield Markup(escape(text[at : match.start()], quote=False))
            yield marker.reference(match[0])
            at = match.end()
    yield Markup(escape(text[at:], quote=False))


def listing(book: Book, marker: Marker, what: str, *, record: str = "", filtered: bool = False) -> str:
    """A list of what there is of one kind, each entry linked and bound; of one record where it is named."""
    if what == "unrun":
        return part("unrun.html.j2", sections=_unrun(book, marker, record), folded=not record)
    if what == "comparison":
        return part("comparison.html.j2", groups=_compared(book, marker))
    if what == "payloads":
        paths = f"payloads/{record}/" if record else ""
        found = [each for path, each in book.record.payloads.items() if path.startswith(paths)]
        entries = [payload_entry(book, marker, each) for each in found]
    else:
        kind = {"kills": "kill", "errata": "erratum"}.get(what, "finding")
        sources = [each for each in book.of_kind(kind) if record in ("", each.source.string("record"))]
        entries = [_listed(book, marker, each) for each in sources]
        if what == "verdicts":
            groups = verdicts.listed(marker, entries, sources, brief=marker.url == FRONT)
            known = record in (book.record.experiments.records if book.record.experiments else ())
            unrun = marker.link(f"unrun.html#record-{record}" if known else "unrun.html")
            return part("verdicts.html.j2", groups=groups, unrun=unrun)
    return part("listing.html.j2", what=what, entries=entries, filtered=filtered)


@dataclass(frozen=True)
class Group:
    """A heading over rows, and the id of its place."""

    title: str

    @property
    def id(self) -> str:
        return re.sub(r"[^a-z]+", "-", self.title.lower()).strip("-")


def _compared(book: Book, marker: Marker) -> dict[Group, list[dict[str, object]]]:
    """Figures of others beside ours, by group."""
    groups: dict[Group, list[dict[str, object]]] = {}
    for each in comparison.cells(book.record):
        row, words = each.row, partial(inline, book, marker)
        path, _, pointer = row.reported[0].partition("#")
        ours = book.record.payloads.get(row.ours[0].partition("#")[0]) if row.ours else None
        groups.setdefault(Group(row.group), []).append(
            {
                "what": words([Prose(row.what)]),
                "differs": words([Prose(row.differs)]) if row.differs else "",
                "reported": [marker.number(number) for number in each.reported],
                "unit": quoted(marker, book.record.payloads[path], f"{pointer}/unit"),
                "source": quoted(marker, book.record.payloads[path], f"{pointer}/source"),
                "ours": [marker.number(number) for number in each.ours],
                "payload": quoted(marker, ours, "/name") if ours else "",
                "word": "not comparable" if row.because else "not run here",
                "reason": words([Prose(each.reason)]),
            }
        )
    return groups


def _unrun(book: Book, marker: Marker, record: str) -> dict[str, list[dict[str, object]]]:
    """The experiments that were not run, each with the reason, by record."""
    said = {each.name: each.reason for each in reconciliation.entries(book.record, "unrun")}
    sections: dict[str, list[dict[str, object]]] = {}
    for each in book.record.experiments.rows if book.record.experiments else ():
        if each.name in said and record in ("", each.record):
            reason = inline(book, marker, [Prose(said[each.name])])
            sections.setdefault(each.record, []).append({"experiment": each, "reason": reason})
    return sections


def _listed(book: Book, marker: Marker, evaluation: Evaluation) -> dict[str, object]:
    if evaluation.source.kind == "erratum":
        return erratum(marker, evaluation)
    return entry(book, marker, evaluation)


def entry(book: Book, marker: Marker, evaluation: Evaluation) -> dict[str, object]:
    """What a list or a page header says of a finding or a kill criterion."""
    source = evaluation.source
    judged = {"finding": "status", "kill": "outcome"}.get(source.kind, "")
    untested = evaluation.status is not None and evaluation.status.words == UNTESTED
    bare = judged == "status" and marker.url == FRONT  # conditions would be a third of that page's bytes
    return {
        "id": source.id,
        "reference": marker.reference(source.id),
        "title": inline(book, marker, evaluation.title),
        "regime": inline(book, marker, evaluation.regime),
        "status": marker.judged(evaluation.status, judged, bare=bare) if evaluation.status else "",
        "verdict": marker.judged(evaluation.verdict, "verdict") if evaluation.verdict else "",
        "corrections": [marker.reference(each.erratum.source.id) for each in book.traced.on(source)],
        "registered": _registered(book, source),
        "facets": facets(evaluation) if source.kind == "finding" else {},
        "untested_because": source.string("untested_because") if untested else "",
    }


FACETS = {
    "stream": ("/regime/stream",),
    "scheme": ("/regime/draft", "/regime/scheme", "/config/scheme", "/config/schemes"),
}
"""Where payloads say what was watched and what guessed."""


def facets(evaluation: Evaluation) -> dict[str, str]:
    """What a finding can be filtered by: fields of what it cites, and tags such as stream:gates."""
    source = evaluation.source
    given = source.front.get("tags", ())
    tags = [str(each) for each in given] if isinstance(given, list | tuple) else []
    cited = {leaf.payload.path: leaf.payload for leaf in evaluation.citations}
    named = {}
    for name, pointers in FACETS.items():
        tagged = [tag.partition(":")[2] for tag in tags if tag.startswith(f"{name}:")]
        told = [text for each in cited.values() for at in pointers for text in _named(each, at)]
        named[name] = "|".join(dict.fromkeys([*tagged, *told]))
    status = evaluation.status.words if evaluation.status else ""
    return {"record": source.string("record"), "status": status, **named}


def _named(payload: Payload, pointer: str) -> Iterator[str]:
    """The names that a field gives, without what stands behind them in brackets or after a colon."""
    try:
        node = payload.at(pointer)
    except KeyError:
        return
    for each in node.items if node.kind == "array" else (node,):
        if each.kind == "string":
            yield re.split(r" \(|:", each.text)[0]


def _registered(book: Book, source: Source) -> str:
    """What a badge says of a registered text; what came first is a question about rules alone."""
    if source.id not in book.orders:
        return ""
    return WORDS[book.orders[source.id]] if source.kind == "kill" else "registered"


def erratum(marker: Marker, evaluation: Evaluation) -> dict[str, object]:
    """What is said of an erratum wherever it is named."""
    source = evaluation.source
    corrected = source.string("finding")
    target = f"findings/{corrected}.html#{corrected}-{source.string('statement')}"
    return {
        "id": source.id,
        "reference": marker.reference(source.id),
        "finding": marker.reference(corrected),
        "statement": marker.link(target),
        "kind": source.string("kind"),
        "corrected": [marker.number(each.number) for each in evaluation.corrected],
        "reason": source.string("reason"),
        "date": marker.made(f"erratum-date:{source.id}"),
    }


FRONT = "index.html"
"""The page that is kept light: its verdicts name no fields."""

KINDS = {
    "payload": "measured here",
    "registered": "registered in advance",
    "reported": "reported by others",
    "critic": "recomputed independently",
}
"""What each kind of payload is to a reader."""


def payload_entry(book: Book, marker: Marker, payload: Payload) -> dict[str, object]:
    """What a list or a page header says of a payload."""
    citing = book.record.citing(payload.path)
    return {
        "name": quoted(marker, payload, "/name"),
        "question": quoted(marker, payload, "/question"),
        "kind": KINDS.get(payload.kind, payload.kind),
        "url": marker.link(payload_url(payload.path)),
        "raw": marker.link(payload.path),
        "citing": [citation(marker, each.kind, each.id, each.path) for each in citing],
        "cited": marker.made(f"cited-by-count:{payload.path}"),
    }


def quoted(marker: Marker, payload: Payload, pointer: str) -> Markup | str:
    """A text of a payload as a mark, empty where it is absent, no text, or too long to quote."""
    try:
        node = payload.at(pointer)
    except KeyError:
        return ""
    if node.kind != "string" or not 0 < len(node.text) <= 120:
        return ""
    return marker.shown(Shown(Leaf(payload, pointer, node, NONE), "text", node.text))


def citation(marker: Marker, kind: str, name: str, path: str) -> Markup:
    """A link to a source that cites something."""
    if kind in ("finding", "kill", "erratum"):
        return marker.reference(name)
    if kind == "template":
        return Markup('<a class="ref" href="{}">front page</a>').format(marker.link("index.html"))
    url = path.removeprefix("site_src/").removesuffix(".md") + ".html"
    url = f"{kind}.html" if path in DISCLOSURES else url
    return Markup('<a class="ref" href="{}">a page</a>').format(marker.link(url))
