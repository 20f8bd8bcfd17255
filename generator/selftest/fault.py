"""A fault as it is planted, and what must come of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from generator.report.refusal import Refusal


def made(files: Mapping[str, str]) -> Callable[[], Mapping[str, str]]:
    """Files whose texts are known already, as the changes of a fault."""
    return lambda: files


@dataclass(frozen=True)
class Fault:
    """What a fault makes of files of the copy, by path, and the refusals that are due for it.

    `changes` makes the files when the fault is planted: faults are many, and pages long. `due` says how many
    refusals of each code there must be, `barred` which codes must not be there: a fault that something
    cheaper gives away proves nothing about the check it was made for.
    """

    kind: str
    path: str
    line: int
    what: str
    due: Mapping[str, int]
    changes: Callable[[], Mapping[str, str]]
    barred: frozenset[str] = frozenset()

    def miss(self, refusals: list[Refusal]) -> str:
        """How the refusals fall short, in one line; empty where the fault was caught."""
        codes = [each.code for each in refusals]
        absent = [code for code, count in self.due.items() if codes.count(code) < count]
        given_away = sorted(self.barred.intersection(codes))
        if not absent and not given_away:
            return ""
        found = ", ".join(sorted(set(codes))) or "nothing"
        wanted = " and ".join(f"{count} × {code}" for code, count in self.due.items())
        return f"{self.path}:{self.line}: missed: {self.kind}: {self.what}: due {wanted}, found {found}"
