"""What was planted, what was caught, and what was missed."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field


@dataclass
class Tally:
    """How many faults were planted and caught, and the misses, each with its place."""

    planted: Counter[str] = field(default_factory=Counter)
    caught: Counter[str] = field(default_factory=Counter)
    misses: list[str] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)

    def add(self, kind: str, miss: str) -> None:
        """Count one fault; an empty miss says that it was caught."""
        self.planted[kind] += 1
        self.caught[kind] += not miss
        self.misses.extend([miss] if miss else [])

    def __iadd__(self, other: Tally) -> Tally:
        self.planted += other.planted
        self.caught += other.caught
        self.misses += other.misses
        self.left_out += other.left_out
        return self

    def holds(self, at_least: int) -> bool:
        """Whether every fault was caught, and there were enough."""
        return not self.misses and self.planted.total() >= at_least

    def rows(self) -> list[str]:
        """A line for each kind of fault."""
        return [
            f"{count:6} planted {self.caught[kind]:6} caught   {kind}" for kind, count in self.planted.items()
        ]

    def told(self, at_least: int) -> str:
        """What was left out, every miss, and the sum."""
        lines = [f"{count:6} left out: {what}" for what, count in self.left_out.items()]
        lines += self.misses
        if self.planted.total() < at_least:
            lines.append(f"At least {at_least} faults have to be planted.")
        return "\n".join([*lines, f"{self.planted.total()} faults planted, {self.caught.total()} caught"])
