"""A fault as it is planted, and what must come of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from generator.report.refusal import Refusal


@dataclass(frozen=True)
class Fault:
    """Files as the fault leaves them, by path in the copy, and the refusals that are due for them.

    `due` says how many refusals of each code there must be, `barred` which codes must not be there: a
    fault that something cheaper gives away proves nothing about the check it was made for.
    """

    kind: str
    path: str
    line: int
    what: str
    due: Mapping[str, int]
    changes: Mapping[str, str]
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
