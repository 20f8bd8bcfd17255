"""How `check`, `build` and `verify` grow with the record: `python -m benchmarks.sizes [FINDINGS...]`.

Whole processes, one at a time: seconds of the wall and of the processors, children too, and the most
memory. Between the cold and the warm build nothing changes; before the last check and build one finding
gets an erratum.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from benchmarks import record
from benchmarks.section import replace

SIZES = (10, 100, 1000, 5000)
COLUMNS = ("findings", "what", "wall", "processors", "most memory", "processors, of plain mkdocs")
HEADER = f"| {' | '.join(COLUMNS)} |\n|{'---|' * len(COLUMNS)}"


@dataclass(frozen=True)
class Cost:
    """Seconds by the clock, seconds of all processors, megabytes of the largest process."""

    wall: float
    processors: float
    memory: float


def cost(root: Path, *command: str) -> Cost:
    """What a command costs, its children with it; raises where it fails."""
    started = time.perf_counter()
    process = subprocess.Popen([sys.executable, "-m", *command], cwd=root, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    return Cost(time.perf_counter() - started, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)


def rows(findings: int) -> list[str]:
    """The rows of one size, each printed as it is measured."""
    with tempfile.TemporaryDirectory() as folder:
        ours, plain = Path(folder) / "ours", Path(folder) / "plain"
        record.write(ours, findings)
        record.write_plain(plain, ours)
        their = cost(plain, "mkdocs", "build", "-q")
        made = [
            ("check", cost(ours, "generator", "check")),
            ("build, cold", cost(ours, "generator", "build")),
            ("verify", cost(ours, "generator", "verify", "site")),
            ("build, warm", cost(ours, "generator", "build")),
        ]
        record.correct(ours, findings)
        made += [
            ("check after an erratum", cost(ours, "generator", "check")),
            ("build after an erratum", cost(ours, "generator", "build")),
        ]
    return [_row(findings, what, each, their) for what, each in made]


def _row(findings: int, what: str, each: Cost, their: Cost) -> str:
    times = f"{each.processors / their.processors:.2f} times {their.processors:.1f} s"
    cells = (f"{each.wall:.1f} s", f"{each.processors:.1f} s", f"{each.memory:.0f} MB", times)
    row = f"| {findings} | {what} | {' | '.join(cells)} |"
    print(row, flush=True)
    return row


def main(sizes: tuple[int, ...]) -> None:
    """Measure, and put the table into the README when all sizes were measured."""
    print(HEADER)
    found = [row for size in sizes for row in rows(size)]
    if sizes == SIZES:
        replace("sizes", "\n".join([HEADER, *found]))


if __name__ == "__main__":
    main(tuple(map(int, sys.argv[1:])) or SIZES)
