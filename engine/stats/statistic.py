"""From a statement of how a value follows from state to the value and its intervals.

A statement is the JSON object of `contract.payload.Statistic`, a table holds the committed state.
Used both by experiments, when they make a number, and by `engine check`, when it makes it again;
numpy alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from engine.contract.errors import BadData
from engine.contract.seeds import Stream
from engine.stats.bootstrap import (
    Estimate,
    Floats,
    Integers,
    Interval,
    difference,
    ratio,
    resample_weights,
)
from engine.stats.seeds import Runs, spread
from engine.stats.share import wilson

METHOD = "percentile prompt-cluster bootstrap"


@dataclass
class Table:
    """Named integer columns over clusters, and the resampling weights already drawn for them."""

    columns: Mapping[str, Integers]
    root: int
    resamples: int
    level: float
    _weights: dict[tuple[str, int], Floats] = field(default_factory=dict)
    _pairs: dict[tuple[Any, ...], Floats] = field(default_factory=dict)

    @classmethod
    def from_rows(
        cls, names: Sequence[str], rows: Sequence[Sequence[int]], *, root: int, resamples: int, level: float
    ) -> Table:
        """A table from the `state` of a payload."""
        grid = np.asarray(rows, dtype=np.int64)
        if grid.ndim != 2 or grid.shape[1] != len(names):
            raise BadData(
                "state", f"has rows of shape {grid.shape} for {len(names)} columns.", "Write it again."
            )
        return cls({name: grid[:, i] for i, name in enumerate(names)}, root, resamples, level)

    def weights(self, stream: str, clusters: int) -> Floats:
        """Resampling weights of a named stream, drawn once."""
        key = (stream, clusters)
        if key not in self._weights:
            self._weights[key] = resample_weights(clusters, self.resamples, Stream(self.root, stream))
        return self._weights[key]

    def pairs(self, statistic: Mapping[str, Any]) -> Floats:
        """Differences of runs that differ by seeds alone, drawn once for a stream and a size. (subsets,)"""
        sides = [tuple(statistic[side]) for side in ("numerator", "denominator")]
        key = (*sides, statistic["stream"], statistic["prompts"], statistic["subsets"])
        if key not in self._pairs:
            stream = Stream(self.root, statistic["stream"])
            self._pairs[key] = self.runs(statistic).differences(
                statistic["prompts"], statistic["subsets"], stream
            )
        return self._pairs[key]

    def runs(self, statistic: Mapping[str, Any]) -> Runs:
        """The runs of every prompt under every seed, one column a seed."""
        above, below = (
            np.stack([self.column(name) for name in statistic[part]], axis=1)
            for part in ("numerator", "denominator")
        )
        return Runs(above, below)

    def total(self, names: Sequence[str], family: int | None) -> Integers:
        """The sum of columns, a value a cluster, over all clusters or one family's. (G,)"""
        if not names:
            raise BadData("a statistic", "names no state column.", "Name those it adds up.")
        summed: Integers = np.sum([self.column(name) for name in names], axis=0)
        return summed if family is None else summed[self.column("family") == family]

    def column(self, name: str) -> Integers:
        """One column of the state. (G,)"""
        if name not in self.columns:
            raise BadData(
                f"state column {name!r}", "is not there.", "The payload does not hold its own state."
            )
        return self.columns[name]


Fields = dict[str, Any]


def compute(statistic: Mapping[str, Any], table: Table) -> Fields:
    """The fields of a payload leaf that follow from state: value, interval, counts."""
    return _KINDS[statistic["kind"]](statistic, table)


def _sum(statistic: Mapping[str, Any], table: Table) -> Fields:
    summed = table.total(statistic["numerator"], statistic.get("family"))
    return {"value": int(summed.sum()), "clusters": len(summed)}


def _ratio(statistic: Mapping[str, Any], table: Table) -> Fields:
    above, below = _parts(statistic, table)
    made = ratio(above, below, table.weights(statistic["stream"], len(above)), table.level)
    fields = _fields(made, table, METHOD) | {"bootstrap_t": _ends(made.bootstrap_t)}
    return fields | _more(statistic, {"bca": made.bca}) | {"cluster_t": _ends(made.cluster_t)}


def _difference(statistic: Mapping[str, Any], table: Table) -> Fields:
    first, second = _parts(statistic, table), _parts(statistic["minus"], table)
    made = difference(first, second, table.weights(statistic["stream"], len(first[0])), table.level)
    more = _more(statistic, {"bootstrap_t": made.bootstrap_t, "bca": made.bca})
    return _fields(made, table, f"{METHOD}, paired") | more | {"cluster_t": _ends(made.cluster_t)}


def _fields(made: Estimate, table: Table, method: str) -> Fields:
    return {
        "value": made.value,
        "low": made.percentile.low,
        "high": made.percentile.high,
        "level": table.level,
        "method": method,
        "resamples": table.resamples,
        "clusters": made.clusters,
        "observations": made.observations,
    }


def _more(statistic: Mapping[str, Any], found: Mapping[str, Interval | None]) -> Fields:
    """Intervals that a statistic has to ask for."""
    asked = statistic.get("intervals") == "all"
    return {name: _ends(interval) for name, interval in found.items()} if asked else {}


def _share(statistic: Mapping[str, Any], table: Table) -> Fields:
    """A share of independent trials, with Wilson's interval; the rows only group them."""
    above, below = _parts(statistic, table)
    held, trials = int(above.sum()), int(below.sum())
    made = wilson(held, trials, table.level)
    return {
        "value": held / trials,
        "low": made.low,
        "high": made.high,
        "level": table.level,
        "method": "Wilson interval of independent trials",
        "clusters": trials,
        "observations": trials,
    }


def _seed_spread(statistic: Mapping[str, Any], table: Table) -> Fields:
    stream = Stream(table.root, statistic["stream"])
    made = spread(table.runs(statistic), statistic["prompts"], statistic["subsets"], stream)
    return {"value": made, "clusters": statistic["prompts"]}


def _seed_difference(statistic: Mapping[str, Any], table: Table) -> Fields:
    """The half width within which `level` of the pairs of runs differ, by seeds alone."""
    away = np.sort(np.abs(table.pairs(statistic)))
    place = table.level * (len(away) - 1)
    below = min(int(place), len(away) - 2)
    value = float(away[below] + (place - below) * (away[below + 1] - away[below]))
    return {"value": value, "clusters": statistic["prompts"], "observations": len(away)}


def _seed_gain(statistic: Mapping[str, Any], table: Table) -> Fields:
    """The share of the pairs of runs that show a gain of `bar` or more, by seeds alone."""
    pairs = table.pairs(statistic)
    won = int((pairs >= float(statistic["bar"])).sum())
    return {"value": won / len(pairs), "clusters": statistic["prompts"], "observations": len(pairs)}


def _parts(statistic: Mapping[str, Any], table: Table) -> tuple[Integers, Integers]:
    family = statistic.get("family")
    return table.total(statistic["numerator"], family), table.total(statistic["denominator"], family)


def _ends(interval: Interval | None) -> Fields | None:
    return None if interval is None else {"low": interval.low, "high": interval.high}


_KINDS = {
    "ratio": _ratio,
    "difference": _difference,
    "sum": _sum,
    "share": _share,
    "seed_spread": _seed_spread,
    "seed_difference": _seed_difference,
    "seed_gain": _seed_gain,
}
