"""Pages of a large site read by processes beside this one, the same reader in each.

A reading counts only while the file still has the bytes that were read, so it makes no difference
when a page was read: while the rest of the site was being written, or afterwards.
"""

from __future__ import annotations

import multiprocessing
import os
import threading
import warnings
from collections.abc import Callable
from contextlib import suppress
from ctypes import Array, c_int
from dataclasses import dataclass
from hashlib import sha256
from multiprocessing.connection import Connection
from multiprocessing.process import current_process
from multiprocessing.synchronize import Lock

from generator.audit.reading import Reading

LARGE = 64
"""Pages from which a second process saves more than it costs."""

ALL = 2**31 - 1
ROOM = 1 << 20
"""Bytes of paths that may wait to be read."""

Read = Callable[[str], "tuple[bytes, Reading] | None"]
"""From the path of a page to its bytes and what they say."""


@dataclass(frozen=True)
class Ahead:
    """What was read of a page, and the digest of the bytes it was read from."""

    digest: bytes
    reading: Reading

    def holds(self, data: bytes) -> bool:
        """Whether the page still has the bytes that were read."""
        return sha256(data).digest() == self.digest


def size(pages: int) -> int:
    """How many processes beside this one are of use for so many pages; none where they cannot be had."""
    alone = hasattr(os, "fork") and threading.active_count() == 1 and not current_process().daemon
    if pages < LARGE or not alone:
        return 0
    return min((os.cpu_count() or 1) - 1, pages // (LARGE // 2))


class Crew:
    """Processes that are given paths one by one and tell at the end what they read."""

    def __init__(self, read: Read, count: int) -> None:
        self._read = read
        self._workers = [_Worker(read) for _ in range(count)]
        self._given = 0

    def give(self, path: str) -> None:
        """Let a process read a page that is complete."""
        self._workers[self._given % len(self._workers)].give(path)
        self._given += 1

    def finish(self) -> dict[str, Ahead]:
        """Everything that was read, here where no process had begun. Pages of one that died are missing."""
        found: dict[str, Ahead] = {}
        for worker in self._workers:
            worker.tell(None)
        for worker in self._workers:
            while (path := worker.take_back()) is not None:
                found |= _read_one(self._read, path)
        for worker in self._workers:
            found |= worker.found()
        return found


class _Worker:
    """One process, the paths it was given, and how far it has come."""

    def __init__(self, read: Read) -> None:
        context = multiprocessing.get_context("fork")
        self._paths: list[str] = []
        self._progress = _Progress(context.Lock(), context.RawArray("i", [0, ALL]))
        asked, self._ask = _pipe()
        self._told, tell = _pipe()
        ends = (asked, tell, self._ask, self._told)
        process = context.Process(target=_work, args=(read, self._progress, *ends), daemon=True)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # threads of libraries; the child starts none
            process.start()
        asked.close()
        tell.close()

    def give(self, path: str) -> None:
        self._paths.append(path)
        self.tell(path)

    def tell(self, path: str | None) -> None:
        with suppress(OSError):  # a process that died: its pages are read by this one
            self._ask.send(path)

    def take_back(self) -> str | None:
        """The last path that the process has not begun, which it now leaves alone."""
        place = self._progress.last(len(self._paths))
        return None if place is None else self._paths[place]

    def found(self) -> dict[str, Ahead]:
        try:
            found: dict[str, Ahead] = self._told.recv()
            return found
        except (OSError, EOFError):
            return {}
        finally:
            self._ask.close()
            self._told.close()


@dataclass(frozen=True)
class _Progress:
    """Places in a list shared by two processes: one takes from the front, the other from the back."""

    lock: Lock
    ends: Array[c_int]

    def first(self, place: int) -> bool:
        """Whether the one in front may begin this place."""
        with self.lock:
            if place >= self.ends[1]:
                return False
            self.ends[0] = place + 1
            return True

    def last(self, count: int) -> int | None:
        """The last of `count` places that neither has; None where there is none, or the other died on it."""
        if not self.lock.acquire(timeout=1):
            return None
        try:
            place = min(self.ends[1], count) - 1
            if place < self.ends[0]:
                return None
            self.ends[1] = place
            return place
        finally:
            self.lock.release()


def _read_one(read: Read, path: str) -> dict[str, Ahead]:
    result = read(path)
    return {} if result is None else {path: Ahead(sha256(result[0]).digest(), result[1])}


def _pipe() -> tuple[Connection, Connection]:
    """The reading and the writing end of a pipe with room for the paths of a large site.

    Whoever writes into a full one waits, and that would be the process that writes the pages.
    """
    reading, writing = multiprocessing.Pipe(duplex=False)
    with suppress(ImportError, AttributeError, OSError):  # not on this system, or not so large
        import fcntl

        fcntl.fcntl(writing.fileno(), fcntl.F_SETPIPE_SZ, ROOM)
    return reading, writing


def _work(read: Read, progress: _Progress, asked: Connection, tell: Connection, *others: Connection) -> None:
    for end in others:
        end.close()
    found: dict[str, Ahead] = {}
    with suppress(EOFError, OSError):  # the process that gave the paths is gone
        place = 0
        while (path := asked.recv()) is not None:
            if progress.first(place):
                found |= _read_one(read, path)
            place += 1
        tell.send(found)
