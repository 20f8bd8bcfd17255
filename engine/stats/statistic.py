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
from engine.stats.bootstrap import Floats, Integers, Interval, difference, ratio, resample_weights

NORMAL_95 = 1.959964  # two-sided 95 % quantile of the normal law, six decimals
METHOD = "percentile prompt-cluster bootstrap"


@dataclass
class Table:
    """Named integer columns over clusters, and the resampling weights already drawn for them."""

    columns: Mapping[str, Integers]
    root: int
    resamples: int
    level: float
    _weights: dict[tuple[str, int], Floats] = field(default_factory=dict)

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
    return {
        "value": made.value,
        "low": made.percentile.low,
        "high": made.percentile.high,
        "level": table.level,
        "method": METHOD,
        "resamples": table.resamples,
        "clusters": made.clusters,
        "observations": made.observations,
        "bootstrap_t": _ends(made.bootstrap_t),
        "cluster_t": _ends(made.cluster_t),
    }


def _difference(statistic: Mapping[str, Any], table: Table) -> Fields:
    first, second = _parts(statistic, table), _parts(statistic["minus"], table)
    made = difference(first, second, table.weights(statistic["stream"], len(first[0])), table.level)
    return {
        "value": made.value,
        "low": made.percentile.low,
        "high": made.percentile.high,
        "level": table.level,
        "method": f"{METHOD}, paired",
        "resamples": table.resamples,
        "clusters": made.clusters,
        "observations": made.observations,
        "cluster_t": _ends(made.cluster_t),
    }


def _seed_spread(statistic: Mapping[str, Any], table: Table) -> Fields:
    """Half width of a 95 % range of the ratio over seeds, root-mean-square over random subsets of prompts."""
    above, below = (
        np.stack([table.column(name) for name in statistic[part]], axis=1)  # (G, seeds)
        for part in ("numerator", "denominator")
    )
    if above.shape[1] < 2 or above.shape != below.shape or not 0 < statistic["prompts"] <= len(above):
        raise BadData(
            f"{above.shape[1]} seeds of {len(above)} prompts",
            f"give no spread of studies of {statistic['prompts']}.",
            "Take two seeds or more, and no more prompts than there are.",
        )
    stream = Stream(table.root, statistic["stream"])
    squares = 0.0
    for _ in range(statistic["subsets"]):
        chosen = stream.permutation(len(above))[: statistic["prompts"]]
        observed = below[chosen].sum(axis=0)
        if observed.min() <= 0:
            raise BadData("a seed", "has nothing in the denominator.", "Too few prompts hold observations.")
        squares += float(_variance(above[chosen].sum(axis=0) / observed))
    return {
        "value": NORMAL_95 * float(np.sqrt(squares / statistic["subsets"])),
        "clusters": statistic["prompts"],
    }


def _variance(values: Floats) -> float:
    """Unbiased variance, summed in order so that every machine rounds alike."""
    total = 0.0
    for value in values:
        total += float(value)
    mean, squares = total / len(values), 0.0
    for value in values:
        squares += (float(value) - mean) * (float(value) - mean)
    return squares / (len(values) - 1)


def _parts(statistic: Mapping[str, Any], table: Table) -> tuple[Integers, Integers]:
    family = statistic.get("family")
    return table.total(statistic["numerator"], family), table.total(statistic["denominator"], family)


def _ends(interval: Interval | None) -> Fields | None:
    return None if interval is None else {"low": interval.low, "high": interval.high}


_KINDS = {"ratio": _ratio, "difference": _difference, "sum": _sum, "seed_spread": _seed_spread}
