"""Serves a record while it is written: first the page whose source was saved, then the whole site.

A finding, a page or the front page that is saved is judged as an editor's text is, and its page alone is made
again from what is held of the others. A process beside this one then builds and audits the whole site, which
takes its place when it is done. Whatever else is saved is built as a whole at once.
"""

from __future__ import annotations

import logging
import multiprocessing
import os
import shutil
import signal
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.process import BaseProcess
from pathlib import Path

from mkdocs.commands.build import build
from mkdocs.exceptions import MkDocsException
from mkdocs.livereload import LiveReloadServer

from generator.number.evaluate import evaluate
from generator.record import source as sources
from generator.render import desk
from generator.render import site as sites
from generator.render.mkdocs_plugin import WATCHED, FindingsPlugin, Stopped
from generator.render.publish import Misuse, configuration, documents, logged
from generator.report.refusal import Report

log = logging.getLogger("mkdocs.plugins.findings")

Seen = dict[str, tuple[int, int]]
"""Files of a record, each with the time of its last change and its size."""


def serve(root: Path, host: str, port: int) -> None:
    """Serve until interrupted; raises Misuse, MkDocsException, OSError where the address cannot be had."""
    with documents(root) as stand_in, tempfile.TemporaryDirectory() as folder, logged(logging.INFO):
        place = Place(root, stand_in, f"http://{host}:{port}/", Path(folder))
        place.bell.mkdir()
        preview = Preview(place)
        server = LiveReloadServer(preview, host, port, root=str(place.site))
        try:
            preview.whole()
            for path in (*place.watched(), place.bell):
                server.watch(str(path))
            server.serve()  # type: ignore[no-untyped-call]
        except KeyboardInterrupt:
            log.info("Shutting down...")
        finally:
            preview.drop()
            server.shutdown()


@dataclass(frozen=True)
class Place:
    """A record that is served, at which address, and a folder for what is made of it."""

    root: Path
    stand_in: Path | None  # in place of site_src, where there is none
    url: str
    folder: Path

    @property
    def site(self) -> Path:
        """The site that is served."""
        return self.folder / "site"

    @property
    def next(self) -> Path:
        """The site that another process builds."""
        return self.folder / "next"

    @property
    def bell(self) -> Path:
        """A folder that is written into when that process is done."""
        return self.folder / "bell"

    def watched(self) -> Iterator[Path]:
        """What a site is made of."""
        names = ("mkdocs.yml", "CITATION.cff", "site_src", *WATCHED)
        return (self.root / name for name in names if (self.root / name).exists())

    def seen(self) -> Seen:
        """Every file that a site is made of, as it is now."""
        found: Seen = {}
        for path in self.watched():
            below = (Path(at, name) for at, _, names in os.walk(path) for name in names)
            for file in [path] if path.is_file() else below:
                with suppress(OSError):  # gone meanwhile
                    told = file.stat()
                    found[os.path.relpath(file, self.root)] = (told.st_mtime_ns, told.st_size)
        return found


@dataclass
class Preview:
    """What the server calls whenever something was saved; keeps the last whole build to make pages from."""

    place: Place
    plugin: FindingsPlugin | None = None
    desk: desk.Desk | None = None
    seen: Seen = field(default_factory=dict)
    beside: BaseProcess | None = None

    def __call__(self) -> None:
        """Bring the site up to what was saved; raises Stopped with what stands against that."""
        before, self.seen = self.seen, self.place.seen()
        changed = [path for path in {**before, **self.seen} if before.get(path) != self.seen.get(path)]
        if not changed and self.done():
            self.take()
            return
        self.drop()
        if len(changed) == 1 and self.page(changed[0]):
            self.begin()
        else:
            self.whole()

    def whole(self) -> None:
        """Build and audit the whole site here, and keep what it was made of."""
        self.seen = self.place.seen()
        self.plugin = self.desk = None
        self.plugin = _built(self.place, self.place.site)
        self.desk = _desk(self.plugin)

    def page(self, path: str) -> bool:
        """Make the page of one source again; False where it has none, or its change asks for more."""
        known = self.desk.evaluations.get(path) if self.desk else None
        if not (self.plugin and self.desk and known and known.source.kind in sites.WRITTEN):
            return False
        try:
            text = (self.place.root / path).read_text("utf-8")
        except (OSError, UnicodeDecodeError):
            return False
        if refusals := desk.typed(self.desk, path, text).refusals:
            raise Stopped(Report(refusals))
        evaluation = evaluate(self.desk.record, sources.parse(path, text))
        self.plugin.site, shown = sites.revised(self.plugin.site, evaluation)
        self.plugin.remake(shown)
        self.desk = _desk(self.plugin)
        log.info(f"{shown.removesuffix('.md')}.html is shown as saved; the whole site follows")
        return True

    def begin(self) -> None:
        """Build the whole site in a process beside this one."""
        context = multiprocessing.get_context("spawn")  # a fork would hold the locks of other threads
        self.beside = context.Process(target=_build_beside, args=(self.place,))
        self.beside.start()
        threading.Thread(target=_ring, args=(self.beside, self.place.bell), daemon=True).start()

    def done(self) -> bool:
        """Whether that process has built a site that nothing stands against."""
        return self.beside is not None and self.beside.exitcode == 0

    def take(self) -> None:
        """Put that site in the place of the one that is served."""
        self.beside = None
        old = self.place.folder / "old"
        self.place.site.rename(old)
        self.place.next.rename(self.place.site)
        shutil.rmtree(old, ignore_errors=True)

    def drop(self) -> None:
        """End that process: what it builds is not what is saved any more."""
        if self.beside is not None:
            self.beside.kill()
            self.beside.join()
            self.beside = None
        shutil.rmtree(self.place.next, ignore_errors=True)


def _built(place: Place, site: Path) -> FindingsPlugin:
    """The plugin that has built the whole site into a folder; raises MkDocsException, Misuse."""
    config, plugin = configuration(place.root, site, place.stand_in)
    config.strict, config.site_url = False, place.url
    config.plugins.on_startup(command="serve", dirty=False)
    build(config, serve_url=place.url)
    return plugin


def _desk(plugin: FindingsPlugin) -> desk.Desk:
    """What single sources are judged against."""
    book = plugin.site.book
    return desk.Desk(book.record, dict(book.evaluations), plugin.site.report)


def _build_beside(place: Place) -> None:
    """Build in a process of its own; says what stands against the site, exit code 1."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the server ends this process
    with logged(logging.WARNING):
        try:
            _built(place, place.next)
        except (MkDocsException, Misuse) as error:
            print(error, file=sys.stderr)
            sys.exit(1)


def _ring(beside: BaseProcess, bell: Path) -> None:
    """Let the server know that a site is there."""
    beside.join()
    if beside.exitcode == 0:
        (bell / str(beside.pid)).touch()
