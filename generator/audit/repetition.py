"""Markup that left no trace on one page, so that it need not be read again on the next.

A theme prints the same header, navigation and footer on every page. A run of markup is remembered once it
was read without any consequence; runs that follow each other on several pages are remembered as one.
"""

from __future__ import annotations

from dataclasses import dataclass, field

LIMIT = 50_000
"""Runs and joined runs that are remembered."""

SHORTEST = 300
"""Characters of the shortest joined run that saves more than it costs."""


@dataclass
class Repetition:
    """Runs without consequence, each with the number of navigation elements that it leaves open."""

    runs: dict[str, int] = field(default_factory=dict)
    joined: dict[str, list[tuple[str, int]]] = field(default_factory=dict)

    def remember(self, run: str, depth: int) -> None:
        if len(self.runs) < LIMIT:
            self.runs[run] = depth

    def join(self, first: str, runs: str, depth: int) -> None:
        """Note that known runs stood in a row, the first of them given."""
        known = self.joined.setdefault(first, [])
        if len(runs) >= SHORTEST and len(known) < 8 and len(self.joined) < LIMIT:
            known.append((runs, depth))
            known.sort(key=lambda each: -len(each[0]))

    def ahead(self, run: str, html: str, start: int) -> tuple[int, int]:
        """Length and depth of the longest known row of runs that starts with a known run at a place."""
        for runs, depth in self.joined.get(run, ()):
            if html.startswith(runs, start):
                return len(runs), depth
        return len(run), self.runs[run]


@dataclass
class Row:
    """Known runs in a row on the page that is being read."""

    start: int = 0
    first: str = ""
    depth: int = 0

    def add(self, run: str, start: int, depth: int) -> None:
        if not self.first:
            self.start, self.first, self.depth = start, run, 0
        self.depth += depth

    def end(self, html: str, stop: int, repetition: Repetition) -> None:
        if self.first and stop > self.start:
            repetition.join(self.first, html[self.start : stop], self.depth)
        self.first = ""
