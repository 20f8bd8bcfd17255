"""Lets the real checks judge what a fault touched: the source check its sources, the audit its pages."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from hashlib import sha256

from generator.audit import verify
from generator.gate import source as gate
from generator.gate.display import CONFIGURATION
from generator.number.evaluate import evaluate
from generator.record import checksums, experiments, source, terms
from generator.record.record import Record
from generator.render import site
from generator.report.refusal import Refusal, Refused
from generator.selftest.workplace import SITE, Workplace


def touched(workplace: Workplace, paths: Collection[str]) -> list[Refusal]:
    """What is refused in these files, by what was read of all others before."""
    pages = [path.removeprefix(SITE) for path in paths if path.startswith(SITE)]
    sources = [path for path in paths if not path.startswith(SITE)]
    found = workplace.audit.refused(pages, sources) if pages else []
    return [*found, *_sources(workplace.record, sources)]


def everything(workplace: Workplace, paths: Collection[str]) -> list[Refusal]:
    """What is refused by the commands themselves, over all sources or the whole site or both."""
    found: list[Refusal] = []
    if any(path.startswith(SITE) for path in paths):
        found += verify(workplace.root, workplace.root / "site").refusals
    if any(not path.startswith(SITE) for path in paths):
        found += site.judge(*site.gather(workplace.root)).refusals
    return found


def _sources(record: Record, paths: Collection[str]) -> Iterator[Refusal]:
    for path in paths:
        try:
            if path == checksums.PATH:
                yield from _checksums(record, paths)
            elif path in (terms.PATH, CONFIGURATION, experiments.PATH):
                yield from _strings(record)
            elif path.endswith((".md", ".md.j2")):
                yield from _source(record, path)
        except Refused as refused:
            yield from refused.refusals


def _source(record: Record, path: str) -> Iterator[Refusal]:
    """Findings, kill criteria, errata, pages and the landing template."""
    read = source.read(record.root, path)
    yield from gate.check_sources([read], record.terms, record.ids).refusals
    yield from evaluate(record, read).refusals


def _strings(record: Record) -> Iterator[Refusal]:
    """What is shown of the configuration, of the names and of the list of experiments."""
    alone = replace(
        record,
        landing=None,
        findings=(),
        kills=(),
        errata=(),
        errata_pass=None,
        disclosures=(),
        pages=(),
        terms=terms.read(record.root),
        experiments=experiments.read(record.root),
    )
    yield from gate.judge_record(alone).refusals


def _checksums(record: Record, paths: Collection[str]) -> Iterator[Refusal]:
    """The list of checksums, against the payloads as they are now."""
    digests = {path: each.sha256 for path, each in record.payloads.items()}
    digests |= {experiments.PATH: record.experiments.document.sha256} if record.experiments else {}
    changed = {
        path: sha256((record.root / path).read_bytes()).hexdigest() for path in paths if path in digests
    }
    yield from checksums.check(record.root, digests | changed)
