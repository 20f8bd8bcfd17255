"""`findings build` and `findings verify` against plain mkdocs of the same pages, whole processes, cold."""

from __future__ import annotations

import itertools
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from benchmarks import record
from benchmarks.measure import Ratio, paired, process

FINDINGS = 200
PAIRS = 3


def rows() -> list[Ratio]:
    """Building, and auditing what was built: a record of 200 findings with 20 numbers each."""
    with tempfile.TemporaryDirectory() as folder:
        ours, plain = Path(folder) / "ours", Path(folder) / "plain"
        record.write(ours, FINDINGS)
        record.write_plain(plain, ours)
        build = _build(ours, "generator", "build", "--out")
        their = _build(plain, "mkdocs", "build", "-q", "--site-dir")
        build()
        verify = process(sys.executable, "-m", "generator", "verify", "site-0", "--root", str(ours))
        peer = "plain mkdocs, numbers typed in"
        return [
            paired(f"building a site of {FINDINGS} findings, audited", peer, [(build, their)] * PAIRS),
            paired(f"auditing a site of {FINDINGS} findings", peer, [(verify, their)] * PAIRS),
        ]


def _build(root: Path, module: str, *arguments: str) -> Callable[[], object]:
    """A build into a folder that is not there yet; removing an older site is no part of it."""
    number = itertools.count()

    def work() -> None:
        command = [sys.executable, "-m", module, *arguments, f"site-{next(number)}"]
        subprocess.run(command, cwd=root, check=True, capture_output=True)

    return work
