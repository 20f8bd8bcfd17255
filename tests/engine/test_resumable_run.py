"""A run that is killed and started again goes on, and ends with the bytes of an undisturbed run.

Started as a program, this file runs the small experiment it defines.
"""

from __future__ import annotations

import hashlib
import os
import random
import re
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from engine import run as running
from engine.contract import store
from engine.contract.payload import Measured, Payload, Provenance, State, Statistic, lexeme
from engine.contract.seeds import Stream
from engine.run import Documents, Task, run, source_digest
from engine.stats.statistic import Table, compute

TASKS = 30


@dataclass(frozen=True)
class Small:
    """Thirty short tasks, each of which needs the one before; one payload with an estimate."""

    log: Path
    key: str = "one"
    pause: float = 0.0

    def tasks(self) -> list[Task]:
        """The tasks."""
        return [Task(f"draw/{i:02d}", 1.0 + i % 3, partial(self.work, i)) for i in range(TASKS)]

    def work(self, index: int, documents: Documents) -> dict[str, Any]:
        """Draw a few numbers that depend on the task before."""
        with self.log.open("a") as log:
            log.write(f"{index}\n")
        time.sleep(self.pause)
        before = documents[f"draw/{index - 1:02d}"]["hits"] if index else 0
        drawn = Stream(7, f"{index}/{before}").uniform(50)
        return {"hits": int((drawn < 0.4).sum()), "mean": float(drawn.mean())}

    def payloads(self, documents: Documents) -> Sequence[Payload]:
        """The payload."""
        rows = [[i, documents[f"draw/{i:02d}"]["hits"], 50] for i in range(TASKS)]
        table = Table.from_rows(["cluster", "hits", "n"], rows, root=7, resamples=500, level=0.95)
        statistic = Statistic(kind="ratio", numerator=["hits"], denominator=["n"], stream="b")
        share = compute(statistic.model_dump(exclude_none=True), table)
        means = [documents[task.name]["mean"] for task in self.tasks()]
        return [
            Measured.model_validate(
                {
                    "schema": "specdec-sidechannels/payload/1",
                    "name": "trial/small",
                    "question": "How many?",
                    "regime": {"target": "none"},
                    "config": {"resamples": 500, "level": lexeme(0.95)},
                    "seeds": {"root": 7},
                    "provenance": PROVENANCE,
                    "results": {
                        "share": share | {"unit": "share", "statistic": statistic},
                        "mean": {"value": sum(means) / TASKS, "unit": "share"},
                    },
                    "state": State(columns=["cluster", "hits", "n"], rows=rows),
                }
            )
        ]


PROVENANCE = Provenance(
    command=["engine", "run", "small"],
    commit="0" * 40,
    dirty=False,
    versions={},
    device="CPU",
    models=[],
    inputs=[],
)


BYTES = "d28c56c2653ef6ec7c21c9e9100a7a569738fdf144934812c8246febdcebd63b"
"""The payload's digest, which no change of how tasks are run may change."""


class Place:
    """A cache, a folder for payloads and a log of tasks begun, all below one folder."""

    def __init__(self, root: Path) -> None:
        self.cache, self.out, self.log = root / "cache", root / "out", root / "log"

    def start(self) -> subprocess.Popen[str]:
        """The experiment in a process of its own, as far as the start of its work."""
        process = subprocess.Popen(
            [sys.executable, __file__, str(self.out), str(self.log)],
            env=os.environ | {"XDG_CACHE_HOME": str(self.cache)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert process.stdout is not None
        assert process.stdout.readline() == "started\n"
        return process

    def finish(self) -> str:
        """Run to the end; what it printed on standard error."""
        with self.start() as process:
            _, printed = process.communicate(timeout=120)
        assert process.returncode == 0, printed
        return printed

    @property
    def begun(self) -> list[int]:
        """The tasks begun so far, in order."""
        return [int(line) for line in self.log.read_text().splitlines()] if self.log.exists() else []

    @property
    def payload(self) -> bytes:
        """The payload's bytes."""
        return (self.out / "trial" / "small.json").read_bytes()


def test_ten_kills_at_random_moments_lose_nothing(tmp_path: Path) -> None:
    undisturbed, killed = Place(tmp_path / "a"), Place(tmp_path / "b")
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    undisturbed.finish()
    moments = random.Random(20261130)
    for _ in range(10):
        with killed.start() as process:
            time.sleep(moments.uniform(0.0, 0.1))
            process.send_signal(signal.SIGKILL)
        assert process.returncode == -signal.SIGKILL
    assert not killed.out.exists()
    killed.finish()
    assert killed.payload == undisturbed.payload
    assert undisturbed.begun == list(range(TASKS))
    assert sorted(set(killed.begun)) == list(range(TASKS))
    assert len(killed.begun) <= TASKS + 10  # a kill costs the task it hit, and no other
    assert killed.begun == sorted(killed.begun)


def test_a_bar_shows_the_work_done_and_the_time_left(tmp_path: Path) -> None:
    printed = Place(tmp_path).finish()
    bar = r"small: *(\d+)%\|.*?\| (\d+)/60 s of work \[(\d\d:\d\d)<(\d\d:\d\d)\], draw/\d\d"
    shown = re.findall(bar, printed)
    assert len(shown) > 3, printed
    assert [int(row[0]) for row in shown] == sorted(int(row[0]) for row in shown)
    assert "100%|" in printed


def test_a_restarted_bar_starts_where_the_run_was(tmp_path: Path) -> None:
    place = Place(tmp_path)
    with place.start() as process:
        while len(place.begun) < TASKS // 2:
            time.sleep(0.005)
        process.kill()
    first = re.search(r"\| (\d+)/60 s of work", place.finish())
    assert first is not None and int(first[1]) >= 25


def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, experiment: Small) -> bytes:
    """Run in this process, without a bar."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(running, "tqdm", Silent)
    paths = run("small", experiment, tmp_path / "out")
    assert paths == [tmp_path / "out" / "trial" / "small.json"]
    return paths[0].read_bytes()


class Silent:
    """A bar that shows nothing."""

    def __init__(self, **_: Any) -> None: ...

    def __enter__(self) -> Silent:
        return self

    def __exit__(self, *_: object) -> None: ...

    def update(self, _: float) -> None:
        """Nothing."""

    def set_postfix_str(self, _: str) -> None:
        """Nothing."""


def begun(experiment: Small) -> int:
    """How many tasks were begun so far."""
    return len(experiment.log.read_text().splitlines())


def test_bytes_and_places_are_those_of_every_run_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = alone(tmp_path, monkeypatch, Small(tmp_path / "log"))
    assert hashlib.sha256(made).hexdigest() == BYTES
    kept = tmp_path / "cache/specdec-sidechannels/runs/small/7692c3ad3540bb80"
    assert sorted(path.name for path in kept.iterdir()) == [f"draw.{i:02d}.json" for i in range(TASKS)]


def test_a_finished_run_does_no_task_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    small = Small(tmp_path / "log")
    first = alone(tmp_path, monkeypatch, small)
    assert alone(tmp_path, monkeypatch, small) == first
    assert begun(small) == TASKS


def test_another_key_does_all_tasks_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    alone(tmp_path, monkeypatch, Small(tmp_path / "log"))
    alone(tmp_path, monkeypatch, Small(tmp_path / "log", key="two"))
    assert begun(Small(tmp_path / "log")) == 2 * TASKS


def test_a_task_that_fails_keeps_those_before_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    small, whole = Small(tmp_path / "log"), store.write_text

    def full(path: Path, text: str) -> None:
        if path.name.endswith("11.json"):
            raise OSError(28, "No space left on device")
        whole(path, text)

    monkeypatch.setattr(store, "write_text", full)
    with pytest.raises(OSError, match="No space"):
        alone(tmp_path, monkeypatch, small)
    monkeypatch.setattr(store, "write_text", whole)
    alone(tmp_path, monkeypatch, small)
    assert begun(small) == TASKS + 1


def test_a_payload_can_be_recomputed_from_its_own_state(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone(tmp_path, monkeypatch, Small(tmp_path / "log"))
    read = store.read(tmp_path / "out" / "trial" / "small.json")
    assert isinstance(read, Measured) and read.state is not None
    table = Table.from_rows(read.state.columns, read.state.rows, root=7, resamples=500, level=0.95)
    share: Any = read.results["share"]
    again = compute(share.statistic.model_dump(exclude_none=True), table)
    assert [repr(again[end]) for end in ("value", "low", "high")] == [share.value, share.low, share.high]


def test_a_digest_of_sources_changes_with_any_of_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "ROOT", tmp_path)
    (tmp_path / "a").mkdir()
    seen = {source_digest(["a/*.py"])}
    for name, text in (("one.py", "1"), ("two.py", "1"), ("one.py", "2")):
        (tmp_path / "a" / name).write_text(text)
        seen.add(source_digest(["a/*.py"]))
    (tmp_path / "a" / "two.py").rename(tmp_path / "a" / "three.py")
    seen.add(source_digest(["a/*.py"]))
    assert len(seen) == 5
    assert source_digest(["a/*.py", "a/one.py"]) in seen


if __name__ == "__main__":
    print("started", flush=True)
    run("small", Small(Path(sys.argv[2]), pause=0.03), Path(sys.argv[1]))
