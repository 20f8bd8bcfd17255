"""The audit of a finished site: gather its files, read each, settle what spans pages, report."""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, replace
from html import unescape
from pathlib import Path

from generator.audit import stylesheet, surface
from generator.audit.address import resolve
from generator.audit.computed import NUMBERS, Sources
from generator.audit.coverage import EXEMPTIONS, NAMES, Coverage, Used, left_out, settle
from generator.audit.crew import Ahead, Crew, size
from generator.audit.echo import repeats
from generator.audit.evidence import Evidence
from generator.audit.fault import LIMIT, Crowded, Fault
from generator.audit.page import Reader
from generator.audit.reading import Context, Echo, Link, Reading
from generator.audit.texts import place, spans, wrong
from generator.audit.tokens import BLOCKS, Malformed, tokens
from generator.gate.numerals import ID, Names
from generator.report.refusal import Refusal, Report

PAGE_LIMIT = 32 * 1024 * 1024
"""Bytes of the largest file of a site that is read."""

FINDING = re.compile(r"findings/(F-[0-9]+)\.html")
SEARCH = re.compile(r"(?:^|/)search_index\.js(?:on)?$")
SCRIPT = "var __index = "
"""What the offline form of the search index puts in front of it."""

_LINK = re.compile(r"<link\b[^<>]*\shref=\"([^\"]*)\"")
_ID = re.compile(r"\sid\s*=\s*[\"']?([^\s\"'>]+)")

_CARRIED = re.compile(r'findings\.carry\(("(?:[^"\\]|\\.)*"),("(?:[^"\\]|\\.)*")\);\n')

ECHO_LIMIT = 20_000
"""Characters of the longest plain string with a numeral that is compared with what it repeats."""

TERMS = "findings/terms.toml"
PAGES = frozenset({".html", ".htm", ".xhtml"})
TEXTS = frozenset({".txt", ".md"})


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


@dataclass(frozen=True)
class File:
    """A file of the site: path from the site's root and from the record's."""

    path: str
    shown: str
    real: Path


class Audit:
    """One run over one site."""

    def __init__(self, root: Path, site: Path) -> None:
        self.site = site
        evidence = Evidence(root)
        sources = Sources(evidence)
        self.context = Context(evidence, sources, Names(_terms(root)), sources.ids())
        self.prefix = _prefix(root, site)
        self.files: list[File] = []
        self.readings: dict[str, Reading] = {}
        self.refusals: list[Refusal] = []
        self._anchors: dict[str, frozenset[str]] = {}
        self.echoes: list[tuple[str, Echo, bool]] = []
        self.exempt: dict[str, Used] = {}
        self._only: frozenset[str] | None = None
        self._kept: Counter[str] = Counter()
        self._last = ("", "")

    def run(self, crew: Crew | None = None) -> Report:
        """The whole audit, step by step."""
        self.gather()
        return self.judge(crew)

    def judge(self, crew: Crew | None = None) -> Report:
        """Everything after the files are listed."""
        self.read_pages(crew)
        self.read_search()
        self.read_others()
        self.settle()
        return self.report()

    def again(self, paths: Iterable[str]) -> Report:
        """Judge these files alone, and take every other page of the site as it was read here.

        Payloads are read and hashed again; the sources and the links of other pages are as they were here.
        """
        only = frozenset(paths)
        audit = copy(self)
        evidence = Evidence(self.context.evidence.root, self.context.evidence)
        audit.context = replace(self.context, evidence=evidence, sources=self.context.sources.over(evidence))
        audit.files = [each for each in self.files if each.path not in only]
        audit.files += [File(path, f"{self.prefix}{path}", self.site / path) for path in sorted(only)]
        audit.readings = {path: each for path, each in self.readings.items() if path not in only}
        audit.exempt = {path: each for path, each in self.exempt.items() if path not in only}
        audit.refusals, audit.echoes, audit._anchors, audit._only = [], [], {}, only
        audit._kept, audit._last = Counter(), ("", "")
        return audit.judge()

    def gather(self) -> None:
        """List every regular file; links to elsewhere and folders without pages are refused."""
        self._list(self.site, "")
        if not any(file.real.suffix.lower() in PAGES for file in self.files):
            self._refuse(
                "", "bad-page", "The folder holds no HTML page. Build the site first, or name its folder."
            )

    def _list(self, folder: Path, prefix: str) -> None:
        try:
            with os.scandir(folder) as found:
                entries = sorted(found, key=lambda entry: entry.name)
        except OSError as error:
            self._refuse(prefix, "bad-page", f"The folder cannot be read: {error.strerror}.")
            return
        for entry in entries:
            path = f"{prefix}{entry.name}"
            if entry.is_symlink():
                self._refuse(path, "bad-page", "A symbolic link is no part of a finished site.")
            elif entry.is_dir():
                self._list(Path(entry.path), f"{path}/")
            else:
                self.files.append(File(path, f"{self.prefix}{path}", Path(entry.path)))

    def read_pages(self, crew: Crew | None = None) -> None:
        """Prove the marks of each page and judge the rest of it."""
        pages = list(self._of(PAGES))
        own = pages if crew is None else []
        if crew is None and (count := size(len(pages))):
            crew, own = Crew(self.read_page, count), pages[:: count + 1]
            for index, file in enumerate(pages):
                if index % (count + 1):
                    crew.give(file.path)
        read = {file.path: self._reading(file) for file in own}
        ahead = crew.finish() if crew else {}
        for file in pages:
            reading = read[file.path] if file.path in read else self._reading(file, ahead.get(file.path))
            if reading is not None:
                self.readings[file.path] = reading

    def read_page(self, path: str) -> tuple[bytes, Reading] | None:
        """The bytes of one page, and what they say; None where they cannot be read."""
        file = File(path, f"{self.prefix}{path}", self.site / path)
        data = self._bytes(file)
        text = None if data is None else self._text(file, data)
        if data is None or text is None:
            return None
        return data, Reader(path, file.shown, text, self.context).read()

    def _reading(self, file: File, ahead: Ahead | None = None) -> Reading | None:
        """What a page says, by what was read ahead of it where the page is still the same."""
        if ahead is not None:
            data = self._bytes(file)
            if data is None:
                return None
            if ahead.holds(data):
                return ahead.reading
        found = self.read_page(file.path)
        return found[1] if found else None

    def read_search(self) -> None:
        """The search index repeats passages of pages, stripped of their marks."""
        for file in self._judged():
            if SEARCH.search(file.path):
                with self._bounded(file.path):
                    text = (self._read(file) or "{}").removeprefix(SCRIPT).removesuffix(";")
                    self.echoes.extend((file.shown, echo, True) for echo in self._index(file, text))

    def _index(self, file: File, text: str) -> Iterator[Echo]:
        try:
            entries = json.loads(text).get("docs", [])
            entries = [
                (str(e["location"]), str(e.get(key, ""))) for e in entries for key in ("title", "text")
            ]
        except (ValueError, RecursionError, AttributeError, TypeError, KeyError):
            self._refuse(file.path, "bad-page", "The search index is not of a form that can be read.")
            return
        for location, written in entries:
            page = resolve("index.html", location or "index.html")[0]
            for passage in _passages(written):
                hits = self.context.judge(passage).refused
                if hits:
                    spans = tuple((hit.start, hit.end, hit.kind) for hit in hits)
                    yield Echo(0, passage, spans, (page,))

    def read_others(self) -> None:
        """Stylesheets, feeds, drawings and plain texts, and copies of payloads."""
        for file in self._judged():
            with self._bounded(file.path):
                self._other(file, file.real.suffix.lower())

    def _other(self, file: File, suffix: str) -> None:
        if suffix == ".css":
            self._stylesheet(file)
        elif suffix in (".xml", ".rss", ".atom", ".svg"):
            self._markup(file)
        elif suffix in TEXTS:
            self._plain(file)
        elif suffix == ".json" and file.path.startswith("payloads/"):
            self._copy(file)
        elif suffix == ".js" and file.path.startswith("payloads/"):
            self._carried(file)

    def settle(self) -> None:
        """Follow links and compare echoes, now that every page is known."""
        numbers = self._numbers()
        for reading in self._judged_pages():
            shown = f"{self.prefix}{reading.path}"
            self.refusals.extend(reading.refusals)
            with self._bounded(reading.path):
                for link in reading.links:
                    self._follow(reading, shown, link)
                if page := FINDING.fullmatch(reading.path):
                    self._undeclared(reading, shown, self.context.sources.declared(page[1]))
                self._settle_counts(reading, {NUMBERS: numbers})
            self.echoes.extend((shown, echo, False) for echo in reading.echoes)
        for shown, echo, search in self.echoes:
            if self._kept[shown] <= LIMIT:
                with self._bounded(shown.removeprefix(self.prefix)):
                    self._compare(shown, echo, search)
        if not self.refusals:  # what is refused is not counted, and would be refused here a second time
            self._settle_coverage()

    def _judged_pages(self) -> Iterator[Reading]:
        """The pages under judgement, as they were read."""
        paths = self.readings if self._only is None else self._only & self.readings.keys()
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
                self._settle_counts(reading, values)
                for rule in left_out(printed, values):
                    message = f"The page of coverage leaves out {rule[:80]}. Build again."
                    self._at(reading, self.prefix + reading.path, 0, "display-mismatch", message, rule)

    def _settle_counts(self, reading: Reading, values: Mapping[str, str]) -> None:
        """What a page prints by rules that count over the whole site, by the rules that have a value here."""
        shown = self.prefix + reading.path
        for each in reading.deferred:
            if (each.rule == NUMBERS) != (NUMBERS in values):
                continue
            try:
                expected = settle(each.rule, values)
            except Fault as fault:
                self._at(reading, shown, each.offset, fault.code, fault.message, each.shown)
                continue
            if {each.value, each.shown} != {expected}:
                message = f'The page shows "{each.shown[:40]}", and {expected[:40]} was counted. Build again.'
                self._at(reading, shown, each.offset, "display-mismatch", message, each.shown)

    def coverage(self) -> Coverage:
        """What was read so far: proved marks and used exemptions, by file."""
        marks = {
            path: {name: each.counts[kind] for kind, name in NAMES.items()}
            for path, each in self.readings.items()
        }
        return Coverage(marks, {**{path: each.exempt for path, each in self.readings.items()}, **self.exempt})

    def _follow(self, reading: Reading, shown: str, link: Link) -> None:
        """A mark leads to a page that shows its line; an id to the page of what it names."""
        target = self.readings.get(link.target)
        if link.lands:
            line = re.fullmatch(r"L([1-9][0-9]{0,8})", link.fragment)
            lands = {each for each in link.lands if line and each[1] == int(line[1])}
            if target and any(lines.holds(*each) for lines in target.lines for each in lands):
                return
            path, number = min(link.lands)
            message = f"The link does not land on line {number} of {path}."
            self._at(reading, shown, link.offset, "place-mismatch", message, link.shown)
        elif not ID.fullmatch(link.shown):
            if not target:
                message = "The link does not lead to a page of this site."
                self._at(reading, shown, link.offset, "unknown-id", message, link.shown)
        elif link.shown not in self.context.ids:
            message = f"{link.shown[:40]} is no finding, kill criterion or erratum of this record."
            self._at(reading, shown, link.offset, "unknown-id", message, link.shown)
        elif (
            not target
            or link.shown not in (Path(link.target).stem, link.fragment)
            or (link.fragment and link.fragment not in self._ids(link.target))
        ):
            message = f"The link does not lead to {link.shown}."
            self._at(reading, shown, link.offset, "unknown-id", message, link.shown)

    def _undeclared(self, reading: Reading, shown: str, declared: set[str]) -> None:
        """A finding shows numbers of the payloads that its source names, and of no others."""
        for link in reading.links:
            for path in sorted({each[0] for each in link.lands} - declared):
                message = f"The number comes from {path}, which the finding does not declare."
                self._at(reading, shown, link.offset, "payload-undeclared", message, link.shown)

    def _compare(self, shown: str, echo: Echo, search: bool) -> None:
        """Refuse each numeral of a plain string that repeats no bound number of its pages."""
        readings = [self.readings[page] for page in echo.pages if page in self.readings]
        bounds = [each for reading in readings for each in reading.bounds]
        if len(echo.text) > ECHO_LIMIT and not any(_repeats_lines(echo.text, each) for each in readings):
            message = f"A plain string of more than {ECHO_LIMIT} characters is not compared with its page."
            at = self._place(shown, echo.offset)
            self._keep(Refusal(shown, *at, "too-large", echo.text.strip()[:160], message))
            return
        for start, end, kind in echo.spans:
            if repeats(echo.text, start, end, bounds, alone=search):
                continue
            if search and any(_repeats_lines(echo.text, reading) for reading in readings):
                continue
            code = "untraced-number" if kind in ("digit", "identifier", "roman") else "untraced-word"
            message = (
                f'"{echo.text[start:end]}" repeats no bound number of a page. Bind it where the page says it.'
            )
            line, column = self._place(shown, echo.offset)
            self._keep(Refusal(shown, line, column, code, echo.text.strip()[:160], message))

    def _ids(self, path: str) -> frozenset[str]:
        """The anchors of a page, which is read again for them."""
        if path not in self._anchors:
            file = next((each for each in self.files if each.path == path), None)
            text = (self._read(file) if file else None) or ""
            self._anchors[path] = frozenset(unescape(each) for each in _ID.findall(text))
        return self._anchors[path]

    def report(self) -> Report:
        """Counts over all pages, and every refusal."""
        report = Report(refusals=sorted(set(self.refusals)))
        counts = self.coverage().counts()
        report.numbers, report.derived = counts["numbers"], counts["derived"]
        report.claims, report.computed = counts["claims"], counts["computed"]
        report.exempt = {kind: counts[kind] for kind in EXEMPTIONS if counts[kind]}
        report.pages = len(self.readings)
        return report

    # Other files

    def _stylesheet(self, file: File) -> None:
        text = self._read(file)
        theme = bool(surface.THEME_STYLESHEETS.fullmatch(file.path))
        for offset, printed, made in stylesheet.printed(text or ""):
            at = place(text or "", offset)[:2]
            if made and theme:
                self._exempt(file, "counter of the theme's stylesheet")
            elif made:
                message = f"The stylesheet prints {printed}…), which no source stands for."
                self.refusals.append(Refusal(file.shown, *at, "untraced-number", printed, message))
            for hit in self.context.judge(printed).refused if not made else ():
                code, message = wrong(hit)
                self.refusals.append(Refusal(file.shown, *at, code, printed, message))

    def _markup(self, file: File) -> None:
        """Sitemaps, feeds and drawings: every text but addresses and times."""
        text = self._read(file)
        pages = tuple(resolve(file.path, unescape(href))[0] for href in _LINK.findall(text or ""))
        name = ""
        try:
            for token in tokens(text or ""):
                if token.lastgroup == "attributes":
                    name = token["name"].lower()
                elif token.lastgroup == "end":
                    name = ""
                elif token.lastgroup == "text" and name in surface.FEED_PASSAGES and pages:
                    self._repeated(file, unescape(token[0]), token.start(), pages)
                elif token.lastgroup == "text" and name not in surface.XML_PLACES:
                    self._judge_text(file, text or "", token[0], token.start())
                elif token.lastgroup == "text" and self.context.judge(token[0]).refused:
                    self._exempt(file, f"{name} of {file.path}")
                elif token.lastgroup == "content" and token["raw"].lower() in ("title", "textarea"):
                    self._judge_text(file, text or "", token["content"], token.start("content"))
        except Malformed as error:
            at = place(text or "", error.offset)[:2]
            self.refusals.append(Refusal(file.shown, *at, "bad-page", "", str(error)))

    def _exempt(self, file: File, what: str) -> None:
        """A numeral of the theme at a place of a file that is no page."""
        self.exempt.setdefault(file.path, Counter())["theme", what] += 1

    def _repeated(self, file: File, text: str, start: int, pages: tuple[str, ...]) -> None:
        """A passage of a feed, which carries no marks: it repeats the pages that the feed links to."""
        hits = self.context.judge(text).refused
        if hits:
            self.echoes.append((file.shown, Echo(start, text, spans(hits), pages), False))

    def _plain(self, file: File) -> None:
        text = self._read(file) or ""
        self._judge_text(file, text, text, 0)

    def _judge_text(self, file: File, whole: str, text: str, start: int) -> None:
        for hit in self.context.judge(text).refused:
            code, message = wrong(hit)
            line, column, shown = place(whole, start + hit.start)
            self._keep(Refusal(file.shown, line, column, code, shown, message))

    def _copy(self, file: File) -> None:
        """A raw payload in the site has the bytes of the one in the repository."""
        source = self.context.evidence.root / file.path
        try:
            same = source.is_file() and source.read_bytes() == file.real.read_bytes()
        except OSError:
            same = False
        if not same:
            self._refuse(
                file.path, "payload-changed", f"The copy differs from {file.path} of the repository."
            )

    def _carried(self, file: File) -> None:
        """A script beside a payload carries the payload's text and does nothing else."""
        path = file.path.removesuffix(".js")
        carried = _CARRIED.fullmatch(self._read(file) or "")
        try:
            data = (self.context.evidence.root / path).read_bytes()
            given = carried and (json.loads(carried[1]), json.loads(carried[2]).encode("utf-8"))
        except (OSError, ValueError):
            given = None
        if not given or given != (path, data):
            self._refuse(file.path, "payload-changed", f"The script does not carry {path} of the repository.")

    # Files and places

    def _judged(self) -> Iterator[File]:
        """The files under judgement: all of them, or those that an audit was narrowed to."""
        return (file for file in self.files if self._only is None or file.path in self._only)

    def _of(self, suffixes: Iterable[str]) -> Iterator[File]:
        return (file for file in self._judged() if file.real.suffix.lower() in suffixes)

    def _read(self, file: File) -> str | None:
        """The text of a file of the site, None where it was refused."""
        data = self._bytes(file)
        return None if data is None else self._text(file, data)

    def _bytes(self, file: File) -> bytes | None:
        try:
            with file.real.open("rb") as opened:
                data = opened.read(PAGE_LIMIT + 1)
        except OSError as error:
            self._refuse(file.path, "bad-page", f"The file cannot be read: {error.strerror}.")
            return None
        if len(data) > PAGE_LIMIT:
            self._refuse(file.path, "too-large", f"The audit reads files of at most {PAGE_LIMIT} bytes.")
            return None
        return data

    def _text(self, file: File, data: bytes) -> str | None:
        try:
            return data.decode("utf-8")
        except UnicodeDecodeError as error:
            line = data.count(b"\n", 0, error.start) + 1
            column = error.start - data.rfind(b"\n", 0, error.start)
            message = f"Not UTF-8: byte {data[error.start]:#04x}."
            self.refusals.append(Refusal(file.shown, line, column, "bad-encoding", "", message))
            return None

    def _refuse(self, path: str, code: str, message: str) -> None:
        shown = f"{self.prefix}{path}" if path else self.prefix.rstrip("/") or "."
        self.refusals.append(Refusal(shown, 1, 1, code, "", message))

    def _at(self, reading: Reading, shown: str, offset: int, code: str, message: str, text: str) -> None:
        line, column = self._place(shown, offset)
        self._keep(Refusal(shown, line, column, code, text, message))

    def _keep(self, refusal: Refusal) -> None:
        """Add a refusal; raises Crowded where its file has too many."""
        self._kept[refusal.path] += 1
        if self._kept[refusal.path] > LIMIT:
            raise Crowded.refusals()
        self.refusals.append(refusal)

    @contextmanager
    def _bounded(self, path: str) -> Iterator[None]:
        """What is done for a file, given up with one refusal where there is too much of it."""
        try:
            yield
        except Crowded as crowded:
            self._refuse(path, "too-large", str(crowded))

    def _place(self, shown: str, offset: int) -> tuple[int, int]:
        """Line and column of an offset of a page, which is read again for it."""
        if self._last[0] != shown:
            file = next((each for each in self.files if each.shown == shown), None)
            self._last = shown, (self._read(file) if file else None) or ""
        return place(self._last[1], offset)[:2]


def _repeats_lines(text: str, reading: Reading) -> bool:
    """Whether a string of the search index repeats a verbatim block of a page."""
    packed = " ".join(text.split())
    return any(packed in " ".join(lines.text.split()) for lines in reading.lines)


def _passages(written: str) -> Iterator[str]:
    """The texts of a search entry between block tags, which the theme keeps in it."""
    if "<" not in written:
        yield from (unescape(line) for line in written.split("\n") if line.strip())
        return
    parts: list[str] = []
    for piece in re.split(r"(<[^>]*>)", written):
        name = re.match(r"</?([a-zA-Z0-9]+)", piece)
        if name is None:
            parts.append(piece)
        elif name[1].lower() in BLOCKS:
            yield unescape("".join(parts))
            parts = []
    yield unescape("".join(parts))


def _terms(root: Path) -> list[str]:
    """The names of the record, read by the audit's own means."""
    try:
        table = tomllib.loads((root / TERMS).read_text("utf-8"))
        return [entry["text"] for entry in table.get("term", []) if isinstance(entry.get("text"), str)]
    except (OSError, ValueError, AttributeError, TypeError, RecursionError):
        return []


def _prefix(root: Path, site: Path) -> str:
    """How paths of the site are written in refusals: from the record's root where the site lies below it."""
    try:
        inside = site.resolve().relative_to(root.resolve()).as_posix()
    except ValueError:
        return f"{site.as_posix()}/"
    return f"{inside}/" if inside != "." else ""
