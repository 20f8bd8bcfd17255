"""Tasks spread over a Ray cluster give the bytes of one process, whatever dies, and none is finished twice.

`RAY_CHECK=1` (`make ray-check`) adds the ones that kill: each needs minutes on a busy machine.
"""

from __future__ import annotations

import json
import os
import queue
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from engine.cluster import needed
from engine.experiments.names import EXPERIMENTS
from engine.run import Task

PROGRAM = Path(__file__).with_name("ray_trial.py")
PATIENCE = 600.0
TASKS = 13

with_ray = pytest.mark.skipif(
    find_spec("ray") is None, reason="ray is not here; pip install 'specdec-sidechannels[ray]'"
)
harsh = pytest.mark.skipif(
    os.environ.get("RAY_CHECK") != "1", reason="kills workers and nodes: make ray-check"
)


class Lines:
    """What a process prints, line by line, without waiting for ever."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._lines: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._reader = threading.Thread(target=self._read, args=(process,), daemon=True)
        self._reader.start()

    def _read(self, process: subprocess.Popen[str]) -> None:
        assert process.stdout is not None
        with process.stdout as printed:
            for line in printed:
                self._lines.put(line)
        self._lines.put("")

    def close(self) -> None:
        """Read to the end."""
        self._reader.join(timeout=PATIENCE)

    def until(self, start: str) -> str:
        """The next line that begins so; empty where the process ended."""
        while line := self._lines.get(timeout=PATIENCE):
            if line.startswith(start):
                return line
        return ""


class Cluster:
    """Nodes of one core each, and drivers that run the trial on them."""

    def __init__(self, folder: Path, nodes: int) -> None:
        self.folder, self.ray = folder, Path(tempfile.mkdtemp(prefix="r", dir="/tmp"))
        self.process = subprocess.Popen(
            [sys.executable, PROGRAM, "host", self.ray, str(nodes)],
            env=os.environ | {"XDG_CACHE_HOME": str(folder / "cache"), "OMP_NUM_THREADS": "1"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        self.lines = Lines(self.process)
        found = self.lines.until('{"address"')
        if not found:
            self.close()
            stop = pytest.fail if os.environ.get("RAY_CHECK") == "1" else pytest.skip
            stop(f"Ray did not start on this machine: python {PROGRAM} host FOLDER 2 tells why")
        self.address: str = json.loads(found)["address"]

    def tell(self, what: str) -> None:
        """`add`, `slow` or `kill` a node, and wait until it is so."""
        assert self.process.stdin is not None
        print(what, file=self.process.stdin, flush=True)
        assert self.lines.until("done")

    def drive(self, key: str, *, pause: float = 0.0, fault: str = "", cache: str = "cache") -> Driver:
        """A driver of the trial under a key of its own."""
        return Driver(self.folder, key, pause, fault, cache, {"RAY_ADDRESS": self.address})

    def close(self) -> None:
        """Stop all nodes."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait(timeout=PATIENCE)
        self.lines.close()
        shutil.rmtree(self.ray, ignore_errors=True)


class Driver:
    """A process that runs the trial."""

    def __init__(
        self, folder: Path, key: str, pause: float, fault: str, cache: str, environment: dict[str, str]
    ) -> None:
        self.out, self.log = folder / f"out-{key}", folder / f"log-{key}"
        self.process = subprocess.Popen(
            [sys.executable, PROGRAM, "drive", self.out, self.log, key, str(pause), fault],
            env=os.environ | {"XDG_CACHE_HOME": str(folder / cache), "OMP_NUM_THREADS": "1"} | environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    @property
    def said(self) -> list[list[str]]:
        """Every line of the log: begun or done, the task, the process, slow or quick."""
        return [line.split() for line in self.log.read_text().splitlines()] if self.log.exists() else []

    def done(self) -> Counter[str]:
        """How often each task was done."""
        return Counter(name for what, name, *_ in self.said if what == "done")

    def when(self, tasks: int) -> None:
        """Wait until so many tasks are done."""
        for _ in range(int(PATIENCE * 20)):
            if sum(self.done().values()) >= tasks:
                return
            assert self.process.poll() is None, self.process.communicate()[0]
            time.sleep(0.05)
        pytest.fail(f"not {tasks} tasks done in {PATIENCE} s")

    def working(self) -> tuple[str, int]:
        """A task that was begun last and is not done, and its process; waits until there is one."""
        for _ in range(int(PATIENCE * 20)):
            said = self.said
            if said[-1][0] == "begun":
                return said[-1][1], int(said[-1][2])
            time.sleep(0.05)
        pytest.fail(f"no task begun in {PATIENCE} s")

    def finish(self) -> bytes:
        """Wait for the end; the payload's bytes."""
        printed, _ = self.process.communicate(timeout=PATIENCE)
        assert self.process.returncode == 0, printed
        return (self.out / "trial" / "cluster.json").read_bytes()

    def refused(self) -> str:
        """Wait for a failure; what was printed."""
        printed, _ = self.process.communicate(timeout=PATIENCE)
        assert self.process.returncode == 1, printed
        return printed


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for everything."""
    return tmp_path_factory.mktemp("cluster")


@pytest.fixture(scope="module")
def alone(place: Path) -> bytes:
    """The payload of one process without a cluster."""
    return Driver(place, "alone", 0.0, "", "cache-alone", {}).finish()


@pytest.fixture(scope="module")
def cluster(place: Path) -> Iterator[Cluster]:
    """Two nodes."""
    made = Cluster(place, 2)
    yield made
    made.close()


@with_ray
def test_a_cluster_gives_the_bytes_of_one_process_and_does_each_task_once(
    cluster: Cluster, alone: bytes
) -> None:
    driver = cluster.drive("quick")
    assert driver.finish() == alone
    assert set(driver.done().values()) == {1} and len(driver.done()) == TASKS
    again = cluster.drive("quick")
    assert again.finish() == alone
    assert sum(again.done().values()) == TASKS


@harsh
@with_ray
def test_nodes_that_share_no_disk_with_the_driver_are_sent_what_they_need(
    cluster: Cluster, alone: bytes
) -> None:
    driver = cluster.drive("apart", cache="cache-of-the-driver")
    assert driver.finish() == alone
    assert len(list((cluster.folder / "cache-of-the-driver").rglob("*.json"))) == TASKS


@harsh
@with_ray
def test_a_worker_killed_in_the_middle_costs_its_task_and_no_other(cluster: Cluster, alone: bytes) -> None:
    driver = cluster.drive("worker", pause=3.0)
    driver.when(1)
    name, process = driver.working()
    os.kill(process, signal.SIGKILL)
    assert driver.finish() == alone
    assert set(driver.done().values()) == {1}
    begun = Counter(name for what, name, *_ in driver.said if what == "begun")
    assert [each for each, times in begun.items() if times > 1] == [name]


@harsh
@with_ray
def test_a_node_killed_in_the_middle_costs_no_finished_task(cluster: Cluster, alone: bytes) -> None:
    driver = cluster.drive("node", pause=1.0)
    driver.when(3)
    cluster.tell("kill")
    assert driver.finish() == alone
    assert set(driver.done().values()) == {1}
    cluster.tell("add")


@harsh
@with_ray
def test_a_driver_that_is_killed_and_started_again_finds_what_was_finished(
    cluster: Cluster, alone: bytes
) -> None:
    first = cluster.drive("driver", pause=1.0)
    first.when(4)
    first.process.kill()
    first.process.communicate()
    second = cluster.drive("driver", pause=1.0)
    assert second.finish() == alone
    assert set(second.done().values()) == {1}


@harsh
@with_ray
def test_a_slow_node_does_fewer_tasks_and_changes_nothing(cluster: Cluster, alone: bytes) -> None:
    cluster.tell("slow")
    driver = cluster.drive("slow", pause=0.5)
    assert driver.finish() == alone
    assert set(driver.done().values()) == {1}
    draws = Counter(line[3] for line in driver.said if line[0] == "done" and line[1].startswith("draw"))
    assert 0 < draws["slow"] < draws["quick"]


@harsh
@with_ray
@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("deadly", "draw/4: was lost with its worker 6 times"),
        ("undeclared", "reads the document of part/0, which it was not sent"),
        ("other", "would run another trial: code, weights or settings differ"),
    ],
)
def test_what_cannot_be_run_on_the_cluster_is_refused(cluster: Cluster, fault: str, said: str) -> None:
    driver = cluster.drive(f"refused-{fault}", fault=fault)
    assert said in driver.refused()
    assert not driver.out.exists()


def tasks(*names: str) -> list[Task]:
    return [Task(name, 1.0, lambda _: None) for name in names]


@pytest.mark.parametrize(
    ("apart", "wanted"),
    [
        ({}, ["text/0", "text/1", "read/0"]),
        ({"*": ()}, []),
        ({"read/*": ("text/*",)}, ["text/0", "text/1"]),
        ({"read/1": ("read/*",), "*": ()}, ["read/0"]),
        ({"text/*": ()}, ["text/0", "text/1", "read/0"]),
    ],
)
def test_a_task_waits_for_what_its_row_says_or_for_all_before_it(
    apart: dict[str, tuple[str, ...]], wanted: list[str]
) -> None:
    listed = tasks("text/0", "text/1", "read/0", "read/1", "after")
    assert needed(listed, listed[3], apart) == wanted


@pytest.mark.parametrize("row", [row for row in EXPERIMENTS if row.apart], ids=lambda row: row.name)
def test_only_experiments_that_can_be_run_say_what_runs_apart(row: object) -> None:
    from engine.experiments.names import Row

    assert isinstance(row, Row) and row.built
    assert all(isinstance(awaited, tuple) for awaited in row.apart.values())
