"""A plain sum of state, and the spread of a ratio over seeds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from statistics import NormalDist
from typing import Any

import numpy as np

from engine.contract.errors import BadData
from engine.critic import draws
from engine.critic.draws import SEED, Floats, Integers
from engine.critic.interval import SIGMAS
from engine.critic.measure import Method
from engine.critic.rows import Rows

NORMAL_95 = NormalDist().inv_cdf(0.975)
STUDIES = 4000
"""Random studies behind a spread of small studies."""

FEWEST_STUDIES = 100
"""Below this many studies without a removed cluster a removal is not judged."""

STEPS = 2.0**40
"""Steps from zero to the largest square: in whole steps sums are exact, whatever their order."""

ROUNDED = 1e-6
"""Share of a spread by which its constant, kept to six decimals, may move it."""


class Sum:
    """A sum over clusters: `counted` (G,) whole numbers."""

    def __init__(self, counted: Integers, clusters: Sequence[int]) -> None:
        self._counted = counted
        columns = np.stack([np.ones(len(counted)), counted.astype(np.float64)], axis=1)
        self._rows = Rows(columns, clusters)

    @property
    def clusters(self) -> frozenset[int]:
        """The clusters that it counts."""
        return frozenset(self._rows.clusters)

    def part(self, name: str, seed: int = SEED, method: Method = "percentile") -> float:
        """See `Measure`."""
        return float(self._rows.total[_column(name)])

    def moved(self, name: str, removed: Integers) -> Floats:
        """See `Measure`."""
        sums = self._rows.without(removed)
        return np.where(2 * sums[:, 0] >= self._rows.total[0], sums[:, _column(name)], np.nan)

    def rest(self, removed: frozenset[int]) -> Sum:
        """See `Measure`."""
        kept = self._rows.kept(removed)
        return Sum(self._counted[kept], [self._rows.clusters[row] for row in kept])

    def fields(self) -> dict[str, Any]:
        """See `Measure`."""
        return {"value": int(self.part("value")), "clusters": int(self.part("clusters"))}

    def faults(self, committed: Mapping[str, Any]) -> list[str]:
        """See `Measure`."""
        return [
            f"{name} is committed as {committed[name]} and comes out as {made}"
            for name, made in self.fields().items()
            if name in committed and float(committed[name]) != made
        ]


def _column(name: str) -> int:
    if name not in ("clusters", "value"):
        raise BadData(name, "is no part of a sum or a spread.", "Name its value.")
    return int(name == "value")


class Spread:
    """Half width of a 95 % range of a ratio over seeds, in studies of `prompts` clusters.

    `above` and `below` (G, S), a column a seed. A removal takes away the studies that hold the cluster;
    where a study is all clusters, it is made again without it.
    """

    def __init__(
        self, above: Integers, below: Integers, clusters: Sequence[int], prompts: int, theirs: int
    ) -> None:
        self._above, self._below, self._theirs = above, below, theirs
        self._prompts = min(prompts, len(above))
        self._rows = Rows(np.hstack([np.ones((len(above), 1)), above, below]), clusters)
        self._member = draws.members(SEED, len(above), self._prompts, STUDIES)
        squares = self._variances(self._member @ self._rows.table)
        if not np.isfinite(squares).all():
            raise BadData("a seed", "has nothing in the denominator.", "Too few prompts count.")
        step = float(squares.max()) / STEPS or 1.0
        self._squares: Floats = np.round(squares / step)
        self._step = step

    @property
    def clusters(self) -> frozenset[int]:
        """The clusters that it counts."""
        return frozenset(self._rows.clusters)

    def part(self, name: str, seed: int = SEED, method: Method = "percentile") -> float:
        """See `Measure`."""
        if not _column(name):
            return float(self._prompts)
        return NORMAL_95 * float(np.sqrt(self._squares.sum() / len(self._squares) * self._step))

    def moved(self, name: str, removed: Integers) -> Floats:
        """See `Measure`."""
        sums = self._rows.without(removed)
        found = self._mean_square(removed, sums) if _column(name) else sums[:, 0]
        enough = 2 * sums[:, 0] >= self._rows.total[0]
        return np.where(enough, NORMAL_95 * np.sqrt(found) if _column(name) else found, np.nan)

    def _mean_square(self, removed: Integers, sums: Floats) -> Floats:
        """The mean variance over seeds of studies without the removed clusters, (B,)."""
        if self._prompts == len(self._above):
            return self._variances(sums)
        absent = np.vstack(
            [~self._member.T, np.ones((1, len(self._member)), dtype=np.bool_)]
        )  # (G + 1, studies)
        alive = absent[self._rows.rows_of(removed)].all(axis=1)  # (B, studies)
        studies = alive.sum(axis=1)
        with np.errstate(invalid="ignore"):
            found: Floats = (alive @ self._squares) / studies * self._step
        return np.where(studies >= FEWEST_STUDIES, found, np.nan)

    def _variances(self, sums: Floats) -> Floats:
        """Unbiased variance over seeds of the ratio, from sums (B, 1 + 2 S) → (B,), seed by seed."""
        seeds = self._above.shape[1]
        with np.errstate(divide="ignore", invalid="ignore"):
            ratios = list((sums[:, 1 : seeds + 1] / sums[:, seeds + 1 :]).T)
            mean = reduce(np.add, ratios) / seeds
            found: Floats = reduce(np.add, [(each - mean) ** 2 for each in ratios]) / (seeds - 1)
        return found

    def rest(self, removed: frozenset[int]) -> Spread:
        """See `Measure`."""
        kept = self._rows.kept(removed)
        prompts = len(kept) if self._prompts == len(self._above) else self._prompts
        clusters = [self._rows.clusters[row] for row in kept]
        return Spread(self._above[kept], self._below[kept], clusters, prompts, self._theirs)

    def fields(self) -> dict[str, Any]:
        """See `Measure`."""
        return {"value": self.part("value"), "clusters": self._prompts}

    def faults(self, committed: Mapping[str, Any]) -> list[str]:
        """See `Measure`. The studies are drawn afresh, so the spread may differ by what chance allows."""
        made, faults = self.part("value"), []
        slack = made * ROUNDED
        if len(self._squares) > 1:
            either = np.sqrt(1.0 / len(self._squares) + 1.0 / self._theirs)
            deviation = float(self._squares.std() * either / self._squares.mean() / 2)
            slack += SIGMAS * made * deviation
        if not abs(float(committed["value"]) - made) <= slack:
            faults.append(
                f"value is committed as {committed['value']} and must lie within {slack!r} of {made!r}"
            )
        if "clusters" in committed and int(committed["clusters"]) != self._prompts:
            faults.append(
                f"clusters is committed as {committed['clusters']} and comes out as {self._prompts}"
            )
        return faults
