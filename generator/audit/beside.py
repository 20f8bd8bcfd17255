"""The files beside the pages: search index, stylesheets, feeds, drawings, texts, programs, payloads."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from html import unescape

from generator.audit import other, published, stylesheet, surface
from generator.audit.address import resolve
from generator.audit.coverage import Used
from generator.audit.folder import PAGES, File, Folder
from generator.audit.reading import Context, Echo
from generator.audit.texts import place, spans, wrong
from generator.audit.tokens import BLOCKS, Malformed, tokens
from generator.report.refusal import Refusal

SEARCH = re.compile(r"(?:^|/)search_index\.js(?:on)?$")
SCRIPT = "var __index = "
"""What the offline form of the search index puts in front of it."""

KNOWN = "assets/known.js"
"""The script that tells a browser which files the record knows."""

TEXTS = frozenset({".txt", ".md"})

_LINK = re.compile(r"<link\b[^<>]*\shref=\"([^\"]*)\"")
_CARRIED = re.compile(r'findings\.carry\(("(?:[^"\\]|\\.)*"),("(?:[^"\\]|\\.)*")\);\n')
_KNOWN = re.compile(r"findings\.know\((\{[^\n]*\})\);\n")


@dataclass
class Beside:
    """What was found in the files beside the pages: plain strings to compare, and used exemptions by file."""

    folder: Folder
    context: Context
    exempt: dict[str, Used]
    echoes: list[tuple[str, Echo, bool]] = field(default_factory=list)
    _indexes: set[str] = field(default_factory=set)  # one is often there in two forms

    def read(self) -> None:
        """Judge each file under judgement that is no page."""
        for file in self.folder.judged():
            with self.folder.bounded(file.path):
                self._file(file, file.real.suffix.lower())

    def _file(self, file: File, suffix: str) -> None:
        if SEARCH.search(file.path):
            self._search(file)
        elif suffix == ".css":
            self._stylesheet(file)
        elif suffix in (".xml", ".rss", ".atom", ".svg"):
            self._markup(file)
        elif suffix in TEXTS:
            self._plain(file)
        elif file.path == KNOWN:
            self._known(file)
        elif file.path.startswith("payloads/") and suffix not in PAGES:
            self._carried(file) if suffix == ".js" else self._copy(file)
        elif suffix not in PAGES and suffix not in other.PICTURES and file.path != published.PATH:
            self._other(file, suffix)

    def _search(self, file: File) -> None:
        """The search index repeats passages of pages, stripped of their marks."""
        text = (self.folder.read(file) or "{}").removeprefix(SCRIPT).removesuffix(";")
        if text in self._indexes:
            return
        self._indexes.add(text)
        self.echoes.extend((file.shown, echo, True) for echo in self._index(file, text))

    def _index(self, file: File, text: str) -> Iterator[Echo]:
        try:
            entries = json.loads(text).get("docs", [])
            entries = [
                (str(e["location"]), str(e.get(key, ""))) for e in entries for key in ("title", "text")
            ]
        except (ValueError, RecursionError, AttributeError, TypeError, KeyError):
            self.folder.refuse(file.path, "bad-page", "The search index is not of a form that can be read.")
            return
        for location, written in entries:
            page = resolve("index.html", location or "index.html")[0]
            for passage in _passages(written):
                hits = self.context.judge(passage).refused
                if hits:
                    yield Echo(0, passage, spans(hits), (page,))

    def _stylesheet(self, file: File) -> None:
        text = self.folder.read(file)
        theme = bool(surface.THEME_STYLESHEETS.fullmatch(file.path))
        for offset, printed, made in stylesheet.printed(text or ""):
            at = place(text or "", offset)[:2]
            if made and theme:
                self._exempt(file, "counter of the theme's stylesheet")
            elif made:
                message = f"The stylesheet prints {printed}…), which no source stands for."
                self.folder.refusals.append(Refusal(file.shown, *at, "untraced-number", printed, message))
            for hit in self.context.judge(printed).refused if not made else ():
                code, message = wrong(hit)
                self.folder.refusals.append(Refusal(file.shown, *at, code, printed, message))

    def _markup(self, file: File) -> None:
        """Sitemaps, feeds and drawings: every text but addresses and times."""
        text = self.folder.read(file)
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
            self.folder.refusals.append(Refusal(file.shown, *at, "bad-page", "", str(error)))

    def _exempt(self, file: File, what: str) -> None:
        """A numeral of the theme at a place of a file that is no page."""
        self.exempt.setdefault(file.path, Counter())["theme", what] += 1

    def _repeated(self, file: File, text: str, start: int, pages: tuple[str, ...]) -> None:
        """A passage of a feed, which carries no marks: it repeats the pages that the feed links to."""
        hits = self.context.judge(text).refused
        if hits:
            self.echoes.append((file.shown, Echo(start, text, spans(hits), pages), False))

    def _plain(self, file: File) -> None:
        text = self.folder.read(file) or ""
        self._judge_text(file, text, text, 0)

    def _judge_text(self, file: File, whole: str, text: str, start: int) -> None:
        for hit in self.context.judge(text).refused:
            code, message = wrong(hit)
            line, column, shown = place(whole, start + hit.start)
            self.folder.keep(Refusal(file.shown, line, column, code, shown, message))

    def _copy(self, file: File) -> None:
        """A raw payload in the site has the bytes of the one in the repository."""
        source = self.context.evidence.root / file.path
        try:
            same = source.is_file() and source.read_bytes() == file.real.read_bytes()
        except OSError:
            same = False
        if not same:
            message = f"The copy differs from {file.path} of the repository."
            self.folder.refuse(file.path, "payload-changed", message)

    def _carried(self, file: File) -> None:
        """A script beside a payload carries the payload's text and does nothing else."""
        path = file.path.removesuffix(".js")
        carried = _CARRIED.fullmatch(self.folder.read(file) or "")
        try:
            data = (self.context.evidence.root / path).read_bytes()
            given = carried and (json.loads(carried[1]), json.loads(carried[2]).encode("utf-8"))
        except (OSError, ValueError):
            given = None
        if not given or given != (path, data):
            self.folder.refuse(
                file.path, "payload-changed", f"The script does not carry {path} of the repository."
            )

    def _other(self, file: File, suffix: str) -> None:
        """A program is known by its bytes; anything else is a text that somebody opens."""
        data = self.folder.data(file, other.SIZE_LIMIT)
        if data is None or not data:
            return
        if suffix in other.PROGRAMS or b"\0" in data:
            if not other.is_known(file.path, data, self.context.evidence.root, self.folder.site):
                message = (
                    "The file is none of the theme, of the generator or of the record, and cannot be read "
                    f"as text. Keep it as {other.SOURCES}{file.path}, or leave it out."
                )
                self.folder.refuse(file.path, "unknown-file", message)
        elif (text := self.folder.decode(file, data)) is not None:
            self._judge_text(file, text, text, 0)

    def _known(self, file: File) -> None:
        """The list of files that the record knows, for readers who hold one: digests of payloads, no more."""
        known = _KNOWN.fullmatch(self.folder.read(file) or "")
        try:
            present = json.loads(known[1])["present"] if known else None
            same = present is not None and all(
                sha256((self.context.evidence.root / path).read_bytes()).hexdigest() == digest
                for path, digest in present.items()
            )
        except (OSError, ValueError, LookupError, TypeError, AttributeError):
            same = False
        if not same:
            self.folder.refuse(file.path, "payload-changed", "The script knows files that the record lacks.")


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
