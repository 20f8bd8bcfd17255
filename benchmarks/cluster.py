"""How a run on a Ray cluster grows with its nodes: `python -m benchmarks.cluster [NODES]`, on idle cores.

The testbed, smaller: in turn in one process, then on one node of one core, on two, and so on; one thread a
task everywhere. Seconds of the wall: the first on a cluster with the start of its workers, the second, of
other tasks of the same cost, without. That the payloads are the same bytes is asserted.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from benchmarks.section import replace
from engine.cluster import OnRay
from engine.experiments.names import find
from engine.experiments.testbed import Settings, Testbed
from engine.run import Executor, in_turn, run

HOST = Path(__file__).parents[1] / "tests/engine/ray_trial.py"
ROOTS = (1, 2)
COLUMNS = ("nodes of one core", "seconds", "speed", "seconds of the second run", "speed")
HEADER = f"| {' | '.join(COLUMNS)} |\n|{'---|' * len(COLUMNS)}"


def testbed(root: int) -> Testbed:
    """Two margins with a fifth of the studies; another root has other tasks of the same cost."""
    return Testbed(Settings(root=root, margins=(0, 100), studies=200, block=10))


@contextmanager
def nodes(count: int, cache: Path) -> Iterator[None]:
    """A cluster of so many nodes of one core, at RAY_ADDRESS."""
    with tempfile.TemporaryDirectory(prefix="r", dir="/tmp", ignore_cleanup_errors=True) as folder:
        host = subprocess.Popen(
            [sys.executable, str(HOST), "host", folder, str(count)],
            env=os.environ | {"XDG_CACHE_HOME": str(cache)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert host.stdout is not None and host.stdin is not None
        started = next(line for line in host.stdout if line.startswith('{"address"'))
        os.environ["RAY_ADDRESS"] = json.loads(started)["address"]
        try:
            yield
        finally:
            import ray

            ray.shutdown()
            host.stdin.close()
            host.wait()


def timed(root: int, executor: Executor, cache: Path) -> tuple[float, list[bytes]]:
    """Seconds of one run, and the bytes of its payloads."""
    os.environ["XDG_CACHE_HOME"] = str(cache)
    started = time.perf_counter()
    paths = run("testbed", testbed(root), cache / "out", executor)
    return time.perf_counter() - started, [path.read_bytes() for path in paths]


def main(most: int) -> None:
    """Print a row a size, then write them into the README."""
    os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    print(HEADER)
    with tempfile.TemporaryDirectory() as folder:
        alone = [timed(root, in_turn, Path(folder) / "alone") for root in ROOTS]
        lines = [_row("none: one process", alone, alone)]
        for count in range(1, most + 1):
            cache = Path(folder) / f"nodes-{count}"
            with nodes(count, cache):
                executors = [OnRay(partial(testbed, root), find("testbed").apart, 1) for root in ROOTS]
                made = [timed(root, each, cache) for root, each in zip(ROOTS, executors, strict=True)]
            assert [found for _, found in made] == [found for _, found in alone]
            lines.append(_row(str(count), made, alone))
    replace("cluster", "\n".join([HEADER, *lines]))


def _row(what: str, made: list[tuple[float, list[bytes]]], alone: list[tuple[float, list[bytes]]]) -> str:
    pairs = [(ours[0], theirs[0]) for ours, theirs in zip(made, alone, strict=True)]
    cells = [text for ours, theirs in pairs for text in (f"{ours:.1f}", f"{theirs / ours:.2f}")]
    row = f"| {what} | {' | '.join(cells)} |"
    print(row, flush=True)
    return row


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else os.cpu_count() or 1)
