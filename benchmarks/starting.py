"""Whole processes of the quick commands, against `python -c "import numpy"`."""

from __future__ import annotations

import sys

from benchmarks.measure import Ratio, paired, process

PAIRS = 7
COMMANDS = {
    "engine check F-01": ("-m", "engine.check", "F-01"),
    "engine check, one payload": ("-m", "engine.check", "acceptance/draft-greedy"),
    "engine --help": ("-m", "engine", "--help"),
    "findings check": ("-m", "generator", "check"),
}


def rows() -> list[Ratio]:
    """One row a command, on this repository's record."""
    peer = process(sys.executable, "-c", "import numpy")
    return [
        paired(what, 'python -c "import numpy"', [(process(sys.executable, *command), peer)] * PAIRS)
        for what, command in COMMANDS.items()
    ]
