"""What is asked of a number that follows from state, whatever its kind."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, Protocol

from engine.critic.draws import SEED, Floats, Integers

Method = Literal["percentile", "bootstrap_t", "cluster_t"]


class Measure(Protocol):
    """A number made again from state: itself, itself without clusters, and against committed digits."""

    @property
    def clusters(self) -> frozenset[int]:
        """The clusters that it counts."""

    def part(self, name: str, seed: int = SEED, method: Method = "percentile") -> float:
        """Its value, a count, or an end of an interval; `method` says whose ends `low` and `high` are.

        Raises `BadData` where the clusters do not allow it.
        """

    def moved(self, name: str, removed: Integers) -> Floats:
        """A part without clusters: `removed` (B, n) → (B,), NaN where too little remains to judge."""

    def rest(self, removed: frozenset[int]) -> Measure:
        """What remains as a measure of its own, to be resampled afresh; `BadData` where too little does."""

    def fields(self) -> dict[str, Any]:
        """What a payload holds of it, as plain numbers."""

    def faults(self, committed: Mapping[str, Any]) -> list[str]:
        """Each field of a committed leaf that this does not allow, in words."""
