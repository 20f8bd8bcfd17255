"""Checks a record again on each save of a source, until it is interrupted. The one door to watchdog."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from queue import Empty, SimpleQueue

from watchdog.events import FileSystemEvent, FileSystemEventHandler
from watchdog.observers import Observer
from watchdog.observers.api import BaseObserver

FOLDERS = ("findings", "payloads", "site_src", "templates")
"""Folders of a record whose files are sources, with everything below them."""

FILES = ("mkdocs.yml", "CITATION.cff")
"""Sources that stand at the record's root."""

SETTLE = 0.2
"""Seconds without a further save after which a check begins: an editor writes a file in several steps."""

PATIENCE = 2.0
"""Seconds after which a check begins although files are still being saved."""

_WRITES = frozenset({"created", "modified", "deleted", "moved"})


class Unwatchable(Exception):
    """Folders that the system does not watch; the message says why."""


class Saves(FileSystemEventHandler):
    """The sources that were written, as they are written; reading a file is no save."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._paths: SimpleQueue[str] = SimpleQueue()

    def on_any_event(self, event: FileSystemEvent) -> None:
        """Note what a change touched, unless it is no source."""
        if event.event_type in _WRITES and not (event.is_directory and event.event_type == "modified"):
            for path in (event.src_path, event.dest_path):
                shown = os.path.relpath(os.fsdecode(path), self._root) if path else ""
                if _is_source(shown):
                    self._paths.put(Path(shown).as_posix())

    def forget(self) -> None:
        """Drop what was noted so far: a check that begins now reads the files as they are."""
        with suppress(Empty):
            while True:
                self._paths.get_nowait()

    def wait(self) -> list[str]:
        """Wait for a save and for the end of those that come with it; the paths that were touched."""
        found: set[str] = set()
        while not found:
            with suppress(Empty):
                found.add(self._paths.get(timeout=1))  # not for ever: some systems interrupt no lock
        deadline = time.monotonic() + PATIENCE
        with suppress(Empty):
            while time.monotonic() < deadline:
                found.add(self._paths.get(timeout=SETTLE))
        return sorted(found)


def _is_source(path: str) -> bool:
    """A file that a check may read; hidden files and copies that editors keep are none."""
    file = Path(path)
    source = path in FILES or (bool(file.parts) and file.parts[0] in FOLDERS)
    return source and not file.name.startswith(".") and not file.name.endswith("~")


def watch(root: Path, check: Callable[[], None], tell: Callable[[str], None]) -> None:
    """Check, then again after each save; returns when it is interrupted from the keyboard.

    `tell` gets the lines that part one check from the next. Raises Unwatchable.
    """
    saves = Saves(root)
    observer = Observer()
    observer.start()
    try:
        for changed in _rounds(observer, saves, root):
            if changed:
                tell(f"\n==== {', '.join(changed)} changed, {time.strftime('%H:%M:%S')} ====")
            _checked(check, tell)
            tell("Waiting for the next save; Ctrl-C ends.")
    except KeyboardInterrupt:
        return
    finally:
        observer.stop()
        observer.join()


def _rounds(observer: BaseObserver, saves: Saves, root: Path) -> Iterator[list[str]]:
    """What was saved since the round before, nothing in the first; listens before each check begins."""
    changed: list[str] = []
    while True:
        _listen(observer, saves, root)
        saves.forget()
        yield changed
        changed = saves.wait()


def _listen(observer: BaseObserver, saves: Saves, root: Path) -> None:
    """Watch the folders that are there now; they may have come, or been replaced, since."""
    observer.unschedule_all()
    try:
        observer.schedule(saves, str(root))
        for name in FOLDERS:
            with suppress(FileNotFoundError, NotADirectoryError):
                if (root / name).is_dir():
                    observer.schedule(saves, str(root / name), recursive=True)
    except OSError as error:
        raise Unwatchable(f"{root} cannot be watched: {error.strerror}.") from None


def _checked(check: Callable[[], None], tell: Callable[[str], None]) -> None:
    """One check; a file that goes away while it is read ends the check, not the watch."""
    try:
        check()
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError, PermissionError) as error:
        tell(f"{error.filename or 'A file'} changed while it was read: {error.strerror}.")
