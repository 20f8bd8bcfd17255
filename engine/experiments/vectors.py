"""Do the coder's bytes come out the same under every interpreter of this machine?

The one that runs the engine, the distribution's build and PyPy judge the vectors, each in a process of its
own. Other systems judge them in the hosted workflow, and hand in a receipt of their own.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from engine.coding.receipt import SOURCES, judged, receipt
from engine.contract.payload import Payload
from engine.run import Documents, Task, source_digest

INTERPRETERS = {"engine": sys.executable, "distribution": "/usr/bin/python3", "pypy": "pypy3"}


@dataclass(frozen=True)
class Vectors:
    """One task an interpreter, one payload."""

    @property
    def key(self) -> str:
        """The coder, the judge, the vectors."""
        return source_digest([*SOURCES, "engine/coding/vectors/*.json"])

    def tasks(self) -> list[Task]:
        """Judge under each interpreter."""
        return [
            Task(name, 5.0, partial(lambda command, _: judged(command), command))
            for name, command in INTERPRETERS.items()
        ]

    def payloads(self, documents: Documents) -> Sequence[Payload]:
        """The receipt of those that are here."""
        reports = {name: documents[name] for name in INTERPRETERS if documents[name]}
        absent = {name: "not installed where this was run" for name in INTERPRETERS if not documents[name]}
        return [receipt("tools/vectors", ["engine", "run", "lockstep-vectors"], reports, absent)]
