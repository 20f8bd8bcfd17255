"""The faults shared out among processes, each with a copy of its own to plant them in."""

from __future__ import annotations

import multiprocessing
import os
import shutil
import signal
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess

from generator.selftest.tally import Tally
from generator.selftest.workplace import Workplace


@dataclass(frozen=True)
class Share:
    """Every count-th fault, from the one with this number."""

    number: int = 0
    count: int = 1

    def has(self, fault: int) -> bool:
        """Whether the fault with this number is one of the share."""
        return fault % self.count == self.number


Plant = Callable[[Workplace, str, Share], Tally]
"""Plants a share of a group of faults, which is given by its name."""


def processes() -> int:
    """How many processes there is room for; one where they cannot be had."""
    if not hasattr(os, "fork") or threading.active_count() > 1:
        return 1
    return os.cpu_count() or 1


def planted(workplace: Workplace, plant: Plant, groups: Iterable[str], count: int) -> Iterator[Tally]:
    """The tally of each group in turn, whoever planted its faults."""
    if count == 1:
        yield from (plant(workplace, group, Share()) for group in groups)
        return
    groups = tuple(groups)
    started = [_start(workplace, plant, groups, Share(number, count)) for number in range(count)]
    try:
        for _ in groups:
            tally = Tally()
            for _, end in started:
                tally += end.recv()
            yield tally
    finally:
        for process, _ in started:
            process.terminate()
            process.join()


def _start(
    workplace: Workplace, plant: Plant, groups: Iterable[str], share: Share
) -> tuple[BaseProcess, Connection]:
    near, far = multiprocessing.Pipe(duplex=False)
    context = multiprocessing.get_context("fork")
    process = context.Process(target=_work, args=(workplace, plant, groups, share, far), daemon=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # threads of libraries; the child starts none
        process.start()
    far.close()
    return process, near


def _work(workplace: Workplace, plant: Plant, groups: Iterable[str], share: Share, end: Connection) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the process that started this one ends it
    folder = workplace.root.with_name(f"copy-{share.number}")
    with suppress(
        OSError
    ):  # a full disk, or nobody there to tell: the other end sees that this one is closed
        shutil.copytree(workplace.root, folder)
        own = Workplace(folder)
        for group in groups:
            end.send(plant(own, group, share))
