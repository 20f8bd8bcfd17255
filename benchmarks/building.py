"""`findings build` against plain mkdocs of the same pages, whole processes, cold."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from benchmarks import record
from benchmarks.measure import Ratio, paired

FINDINGS = 200
PAIRS = 3


def rows() -> list[Ratio]:
    """One row: a record of 200 findings with 20 numbers each."""
    with tempfile.TemporaryDirectory() as folder:
        ours, plain = Path(folder) / "ours", Path(folder) / "plain"
        record.write(ours, FINDINGS)
        record.write_plain(plain, FINDINGS)
        pairs = [(_build(ours, "generator", "build"), _build(plain, "mkdocs", "build", "-q"))] * PAIRS
        what = f"building a site of {FINDINGS} findings, audited"
        return [paired(what, "plain mkdocs, numbers typed in", pairs)]


def _build(root: Path, module: str, *arguments: str) -> Callable[[], object]:
    def work() -> None:
        shutil.rmtree(root / "site", ignore_errors=True)
        command = [sys.executable, "-m", module, *arguments]
        subprocess.run(command, cwd=root, check=True, capture_output=True)

    return work
