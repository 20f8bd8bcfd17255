"""The site, step by step: gather, judge, compose, and what goes beside the pages."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from generator.disclosure import reconciliation, tagged
from generator.errata import effects, rulings
from generator.gate import display, verdict
from generator.gate import source as gate
from generator.ledger import frozen
from generator.number import erratum
from generator.number.evaluate import Evaluation, evaluate
from generator.number.number import Derived, Made
from generator.record import checksums, experiments, repository
from generator.record import record as records
from generator.record.record import LANDING, Record
from generator.record.source import Source
from generator.render import (
    changes,
    comparison,
    coverage,
    critic,
    disclosure,
    errata,
    feed,
    label,
    ledger,
    page,
    script,
)
from generator.render.address import addressed
from generator.render.aside import Aside
from generator.render.block import Book
from generator.render.environment import asset, default
from generator.render.page import Page
from generator.render.stamp import stamped
from generator.render.tally import count, leaves
from generator.report.refusal import Refusal, Refused, Report

MADE = (
    *("findings/index.md", "kill-criteria.md", "errata.md", "errata-pass.md"),
    *("payloads/index.md", "registered.md", "coverage.md", "changes.md", "critic.md"),
    *(f"{kind}.md" for kind in disclosure.TITLES),
)
"""Pages that the generator makes beside those of findings and payloads."""

LARGE = 64
"""Sources from which a second process saves more than it costs."""

STYLESHEET = "assets/findings.css"


@dataclass(frozen=True)
class Site:
    """Pages by their place among the sources, and files that are copied as they are."""

    book: Book
    pages: dict[str, Page]
    files: dict[str, bytes]
    report: Report

    @property
    def record(self) -> Record:
        """What the pages are made of."""
        return self.book.record


def gather(root: Path) -> tuple[Record, dict[str, Evaluation]]:
    """Read the record and evaluate every source of it; raises nothing."""
    record = records.load(root)
    return record, {each.path: evaluate(record, each) for each in record.sources}


def judge(record: Record, evaluations: dict[str, Evaluation], base: str | None = None) -> Report:
    """Everything that stands against publishing, before anything is rendered.

    Raises UnknownRevision for a base of the ledger that git does not know.
    """
    report = Report()
    report.extend(record.refusals)
    report.warnings.extend(record.warnings)
    refusals, warnings = gate.check(record)
    refusals = further(refusals, evaluations.values())
    older = frozen.of_older_gate(record.root)
    report.extend(each for each in refusals if each.path not in older)
    report.warnings.extend([*warnings, *(each for each in refusals if each.path in older)])
    registered = frozen.check(record, base)
    report.extend(registered.refusals)
    (report.refusals if repository.in_ci() else report.warnings).extend(registered.unproved)
    told = {each.path for each in record.refusals} | {each.text for each in record.refusals}
    for evaluation in evaluations.values():
        report.extend(each for each in evaluation.refusals if not follows(each, told))
        report.numbers += leaves(evaluation.printed)
        report.derived += sum(isinstance(number, Derived) for number in evaluation.printed)
        report.claims += evaluation.claims
        report.computed += sum(isinstance(number, Made) for number in evaluation.printed)
    report.extend([*reserved(record), *verdict.faults(evaluations.values())])
    report.extend([*reconciliation.faults(record), *tagged.faults(record), *comparison.faults(record)])
    report.extend(corrected(record, evaluations))
    report.pages = len(evaluations)
    return report


def follows(refusal: Refusal, told: set[str]) -> bool:
    """Whether a number is missing only because of a payload that is refused at its own place already."""
    return refusal.code == "unknown-payload" and refusal.text in told


def further(refusals: list[Refusal], evaluations: Iterable[Evaluation]) -> list[Refusal]:
    """What the gate refuses beyond what evaluation refused at the same place for the same reason."""
    known = {(r.path, r.line, r.column, r.code) for each in evaluations for r in each.refusals}
    return [r for r in refusals if (r.path, r.line, r.column, r.code) not in known]


def corrected(record: Record, evaluations: dict[str, Evaluation]) -> Iterator[Refusal]:
    """What is wrong with errata, with what they make of the record, and with the pass over them."""
    yield from erratum.faults(evaluations.values())
    traced = effects.trace(record.payloads, evaluations.values())
    yield from traced.refusals
    if record.errata_pass:
        yield from rulings.faults(record.errata_pass, evaluations, traced)


def reserved(record: Record) -> Iterator[Refusal]:
    """Files whose pages would stand where the generator puts its own."""
    made = {f"site_src/{name}" for name in MADE} | ({"site_src/index.md"} if record.landing else set())
    for each in record.pages:
        if each.path in made or re.match(r"site_src/(findings|payloads)/", each.path):
            message = "The generator makes the page that this file would make. Name it otherwise."
            yield Refusal(each.path, 1, 1, "bad-template", each.path, message)
    if "payloads/index.json" in record.payloads:
        message = "The list of payloads has this place. Put the file in a folder of its record."
        yield Refusal("payloads/index.json", 1, 1, "bad-payload", "payloads/index.json", message)


def build(root: Path) -> Site:
    """The whole site in memory; raises Refused with everything that stands against it."""
    record, evaluations = gather(root)
    judged = _judging(record, evaluations)
    composed = None
    with suppress(Exception):  # of a record that is refused; of any other it is raised below
        composed = compose(record, evaluations) if judged else None
    report = judged.result() if judged else judge(record, evaluations)
    if report.refusals:
        raise Refused(report.refusals)
    return replace(composed or compose(record, evaluations), report=report)


def _judging(record: Record, evaluations: dict[str, Evaluation]) -> Aside[Report] | None:
    """A process that judges a large record while this one makes its pages."""
    return Aside(lambda: judge(record, evaluations)) if len(evaluations) >= LARGE else None


def compose(record: Record, evaluations: dict[str, Evaluation]) -> Site:
    """Make every page and every file of a record that nothing stands against; the report is yet to come."""
    if record.landing is None and not any(each.path == "site_src/index.md" for each in record.pages):
        standing_in = _default_landing()
        evaluations = {**evaluations, LANDING: evaluate(record, standing_in)}
    traced = effects.trace(record.payloads, evaluations.values())
    book = Book(record, evaluations, count(record, evaluations.values(), traced), traced)
    pages = _by_source(book, _pages(book))
    files = {path: payload.data for path, payload in record.payloads.items()}
    files |= {experiments.PATH: record.experiments.document.data} if record.experiments else {}
    files |= {STYLESHEET: asset("findings.css") + asset("figures.css")}
    files |= dict(script.files(record))
    if (record.root / checksums.PATH).is_file():
        files[checksums.PATH] = (record.root / checksums.PATH).read_bytes()
    files |= {errata.FEED: feed.atom(_name(record), traced.effects)}
    return Site(book, pages, files, Report())


WRITTEN = {"finding": page.finding, "template": page.landing, "page": page.authored}
"""How a page is made of a source that has one of its own, by the source's kind."""


def revised(site: Site, evaluation: Evaluation) -> tuple[Site, str]:
    """The site with the page of one source made again, and its place; other pages stay as they were."""
    record = records.revised(site.record, evaluation.source)
    evaluations = {**site.book.evaluations, evaluation.source.path: evaluation}
    book = replace(site.book, record=record, evaluations=evaluations)
    made = _by_source(book, [WRITTEN[evaluation.source.kind](book, evaluation)])
    return replace(site, book=book, pages={**site.pages, **made}), next(iter(made))


def _by_source(book: Book, pages: Iterable[Page]) -> dict[str, Page]:
    """Pages by their place among the sources, each with its addresses and its last line."""
    return {each.source: each for each in addressed(stamped(book.record, book.tally, pages))}


def _name(record: Record) -> str:
    """What the site is called, for readers who follow it elsewhere."""
    return next((text for *_, text in display.configuration(record.root)), "This record")


def _pages(book: Book) -> list[Page]:
    """Every page, in the order of the navigation."""
    record = book.record
    return [
        *(page.landing(book, each) for each in book.of_kind("template")),
        *(page.authored(book, each) for each in book.of_kind("page")),
        page.findings_index(book),
        *(page.finding(book, each) for each in book.of_kind("finding")),
        page.kill_criteria(book),
        errata.page(book),
        *([errata.ruled(book, record.errata_pass)] if record.errata_pass else []),
        *disclosure.pages(book),
        page.payloads_index(book),
        *([ledger.page(book)] if book.orders else []),
        *([critic.page(book)] if label.critics(book) else []),
        *([changes.page(book)] if changes.kept(record) else []),
        coverage.page(),
        *(page.payload(book, each) for each in book.record.payloads.values()),
    ]


def _default_landing() -> Source:
    """The front page of a record that has no template of its own."""
    return Source(LANDING, "template", "", {}, {}, default("landing.md.j2"), 1)
