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


def run(name: str, experiment: Experiment, out: Path) -> list[Path]:
    """Do what is not yet done of an experiment and write its payloads under `out`."""
    documents = _work((name, experiment.key), experiment.tasks())
    written = []
    for payload in experiment.payloads(documents):
        path = out / f"{payload.name}.json"
        store.write(path, payload)
        written.append(path)
    return written


def _work(running: tuple[str, str], tasks: list[Task]) -> Documents:
    documents: Documents = {}
    shape = "{l_bar}{bar}| {n:.0f}/{total:.0f} s of work [{elapsed}<{remaining}]{postfix}"
    paths = {task.name: _kept(*(task.owner or running), task.name) for task in tasks}
    done = sum(task.cost for task in tasks if paths[task.name].exists())
    total = sum(task.cost for task in tasks)
    with tqdm(total=total, initial=done, desc=running[0], bar_format=shape) as bar:
        for task in tasks:
            path = paths[task.name]
            if not path.exists():
                bar.set_postfix_str(task.name)
                store.write_text(path, json.dumps(task.work(documents)))
                bar.update(task.cost)
            documents[task.name] = json.loads(path.read_text(encoding="utf-8"))
    return documents


def _kept(experiment: str, key: str, task: str) -> Path:
    return cache_home() / "runs" / experiment / _short(key) / f"{task.replace('/', '.')}.json"


def source_digest(paths: Iterable[str]) -> str:
    """A digest of source files, given as paths or globs from the repository root."""
    found = sorted({file for path in paths for file in ROOT.glob(path)})
    return _short("".join(f"{file.relative_to(ROOT)} {sha256_file(file)}\n" for file in found))


def _short(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]
