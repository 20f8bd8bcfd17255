"""The folder of a finished site: its files and their texts, and what is refused of each."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass
from pathlib import Path

from generator.audit.fault import LIMIT, Crowded
from generator.audit.texts import place
from generator.report.refusal import Refusal

PAGE_LIMIT = 32 * 1024 * 1024
"""Bytes of the largest file of a site that is read."""

PAGES = frozenset({".html", ".htm", ".xhtml"})


@dataclass(frozen=True)
class File:
    """A file of the site: path from the site's root and from the record's."""

    path: str
    shown: str
    real: Path


class Folder:
    """The files of one site, all of them or some under judgement."""

    def __init__(self, root: Path, site: Path) -> None:
        self.site = site
        self.prefix = _prefix(root, site)
        self.files: list[File] = []
        self.refusals: list[Refusal] = []
        self.only: frozenset[str] | None = None
        self._kept: Counter[str] = Counter()
        self._last = ("", "")

    def narrowed(self, paths: Iterable[str]) -> Folder:
        """The same folder with these files alone under judgement, and nothing refused yet."""
        folder, only = copy(self), frozenset(paths)
        folder.files = [each for each in self.files if each.path not in only]
        folder.files += [self.file(path) for path in sorted(only)]
        folder.refusals, folder.only = [], only
        folder._kept, folder._last = Counter(), ("", "")
        return folder

    def file(self, path: str) -> File:
        """The file at a path from the site's root."""
        return File(path, f"{self.prefix}{path}", self.site / path)

    def gather(self) -> None:
        """List every regular file; links to elsewhere and folders without pages are refused."""
        self._list(self.site, "")
        if not any(file.real.suffix.lower() in PAGES for file in self.files):
            self.refuse(
                "", "bad-page", "The folder holds no HTML page. Build the site first, or name its folder."
            )

    def _list(self, folder: Path, prefix: str) -> None:
        try:
            with os.scandir(folder) as found:
                entries = sorted(found, key=lambda entry: entry.name)
        except OSError as error:
            self.refuse(prefix, "bad-page", f"The folder cannot be read: {error.strerror}.")
            return
        for entry in entries:
            path = f"{prefix}{entry.name}"
            if entry.is_symlink():
                self.refuse(path, "bad-page", "A symbolic link is no part of a finished site.")
            elif entry.is_dir():
                self._list(Path(entry.path), f"{path}/")
            else:
                self.files.append(File(path, f"{self.prefix}{path}", Path(entry.path)))

    def judged(self) -> Iterator[File]:
        """The files under judgement: all of them, or those that an audit was narrowed to."""
        return (file for file in self.files if self.only is None or file.path in self.only)

    def of(self, suffixes: Iterable[str]) -> Iterator[File]:
        """Those of them whose names end so."""
        return (file for file in self.judged() if file.real.suffix.lower() in suffixes)

    def read(self, file: File) -> str | None:
        """The text of a file of the site, None where it was refused."""
        data = self.data(file)
        return None if data is None else self.decode(file, data)

    def data(self, file: File, limit: int = PAGE_LIMIT) -> bytes | None:
        """The bytes of a file of the site, None where it was refused."""
        try:
            with file.real.open("rb") as opened:
                data = opened.read(limit + 1)
        except OSError as error:
            self.refuse(file.path, "bad-page", f"The file cannot be read: {error.strerror}.")
            return None
        if len(data) > limit:
            self.refuse(file.path, "too-large", f"The audit reads files of at most {limit} bytes.")
            return None
        return data

    def decode(self, file: File, data: bytes) -> str | None:
        """Bytes of a file as text, None where they are none."""
        try:
            return data.decode("utf-8")
        except UnicodeDecodeError as error:
            line = data.count(b"\n", 0, error.start) + 1
            column = error.start - data.rfind(b"\n", 0, error.start)
            message = f"Not UTF-8: byte {data[error.start]:#04x}."
            self.refusals.append(Refusal(file.shown, line, column, "bad-encoding", "", message))
            return None

    def refuse(self, path: str, code: str, message: str) -> None:
        """Refuse a file as a whole."""
        shown = f"{self.prefix}{path}" if path else self.prefix.rstrip("/") or "."
        self.refusals.append(Refusal(shown, 1, 1, code, "", message))

    def at(self, path: str, offset: int, code: str, message: str, text: str) -> None:
        """Refuse what stands at an offset of a page."""
        shown = f"{self.prefix}{path}"
        line, column = self.place(shown, offset)
        self.keep(Refusal(shown, line, column, code, text, message))

    def keep(self, refusal: Refusal) -> None:
        """Add a refusal; raises Crowded where its file has too many."""
        self._kept[refusal.path] += 1
        if self._kept[refusal.path] > LIMIT:
            raise Crowded.refusals()
        self.refusals.append(refusal)

    def has_room(self, shown: str) -> bool:
        """Whether more can be refused of a file."""
        return self._kept[shown] <= LIMIT

    @contextmanager
    def bounded(self, path: str) -> Iterator[None]:
        """What is done for a file, given up with one refusal where there is too much of it."""
        try:
            yield
        except Crowded as crowded:
            self.refuse(path, "too-large", str(crowded))

    def place(self, shown: str, offset: int) -> tuple[int, int]:
        """Line and column of an offset of a page, which is read again for it."""
        if self._last[0] != shown:
            file = next((each for each in self.files if each.shown == shown), None)
            self._last = shown, (self.read(file) if file else None) or ""
        return place(self._last[1], offset)[:2]


def _prefix(root: Path, site: Path) -> str:
    """How paths of the site are written in refusals: from the record's root where the site lies below it."""
    try:
        inside = site.resolve().relative_to(root.resolve()).as_posix()
    except ValueError:
        return f"{site.as_posix()}/"
    return f"{inside}/" if inside != "." else ""
