"""The audit of a finished site: gather its files, read each, settle what spans pages, report."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Mapping
from copy import copy
from dataclasses import replace
from pathlib import Path

from generator.audit import published
from generator.audit.beside import Beside
from generator.audit.comparison import Comparison
from generator.audit.computed import NUMBERS, Sources
from generator.audit.coverage import EXEMPTIONS, NAMES, Coverage, Used, left_out, settle
from generator.audit.crew import Ahead, Crew, size
from generator.audit.evidence import Evidence
from generator.audit.fault import Fault
from generator.audit.folder import PAGES, File, Folder
from generator.audit.linking import FINDING, Linking
from generator.audit.page import Reader
from generator.audit.reading import Context, Echo, Reading
from generator.gate.numerals import Names
from generator.report.refusal import Refusal, Report

TERMS = "findings/terms.toml"


def begin(root: Path, site: Path, pages: int) -> Crew | None:
    """Processes to read the pages of a site while it is written; None where they would not pay."""
    count = size(pages)
    return Crew(Audit(root, site).read_page, count) if count else None


def verify(root: Path, site: Path, crew: Crew | None = None) -> Report:
    """Re-derive everything that a finished site shows from the record at a root.

    `crew` has been given the pages that were complete before; what it read of a page counts only where
    the page has not changed since.
    """
    return Audit(root, site).run(crew)


class Audit:
    """One run over one site."""

    def __init__(self, root: Path, site: Path) -> None:
        evidence = Evidence(root)
        sources = Sources(evidence)
        self.folder = Folder(root, site)
        self.context = Context(evidence, sources, Names(_terms(root)), sources.ids())
        self.readings: dict[str, Reading] = {}
        self.exempt: dict[str, Used] = {}
        self.repeated: set[tuple[Echo, bool]] = set()

    def run(self, crew: Crew | None = None) -> Report:
        """The whole audit, step by step."""
        self.folder.gather()
        self.judge(crew)
        return self.report()

    def judge(self, crew: Crew | None = None) -> None:
        """Everything after the files are listed; other processes read pages while this one reads the rest."""
        crew = crew or self._crew()
        beside = Beside(self.folder, self.context, self.exempt)
        beside.read()
        self.read_pages(crew)
        self.settle_published()
        self.settle(beside.echoes)

    def again(self, paths: Iterable[str]) -> Report:
        """Judge these files alone, and take every other page of the site as it was read here.

        Payloads are read and hashed again; the sources and the links of other pages are as they were here.
        """
        audit = self._narrowed(paths, Evidence(self.context.evidence.root, self.context.evidence))
        audit.judge()
        return audit.report()

    def refused(self, paths: Iterable[str], changed: Iterable[str]) -> list[Refusal]:
        """The refusals of the same, uncounted; of the files beside the site only those have changed."""
        former = self.context.evidence
        audit = self._narrowed(paths, Evidence(former.root, former, frozenset(changed)))
        audit.judge()
        return audit.folder.refusals

    def _narrowed(self, paths: Iterable[str], evidence: Evidence) -> Audit:
        """The same audit over some files of the site, with nothing read of them yet."""
        audit = copy(self)
        audit.context = replace(self.context, evidence=evidence, sources=self.context.sources.over(evidence))
        audit.folder = self.folder.narrowed(paths)
        only = audit.folder.only or frozenset()
        audit.readings = {path: each for path, each in self.readings.items() if path not in only}
        audit.exempt = {path: each for path, each in self.exempt.items() if path not in only}
        return audit

    def _crew(self) -> Crew | None:
        """Processes that read every page; None where they would not pay."""
        pages = list(self.folder.of(PAGES))
        count = size(len(pages))
        if not count:
            return None
        crew = Crew(self.read_page, count)
        for file in pages:
            crew.give(file.path)
        return crew

    def read_pages(self, crew: Crew | None = None) -> None:
        """Prove the marks of each page and judge the rest of it, here what no crew has read."""
        ahead = crew.finish() if crew else {}
        for file in self.folder.of(PAGES):
            reading = self._reading(file, ahead.get(file.path))
            if reading is not None:
                self.readings[file.path] = reading

    def read_page(self, path: str) -> tuple[bytes, Reading] | None:
        """The bytes of one page, and what they say; None where they cannot be read."""
        file = self.folder.file(path)
        data = self.folder.data(file)
        text = None if data is None else self.folder.decode(file, data)
        if data is None or text is None:
            return None
        return data, Reader(path, file.shown, text, self.context).read()

    def _reading(self, file: File, ahead: Ahead | None = None) -> Reading | None:
        """What a page says, by what was read ahead of it where the page is still the same."""
        if ahead is not None:
            data = self.folder.data(file)
            if data is None:
                return None
            if ahead.holds(data):
                return ahead.reading
        found = self.read_page(file.path)
        return found[1] if found else None

    def settle(self, beside: Iterable[tuple[str, Echo, bool]]) -> None:
        """Follow links and compare plain strings, now that every page is known."""
        numbers, linking = {NUMBERS: self._numbers()}, Linking(self.folder, self.context, self.readings)
        echoes = list(beside)
        for reading in self._judged_pages():
            self.folder.refusals.extend(reading.refusals)
            with self.folder.bounded(reading.path):
                linking.follow(reading)
                self._settle_counts(reading, numbers)
            shown = f"{self.folder.prefix}{reading.path}"
            echoes.extend((shown, echo, False) for echo in reading.echoes)
        Comparison(self.folder, self.readings, self.repeated).compare(echoes)
        if not self.folder.refusals:  # what is refused is not counted, and would be refused a second time
            self._settle_coverage()

    def settle_published(self) -> None:
        """The list of every number says what the pages say."""
        for file in self.folder.judged():
            if file.path == published.PATH and (data := self.folder.data(file, published.SIZE_LIMIT)):
                pages = {path: each.published for path, each in self.readings.items()}
                for code, message in published.faults(data, pages, self.context.evidence):
                    self.folder.refuse(file.path, code, message)

    def _judged_pages(self) -> Iterator[Reading]:
        """The pages under judgement, as they were read."""
        only = self.folder.only
        paths = self.readings if only is None else only & self.readings.keys()
        return (self.readings[path] for path in paths)

    def _numbers(self) -> str:
        """How many numbers the finished findings have."""
        pages = (each for path, each in self.readings.items() if FINDING.fullmatch(path))
        return str(sum(each.counts["number"] + each.counts["derived"] for each in pages))

    def _settle_coverage(self) -> None:
        """What a page prints of the coverage is what was counted, and it leaves nothing out."""
        values: dict[str, str] = {}
        for reading in self._judged_pages():
            printed = {each.rule for each in reading.deferred if each.rule != NUMBERS}
            if printed:
                values = values or self.coverage().values()
                with self.folder.bounded(reading.path):
                    self._settle_counts(reading, values)
                    for rule in left_out(printed, values):
                        message = f"The page of coverage leaves out {rule[:80]}. Build again."
                        self.folder.at(reading.path, 0, "display-mismatch", message, rule)

    def _settle_counts(self, reading: Reading, values: Mapping[str, str]) -> None:
        """What a page prints by rules that count over the whole site, by the rules that have a value here."""
        for each in reading.deferred:
            if (each.rule == NUMBERS) != (NUMBERS in values):
                continue
            try:
                expected = settle(each.rule, values)
            except Fault as fault:
                self.folder.at(reading.path, each.offset, fault.code, fault.message, each.shown)
                continue
            if {each.value, each.shown} != {expected}:
                message = f'The page shows "{each.shown[:40]}", and {expected[:40]} was counted. Build again.'
                self.folder.at(reading.path, each.offset, "display-mismatch", message, each.shown)

    def coverage(self) -> Coverage:
        """What was read so far: proved marks and used exemptions, by file."""
        marks = {
            path: {name: each.counts[kind] for kind, name in NAMES.items()}
            for path, each in self.readings.items()
        }
        return Coverage(marks, {**{path: each.exempt for path, each in self.readings.items()}, **self.exempt})

    def report(self) -> Report:
        """Counts over all pages, and every refusal."""
        report = Report(refusals=sorted(set(self.folder.refusals)))
        counts = self.coverage().counts()
        report.numbers, report.derived = counts["numbers"], counts["derived"]
        report.claims, report.computed = counts["claims"], counts["computed"]
        report.exempt = {kind: counts[kind] for kind in EXEMPTIONS if counts[kind]}
        report.pages = len(self.readings)
        return report


def _terms(root: Path) -> list[str]:
    """The names of the record, read by the audit's own means."""
    try:
        table = tomllib.loads((root / TERMS).read_text("utf-8"))
        return [entry["text"] for entry in table.get("term", []) if isinstance(entry.get("text"), str)]
    except (OSError, ValueError, AttributeError, TypeError, RecursionError):
        return []
