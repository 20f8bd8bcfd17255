"""Seconds from a save to the page that shows it: `python -m benchmarks.serving [FINDINGS...]`.

`findings serve` beside `mkdocs serve` of the same pages with the numbers typed in. The saves follow each
other at once, so that all but the first come while the whole site is being built.
"""

from __future__ import annotations

import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median

from benchmarks import record
from benchmarks.section import replace

SIZES = (100, 1000)
SAVES = 7
PATIENCE = 600
HEADER = (
    "| findings | ours, median (range) | mkdocs serve, median (range) | mkdocs / ours |\n|---|---|---|---|"
)


@contextmanager
def served(root: Path, module: str, option: str) -> Iterator[str]:
    """The address at which a command serves a folder."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        host = f"127.0.0.1:{probe.getsockname()[1]}"
    command = [sys.executable, "-m", module, "serve", option, host]
    with subprocess.Popen(command, cwd=root, stderr=subprocess.DEVNULL) as process:
        try:
            yield f"http://{host}/"
        finally:
            process.terminate()


def until(address: str, text: str) -> None:
    """Wait until a page holds a text; raises TimeoutError."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        try:
            with urllib.request.urlopen(address, timeout=PATIENCE) as page:
                if text in page.read().decode():
                    return
        except OSError:
            pass  # not up yet
        time.sleep(0.02)
    raise TimeoutError(f"{address} did not come to show {text!r}.")


def waits(root: Path, file: Path, module: str, option: str) -> list[float]:
    """Seconds from each of several saves of the page of the last finding until it is served."""
    with served(root, module, option) as address:
        page = f"{address}findings/{file.stem}.html"
        until(page, "<html")
        text, found = file.read_text("utf-8"), []
        for save in range(SAVES):
            words = f"Saved for the {'again ' * save}time."
            file.write_text(f"{text}\n\n{words}\n", "utf-8")
            started = time.monotonic()
            until(page, words)
            found.append(time.monotonic() - started)
        return found


def row(findings: int) -> str:
    """One size, printed as it is measured."""
    with tempfile.TemporaryDirectory() as folder:
        ours, plain = Path(folder) / "ours", Path(folder) / "plain"
        record.write(ours, findings)
        record.write_plain(plain, ours)
        name = f"F-{findings}.md"
        own = waits(ours, ours / "findings" / name, "generator", "--address")
        their = waits(plain, next(plain.rglob(name)), "mkdocs", "--dev-addr")
    told = [f"{median(each):.2f} s ({min(each):.2f} to {max(each):.2f})" for each in (own, their)]
    line = f"| {findings} | {' | '.join(told)} | **{median(their) / median(own):.1f}** |"
    print(line, flush=True)
    return line


def main(sizes: tuple[int, ...]) -> None:
    """Measure, and put the table into the README when all sizes were measured."""
    print(HEADER)
    found = [row(size) for size in sizes]
    if sizes == SIZES:
        replace("serving", "\n".join([HEADER, *found]))


if __name__ == "__main__":
    main(tuple(map(int, sys.argv[1:])) or SIZES)
