"""Whole numbers a cluster: summed over all clusters, over resamples, or over all but a few.

A cluster is known by its number in the whole record, so that payloads about the same prompts lose the
same ones. Shapes: G clusters counted here, m columns, B removals of n clusters each.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from engine.contract.errors import BadData
from engine.critic.draws import Floats, Integers

FEWEST = 3
EXACT = 2**53
"""Whole numbers below this are exact as doubles."""


class Rows:
    """A table (G, m) with the clusters of its rows."""

    def __init__(self, table: Floats, clusters: Sequence[int]) -> None:
        if len(table) < FEWEST:
            raise BadData(f"{len(table)} clusters", "are too few to judge.", "Collect more.")
        if float(np.abs(table).sum(axis=0).max()) * len(table) >= EXACT:
            raise BadData("the state", "is too large to be summed exactly.", "Scale it down.")
        self.table, self.clusters = table, tuple(clusters)
        self.total: Floats = table.sum(axis=0)
        self._padded = np.vstack([table, np.zeros_like(table[:1])])
        self._row = np.full(max(clusters) + 2, len(table))
        self._row[list(clusters)] = np.arange(len(table))

    def rows_of(self, removed: Integers) -> Integers:
        """The row of each cluster, any shape; one past the last for a cluster that is not counted here."""
        found: Integers = self._row[np.minimum(removed, len(self._row) - 1)]
        return found

    def without(self, removed: Integers) -> Floats:
        """Sums over all clusters but these, (B, n) → (B, m): the total less a few rows."""
        left = np.repeat(self.total[None, :], len(removed), axis=0)
        for rows in self.rows_of(removed).T:
            left -= self._padded[rows]
        return left

    def kept(self, removed: frozenset[int]) -> list[int]:
        """The rows of the clusters that are not removed."""
        return [row for row, cluster in enumerate(self.clusters) if cluster not in removed]
