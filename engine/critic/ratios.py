"""A ratio of sums over clusters, or one such ratio less another: value, three intervals, removals.

The standard error is that of the linearised ratio, clusters taken whole (Cochran 1977, 6.3; Cameron,
Gelbach, Miller 2008). Shapes: G clusters, R resamples, B removals, k = 2 or 4 columns.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from engine.contract.errors import BadData
from engine.critic import draws, interval, student
from engine.critic.draws import RESAMPLES, SEED, Floats, Integers
from engine.critic.interval import Interval
from engine.critic.measure import Method
from engine.critic.rows import Rows

ROUNDING = 2.0**-45
"""Share of the terms of a variance below which their sum is rounding, not spread."""

ROBUST_SLACK = 1e-6
"""Share of the half width by which two quantiles of Student's t may differ in rounding."""

METHOD = "percentile prompt-cluster bootstrap, the critic's own draws"
COUNTS = {"clusters": 0, "observations": 2}
METHODS: tuple[Method, ...] = ("bootstrap_t", "cluster_t")


class Ratios:
    """`columns` (G, 2): above and below the line; (G, 4): also those of the ratio taken away."""

    def __init__(self, columns: Integers, clusters: Sequence[int], level: float, theirs: int) -> None:
        if (columns[:, 1::2] < 0).any():
            raise BadData("the state", "is negative below a line.", "Count observations.")
        self._columns, self._level, self._theirs = columns, level, theirs
        counted = columns.astype(np.float64)
        products = (counted[:, :, None] * counted[:, None, :]).reshape(len(columns), -1)
        self._rows = Rows(np.hstack([np.ones((len(columns), 1)), counted, products]), clusters)
        self._k = columns.shape[1]
        self.value = float(self._values(self._rows.total[None, :])[0])
        self.error = float(self._errors(self._rows.total[None, :])[0])
        self._made: dict[tuple[Method, int], Interval] = {}
        if not np.isfinite(self.value):
            raise BadData("the denominator", "sums to zero.", "There is nothing to judge.")

    @property
    def clusters(self) -> frozenset[int]:
        """The clusters that it counts."""
        return frozenset(self._rows.clusters)

    def part(self, name: str, seed: int = SEED, method: Method = "percentile") -> float:
        """See `Measure`."""
        if name == "value":
            return self.value
        if name in COUNTS:
            return float(self._rows.total[COUNTS[name]])
        owner, _, end = name.rpartition(".")
        named: dict[str, Method] = {"": method, "bootstrap_t": "bootstrap_t", "cluster_t": "cluster_t"}
        found = self.interval(named[owner], seed)
        return found.low if end == "low" else found.high

    def moved(self, name: str, removed: Integers) -> Floats:
        """See `Measure`. An end keeps its distance from the value, in cluster-robust standard errors."""
        sums = self._rows.without(removed)
        if name in COUNTS:
            found = sums[:, COUNTS[name]]
        else:
            found = self._values(sums)
            if name != "value":
                found = found + (self.part(name) - self.value) / self.error * self._errors(sums)
        enough = (2 * sums[:, 0] >= self._rows.total[0]) & np.isfinite(found)
        return np.where(enough, found, np.nan)

    def rest(self, removed: frozenset[int]) -> Ratios:
        """See `Measure`."""
        kept = self._rows.kept(removed)
        clusters = [self._rows.clusters[row] for row in kept]
        return Ratios(self._columns[kept], clusters, self._level, self._theirs)

    def interval(self, method: Method, seed: int = SEED) -> Interval:
        """The interval by a method, made once; `BadData` where the clusters do not allow it."""
        if (method, seed) not in self._made:
            self._made[method, seed] = self._interval(method, seed)
        return self._made[method, seed]

    def _interval(self, method: Method, seed: int) -> Interval:
        clusters = len(self._columns)
        if not self.error > 0.0:
            raise BadData("every cluster", "has the same ratio.", "There is no interval to judge.")
        if method == "cluster_t":
            half = student.quantile(self._level, clusters - 1) * self.error
            return interval.around(self.value, half, ROBUST_SLACK)
        sums = draws.weights(seed, clusters) @ self._rows.table
        values = self._values(sums)
        if not np.isfinite(values).all():
            raise BadData("a resample", "has nothing in a denominator.", "Too few clusters count.")
        if method == "percentile":
            return interval.percentile(values, self._level, self._theirs)
        errors = self._errors(sums)
        if not (errors > 0.0).all():
            raise BadData("a resample", "has no spread.", "There is no bootstrap-t interval.")
        studied = interval.percentile((values - self.value) / errors, self._level, self._theirs)
        return studied.flipped(self.value, self.error)

    def _values(self, sums: Floats) -> Floats:
        """Ratios, or their difference, from sums (B, 1 + k + k²) → (B,)."""
        with np.errstate(divide="ignore", invalid="ignore"):
            ratios = sums[:, 1 : self._k + 1 : 2] / sums[:, 2 : self._k + 1 : 2]
        found: Floats = ratios[:, 0] - ratios[:, 1] if self._k == 4 else ratios[:, 0]
        return found

    def _errors(self, sums: Floats) -> Floats:
        """Standard errors from the same sums: the square of what each cluster adds to the error, summed."""
        k, squares, size = self._k, np.zeros(len(sums)), np.zeros(len(sums))
        with np.errstate(divide="ignore", invalid="ignore"):
            slopes = self._slopes(sums)
            for a in range(k):
                for b in range(k):
                    term = slopes[a] * slopes[b] * sums[:, 1 + k + a * k + b]
                    squares, size = squares + term, size + np.abs(term)
            squares = np.where(squares > ROUNDING * size, squares, 0.0)
            errors: Floats = np.sqrt(squares * (sums[:, 0] / (sums[:, 0] - 1.0)))
        return errors

    def _slopes(self, sums: Floats) -> list[Floats]:
        """How the value moves with each of the k sums."""
        slopes: list[Floats] = []
        for at in range(1, self._k + 1, 2):
            sign, above, below = (1.0 if at == 1 else -1.0), sums[:, at], sums[:, at + 1]
            slopes += [sign / below, -sign * above / (below * below)]
        return slopes

    def fields(self) -> dict[str, Any]:
        """See `Measure`."""
        made = self.interval("percentile")
        fields: dict[str, Any] = {"value": self.value, "low": made.low, "high": made.high}
        fields |= {"level": self._level, "method": METHOD, "resamples": RESAMPLES}
        fields |= {name: int(self.part(name)) for name in COUNTS}
        for method in METHODS:
            try:
                other = self.interval(method)
            except BadData:
                continue
            fields[method] = {"low": other.low, "high": other.high}
        return fields

    def faults(self, committed: Mapping[str, Any]) -> list[str]:
        """See `Measure`. Point values and counts exactly, ends within what chance allows."""
        found = []
        for name in ("value", *COUNTS):
            if name in committed and float(committed[name]) != self.part(name):
                found.append(f"{name} is committed as {committed[name]} and comes out as {self.part(name)!r}")
        for method in ("percentile", *METHODS):
            ends = committed if method == "percentile" else committed.get(method, {})
            if "low" in ends and "high" in ends:
                found += self._end_faults(method, ends)
        return found

    def _end_faults(self, method: Method, ends: Mapping[str, Any]) -> list[str]:
        try:
            made = self.interval(method)
        except BadData as error:
            return [f"a {method} interval is committed and cannot be made: {error.place} {error.problem}"]
        bands = {"low": made.low_band, "high": made.high_band}
        return [
            f"{method} {end} is committed as {ends[end]} and must lie in {low!r} … {high!r}"
            for end, (low, high) in bands.items()
            if not low <= float(ends[end]) <= high
        ]
