"""Run an experiment: tasks in order, each kept when done, then payloads.

A task's result is a JSON document in the run's folder, written whole. A run that is killed and started
again finds its finished tasks and goes on; the payloads are made from the documents alone, so they come
out with the same bytes as those of an undisturbed run.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from tqdm import tqdm

from engine.contract import store
from engine.contract.payload import Payload
from engine.contract.provenance import ROOT, sha256_file
from engine.decode.registry import cache_home

Documents = dict[str, Any]


@dataclass(frozen=True)
class Task:
    """One piece of work. `cost` is its share of the whole, in seconds of a two-core machine, for the bar.

    `owner` is the experiment, by name and key, in whose folder the document is kept; None is the one
    that runs. So an experiment that builds on another's documents finds them done.
    """

    name: str
    cost: float
    work: Callable[[Documents], Any]
    owner: tuple[str, str] | None = None


class Experiment(Protocol):
    """What the table of experiments holds."""

    @property
    def key(self) -> str:
        """Text that changes whenever a finished task would come out otherwise."""

    def tasks(self) -> list[Task]:
        """The work, in order. Each task sees the documents of those before it."""

    def payloads(self, documents: Documents) -> Sequence[Payload]:
        """The payloads, from all documents."""


@dataclass(frozen=True)
class Work:
    """The tasks of an experiment, in order, and where the document of each is kept."""

    name: str
    key: str
    tasks: tuple[Task, ...]

    @classmethod
    def of(cls, name: str, experiment: Experiment) -> Work:
        """The work of an experiment that is run under a name."""
        return cls(name, experiment.key, tuple(experiment.tasks()))

    def path(self, task: Task) -> Path:
        """Where a task's document is kept."""
        experiment, key = task.owner or (self.name, self.key)
        file = f"{task.name.replace('/', '.')}.json"
        return cache_home() / "runs" / experiment / _short(key) / file

    def done(self, task: Task) -> bool:
        """Whether a task is finished."""
        return self.path(task).exists()

    def finish(self, task: Task, documents: Documents) -> str:
        """The text of a task's document, worked out and kept unless it is there."""
        path = self.path(task)
        if not path.exists():
            store.write_text(path, json.dumps(task.work(documents)))
        return path.read_text(encoding="utf-8")


class Bar(Protocol):
    """Where an executor says how far it is."""

    def update(self, n: float) -> Any:
        """So many seconds of work are done."""

    def set_postfix_str(self, s: str) -> Any:
        """What is being worked on."""


Executor = Callable[[Work, Bar], Documents]
"""Finishes the tasks of some work, none twice, and returns all documents."""


def in_turn(work: Work, bar: Bar) -> Documents:
    """One task after the other, in this process."""
    documents: Documents = {}
    for task in work.tasks:
        new = not work.done(task)
        if new:
            bar.set_postfix_str(task.name)
        documents[task.name] = json.loads(work.finish(task, documents))
        if new:
            bar.update(task.cost)
    return documents


def run(name: str, experiment: Experiment, out: Path, executor: Executor = in_turn) -> list[Path]:
    """Do what is not yet done of an experiment and write its payloads under `out`."""
    documents = _documents(Work.of(name, experiment), executor)
    written = []
    for payload in experiment.payloads(documents):
        path = out / f"{payload.name}.json"
        store.write(path, payload)
        written.append(path)
    return written


def _documents(work: Work, executor: Executor) -> Documents:
    shape = "{l_bar}{bar}| {n:.0f}/{total:.0f} s of work [{elapsed}<{remaining}]{postfix}"
    done = sum(task.cost for task in work.tasks if work.done(task))
    total = sum(task.cost for task in work.tasks)
    with tqdm(total=total, initial=done, desc=work.name, bar_format=shape) as bar:
        found = executor(work, bar)
    return {task.name: found[task.name] for task in work.tasks}


def source_digest(paths: Iterable[str]) -> str:
    """A digest of source files, given as paths or globs from the repository root."""
    found = sorted({file for path in paths for file in ROOT.glob(path)})
    return _short("".join(f"{file.relative_to(ROOT)} {sha256_file(file)}\n" for file in found))


def _short(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]
