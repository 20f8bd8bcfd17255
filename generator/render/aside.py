"""Work that a second process does while this one goes on."""

from __future__ import annotations

import multiprocessing
import os
import threading
import warnings
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Generic, TypeVar

T = TypeVar("T")


class Aside(Generic[T]):
    """The result of `work`, from a forked process; from this one where none can be had or it died."""

    def __init__(self, work: Callable[[], T]) -> None:
        self._work = work
        self._near: Connection | None = None
        if hasattr(os, "fork") and (os.cpu_count() or 1) > 1 and threading.active_count() == 1:
            self._near = self._start()

    def _start(self) -> Connection:
        near, far = multiprocessing.Pipe()
        process = multiprocessing.get_context("fork").Process(target=self._tell, args=(far,), daemon=True)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # threads of libraries; the child starts none
            process.start()
        far.close()
        return near

    def _tell(self, far: Connection) -> None:
        with suppress(Exception):  # which the process that waits meets itself
            far.send(self._work())

    def result(self) -> T:
        """What `work` returns or raises."""
        if self._near is not None:
            with suppress(OSError, EOFError), self._near as near:
                found: T = near.recv()
                return found
        return self._work()
