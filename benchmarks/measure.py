"""Time two ways of doing the same thing by turns, and report the ratio."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median


@dataclass(frozen=True)
class Ratio:
    """How a peer's time compares with ours: above one, ours is faster."""

    what: str
    peer: str
    ours_seconds: float
    peer_seconds: float
    ratio: float
    lowest: float
    highest: float
    pairs: int

    def row(self) -> str:
        """One row of the Markdown table."""
        return (
            f"| {self.what} | {self.peer} | {self.ours_seconds:.3f} s | {self.peer_seconds:.3f} s "
            f"| **{self.ratio:.2f}** ({self.lowest:.2f} to {self.highest:.2f}, {self.pairs} pairs) |"
        )


HEADER = "| what | peer | ours, median | peer, median | peer / ours, median (range) |\n|---|---|---|---|---|"


def paired(what: str, peer: str, pairs: Sequence[tuple[Callable[[], object], Callable[[], object]]]) -> Ratio:
    """Run each pair (ours, peer), the order changing from pair to pair; medians of times and of ratios."""
    ours: list[float] = []
    peers: list[float] = []
    for index, (our, their) in enumerate(pairs):
        for ours_now in (True, False) if index % 2 == 0 else (False, True):
            (ours if ours_now else peers).append(seconds(our if ours_now else their))
    ratios = [theirs / our for our, theirs in zip(ours, peers, strict=True)]
    return Ratio(
        what, peer, median(ours), median(peers), median(ratios), min(ratios), max(ratios), len(ratios)
    )


def seconds(work: Callable[[], object]) -> float:
    """Wall-clock seconds of one call."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def process(*command: str) -> Callable[[], object]:
    """A whole process as a piece of work."""
    return lambda: subprocess.run(command, check=True, capture_output=True)
