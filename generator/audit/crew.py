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
from dataclasses import dataclass
from hashlib import sha256
from multiprocessing.connection import Connection

from generator.audit.reading import Reading

LARGE = 64
"""Pages from which a second process saves more than it costs."""

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
    if pages < LARGE or not hasattr(os, "fork") or threading.active_count() > 1:
        return 0
    return min((os.cpu_count() or 1) - 1, pages // (LARGE // 2))


class Crew:
    """Processes that are given paths one by one and tell at the end what they read."""

    def __init__(self, read: Read, count: int) -> None:
        self._given = 0
        self._ends = [_start(read) for _ in range(count)]

    def give(self, path: str) -> None:
        """Let a process read a page that is complete."""
        end = self._ends[self._given % len(self._ends)]
        self._given += 1
        with suppress(OSError):  # a process that died: its pages are read by this one
            end.send(path)

    def finish(self) -> dict[str, Ahead]:
        """Everything that was read; pages of a process that died are missing."""
        found: dict[str, Ahead] = {}
        for end in self._ends:
            try:
                end.send(None)
                found |= end.recv()
            except (OSError, EOFError):
                continue
            finally:
                end.close()
        return found


def _start(read: Read) -> Connection:
    near, far = multiprocessing.Pipe()
    context = multiprocessing.get_context("fork")
    process = context.Process(target=_work, args=(read, near, far), daemon=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # threads of libraries; the child starts none
        process.start()
    far.close()
    return near


def _work(read: Read, near: Connection, far: Connection) -> None:
    near.close()
    found = {}
    with suppress(EOFError, OSError):  # the process that gave the paths is gone
        while (path := far.recv()) is not None:
            result = read(path)
            if result is not None:
                found[path] = Ahead(sha256(result[0]).digest(), result[1])
        far.send(found)
