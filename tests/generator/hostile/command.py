"""Commands of findings: in this process, or in one of their own whose memory is measured."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from click.testing import CliRunner, Result

from generator.cli import main

_CHILD = """
import resource, sys
from generator.cli import main
try:
    main(sys.argv[1:])
finally:
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=sys.stderr)
"""


@dataclass(frozen=True)
class Done:
    """What a process printed, how it ended, and the most memory that it held, in megabytes."""

    code: int
    out: str
    error: str
    peak: int

    @property
    def refusals(self) -> list[str]:
        """The lines of the text form that refuse, without the closing count."""
        return [line for line in self.out.splitlines()[:-1] if ": warning: " not in line]


def call(*arguments: str | Path) -> Result:
    """A command in this process; an exception that it lets through is one of the test."""
    return CliRunner().invoke(main, [str(each) for each in arguments], catch_exceptions=False)


def measured(*arguments: str | Path) -> Done:
    """A command in a process of its own, started by a small one: what a parent held counts as its child's."""
    given = [sys.executable, "-c", _CHILD, *(str(each) for each in arguments)]
    command = ["sh", "-c", '"$@"; exit $?', "sh", *given]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=300)
    *error, peak = done.stderr.splitlines()
    return Done(done.returncode, done.stdout, "\n".join(error), int(peak) // 1024)
