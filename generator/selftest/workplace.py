"""A copy of a record and of its site, in which one fault stands at a time."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from hashlib import sha256
from pathlib import Path

from generator.audit import Audit
from generator.record import record as records
from generator.record.record import CITATION, Record
from generator.render.mkdocs_plugin import Stopped
from generator.render.publish import publish
from generator.render.script import KNOWN
from generator.report.refusal import Report
from generator.selftest.mark import Mark, marks

FOLDERS = ("findings", "payloads", "templates", "site_src")
FILES = ("mkdocs.yml", CITATION)
SITE = "site/"


def prepare(root: Path, folder: Path) -> Workplace:
    """Copy a record into a folder and build its site there; raises Stopped where the record is refused."""
    folder.mkdir(exist_ok=True)
    for name in FOLDERS:
        if (root / name).is_dir():
            shutil.copytree(root / name, folder / name, copy_function=shutil.copyfile)
    for name in FILES:
        if (root / name).is_file():
            shutil.copyfile(root / name, folder / name)
    publish(root, folder / "site")
    _copy_shown(root, folder)
    return Workplace(folder)


def _copy_shown(root: Path, folder: Path) -> None:
    """Files outside those folders that a page shows lines of."""
    for page in (folder / "site").rglob("*.html"):
        for mark in marks(page.name, page.read_text("utf-8")):
            path = mark.attributes.get("data-verbatim", "").partition("#")[0]
            if path and not (folder / path).exists():
                (folder / path).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(root / path, folder / path)


class Workplace:
    """The copy: what it holds, and how a fault is put in and taken out again."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.record: Record = records.load(root)
        self.names = [term.text for term in self.record.terms]
        self.left_out: Counter[str] = Counter()
        self.audit = Audit(root, root / "site")
        if refusals := self.audit.run().refusals:
            raise Stopped(Report(refusals))
        self._texts: dict[str, str] = {}
        self._digests: dict[str, str] = {}

    def text(self, path: str) -> str:
        """A file of the copy as it was before any fault."""
        if path not in self._texts:
            self._texts[path] = (self.root / path).read_bytes().decode("utf-8")
        return self._texts[path]

    def digest(self, path: str) -> str:
        """The digest of a file of the copy as it was before any fault."""
        if path not in self._digests:
            self._digests[path] = sha256(self.text(path).encode("utf-8")).hexdigest()
        return self._digests[path]

    @cached_property
    def pages(self) -> list[str]:
        """The finished pages, as paths in the copy."""
        found = (self.root / "site").rglob("*.html")
        return sorted(page.relative_to(self.root).as_posix() for page in found)

    @cached_property
    def programs(self) -> list[str]:
        """The scripts of the site and their maps, but for those that state payloads or repeat pages."""
        found = (self.root / "site/assets").rglob("*")
        paths = (file.relative_to(self.root).as_posix() for file in found)
        return sorted(
            path for path in paths if path.endswith((".js", ".mjs", ".map")) and path != SITE + KNOWN
        )

    @cached_property
    def drawn(self) -> frozenset[str]:
        """The pages on which a figure is drawn."""
        return frozenset(path for path in self.pages if "data-figure" in self.text(path))

    @cached_property
    def evidence(self) -> list[str]:
        """Every file below payloads/, as paths in the copy."""
        found = (self.root / "payloads").rglob("*")
        return sorted(file.relative_to(self.root).as_posix() for file in found if file.is_file())

    @cached_property
    def marks(self) -> list[Mark]:
        """Every mark of every page."""
        return [mark for path in self.pages for mark in marks(path, self.text(path))]

    @contextmanager
    def changed(self, changes: Mapping[str, str]) -> Iterator[None]:
        """The copy with some files changed or added."""
        former = {path: self.text(path) if (self.root / path).exists() else None for path in changes}
        try:
            for path, text in changes.items():
                self._write(path, text)
            yield
        finally:
            for path, before in former.items():
                if before is None:
                    (self.root / path).unlink(missing_ok=True)
                else:
                    self._write(path, before)

    def _write(self, path: str, text: str) -> None:
        file = self.root / path
        if not file.exists():
            file.parent.mkdir(parents=True, exist_ok=True)
            file.touch()
        with file.open("r+b") as opened:  # a file that is emptied first costs a journal most of the time
            opened.write(text.encode("utf-8"))
            opened.truncate()
