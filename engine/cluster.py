"""The tasks of an experiment on a Ray cluster: the only door to ray.

A task is a shard: its batches are whole and its threads are stated, so its document does not depend on
where it was worked out. A node keeps what it has finished before it says so, and the process that asked
keeps it too; so whatever dies, nothing that is finished is done again.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any

from engine.contract import store
from engine.contract.errors import BadData, EngineError
from engine.run import Bar, Documents, Experiment, Task, Work

Apart = Mapping[str, Sequence[str]]
"""From a pattern of task names to the patterns of the earlier tasks that those wait for."""

DEATHS = 5
"""How many workers or nodes may die under one task before it is blamed."""

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
"""The variables that the numeric libraries read when they are loaded."""


@dataclass(frozen=True)
class OnRay:
    """An executor (`engine.run`) that gives each task to a node of the cluster with `threads` cores free.

    `make` makes the experiment anew on a node. A task whose name matches no pattern of `apart` waits for
    all before it.
    """

    make: Callable[[], Experiment]
    apart: Apart = field(default_factory=dict)
    threads: int | None = None

    def __call__(self, work: Work, bar: Bar) -> Documents:
        """All documents; raises what a task raised, and `BadData` where the cluster cannot do the work."""
        ray = _connected()
        threads = self.threads or _threads_here()
        far = ray.remote(_finish).options(
            num_cpus=threads, num_gpus=_gpus(ray, threads), max_retries=DEATHS, retry_exceptions=False
        )
        here = _Here(work, bar)
        waiting = [task for task in work.tasks if not here.take(task)]
        needs = {task.name: needed(work.tasks, task, self.apart) for task in waiting}
        asked: dict[Any, Task] = {}
        while waiting or asked:
            for task in [task for task in waiting if here.texts.keys() >= set(needs[task.name])]:
                waiting.remove(task)
                seen = {name: here.sent(ray, name) for name in needs[task.name]}
                asked[far.remote(self.make, work.name, work.key, task.name, threads, seen)] = task
            bar.set_postfix_str(", ".join(sorted(task.name for task in asked.values())[:1]))
            [ref], _ = ray.wait(list(asked), num_returns=1)
            task = asked.pop(ref)
            here.keep(task, _got(ray, ref, task))
        return {task.name: json.loads(here.texts[task.name]) for task in work.tasks}


@dataclass
class _Here:
    """What the process that asks has of the documents."""

    work: Work
    bar: Bar
    texts: dict[str, str] = field(default_factory=dict)
    refs: dict[str, Any] = field(default_factory=dict)

    def take(self, task: Task) -> bool:
        """Take over a document that is kept; whether it is."""
        if not self.work.done(task):
            return False
        self.texts[task.name] = self.work.path(task).read_text(encoding="utf-8")
        return True

    def keep(self, task: Task, text: str) -> None:
        """Keep a document that came from a node, unless its disk is ours."""
        if not self.take(task):
            store.write_text(self.work.path(task), text)
            self.texts[task.name] = text
        self.bar.update(task.cost)

    def sent(self, ray: Any, name: str) -> Any:
        """A reference by which every node gets the document."""
        if name not in self.refs:
            self.refs[name] = ray.put(self.texts[name])
        return self.refs[name]


def needed(tasks: Sequence[Task], task: Task, apart: Apart) -> list[str]:
    """The names of the tasks that one waits for, among those before it."""
    before = [other.name for other in tasks[: tasks.index(task)]]
    for pattern, awaited in apart.items():
        if fnmatchcase(task.name, pattern):
            return [name for name in before if any(fnmatchcase(name, one) for one in awaited)]
    return before


# on a node


class _Sent(Mapping[str, Any]):
    """The documents that a task was sent, fetched when it reads them."""

    def __init__(self, refs: Mapping[str, Any], task: str) -> None:
        self._refs, self._task = refs, task

    def __getitem__(self, name: str) -> Any:
        import ray

        if name not in self._refs:
            raise BadData(
                self._task,
                f"reads the document of {name}, which it was not sent.",
                "Say so in its experiment's row, under `apart`.",
            )
        return json.loads(ray.get(self._refs[name]))

    def __iter__(self) -> Iterator[str]:
        return iter(self._refs)

    def __len__(self) -> int:
        return len(self._refs)


_WORK: dict[tuple[str, str], Work] = {}
"""The work this process was given, with the models that its tasks have loaded."""


def _finish(
    make: Callable[[], Experiment], name: str, key: str, task: str, threads: int, seen: Mapping[str, Any]
) -> str | tuple[str, str, str]:
    """The text of one task's document, finished and kept on this node; of a refusal its three parts."""
    try:
        return _finished(make, name, key, task, threads, seen)
    except EngineError as error:  # which does not survive the way back
        return error.place, error.problem, error.remedy


def _finished(
    make: Callable[[], Experiment], name: str, key: str, task: str, threads: int, seen: Mapping[str, Any]
) -> str:
    if (name, key) not in _WORK:
        _use(threads)
        made = Work.of(name, make())
        if made.key != key:
            raise BadData(
                os.uname().nodename,
                f"would run another {name}: code, weights or settings differ from those of the driver.",
                "Check out the same commit there, and fetch the same models.",
            )
        _WORK[name, key] = made
    work = _WORK[name, key]
    found = next(each for each in work.tasks if each.name == task)
    return work.finish(found, _Sent(seen, task))  # type: ignore[arg-type]


def _use(threads: int) -> None:
    from threadpoolctl import threadpool_limits

    os.environ.update(dict.fromkeys(THREADS, str(threads)))
    threadpool_limits(threads)
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(threads)


# the cluster


def _connected() -> Any:
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    try:
        import ray
    except ImportError:
        raise BadData("ray", "is not installed.", "pip install 'specdec-sidechannels[ray]'") from None
    if not ray.is_initialized():
        ray.init(log_to_driver=False, include_dashboard=False)
    return ray


def _threads_here() -> int:
    import torch

    return torch.get_num_threads()


def _gpus(ray: Any, threads: int) -> int:
    """One a task where the cluster has any; `BadData` where no node has the cores for a task."""
    nodes = [node["Resources"] for node in ray.nodes() if node["Alive"]]
    most = int(max(node.get("CPU", 0) for node in nodes))
    if most < threads:
        raise BadData(
            "the cluster",
            f"has no node with {threads} cores; the largest has {most}.",
            f"A run with other threads may have other last digits: to state it, give --threads {most}.",
        )
    return int(any(node.get("GPU", 0) for node in nodes))


def _got(ray: Any, ref: Any, task: Task) -> str:
    try:
        found: str | tuple[str, str, str] = ray.get(ref)
    except ray.exceptions.RayTaskError as error:
        raise error.as_instanceof_cause() from None
    except ray.exceptions.RayError as error:
        raise BadData(
            task.name,
            f"was lost with its worker {DEATHS + 1} times ({type(error).__name__}).",
            "See `ray status` and the node's memory; what is finished is kept.",
        ) from None
    if isinstance(found, str):
        return found
    raise BadData(*found)
