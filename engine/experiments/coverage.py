"""How often does each kind of interval hold the truth?

Studies are simulated from a known law, every study with resamples of its own, and each interval of each is
asked whether it holds the true value. Blocks of studies are the tasks, and the rows of the state.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.contract.payload import Measured, Payload, State, Statistic
from engine.contract.provenance import gather
from engine.contract.seeds import Stream
from engine.experiments.acceptance import evaluate
from engine.experiments.settings import shown
from engine.run import Documents, Task, source_digest
from engine.stats.bootstrap import Estimate, Floats, Integers, Interval, difference, ratio, resample_weights
from engine.stats.statistic import Table

SHAPES = ("equal", "skewed", "paired")
METHODS = ("percentile", "bootstrap_t", "bca", "cluster_t")
COUNTS = ("given", "held", "too_low", "width")
WIDTHS = 10_000
"""Widths are counted in ten-thousandths, so that their squares are summed exactly."""
SCALE = 100
"""What is above the line is counted in hundredths, so that rounding it moves no truth."""


@dataclass(frozen=True)
class Settings:
    """The frozen configuration."""

    root: int = 20261130
    clusters: tuple[int, ...] = (10, 30, 84, 210)
    studies: int = 2000
    block: int = 20
    study_resamples: int = 2000
    resamples: int = 10_000
    level: float = 0.95
    equal_size: int = 120
    smallest: int = 30
    largest: int = 300


@dataclass(frozen=True)
class Study:
    """One simulated study of every shape: counts a cluster (G,)."""

    normal: Integers
    equal_below: Integers
    first: Integers
    second: Integers
    below: Integers


def simulate(clusters: int, stream: Stream, settings: Settings) -> Study:
    """Cluster totals: normal ones of equal size, and skewed ones of uneven size in correlated pairs.

    Equal: a cluster's ratio is normal with mean 1 and standard deviation 1/4. Skewed: sizes are uniform, a
    cluster's ratio is exponential with mean 1; the second of a pair is half the first and half another.
    """
    angle, radius, own, other = (stream.uniform(clusters) for _ in range(4))
    bell = np.sqrt(-2.0 * np.log1p(-radius)) * np.cos(2.0 * np.pi * angle)
    size = settings.smallest + stream.below(settings.largest - settings.smallest + 1, clusters)
    one, two = -np.log1p(-own), -np.log1p(-other)
    return Study(
        normal=_whole(settings.equal_size * (1.0 + bell / 4.0)),
        equal_below=np.full(clusters, settings.equal_size * SCALE, dtype=np.int64),
        first=_whole(size * one),
        second=_whole(size * (one + two) / 2.0),
        below=size * SCALE,
    )


TRUTH = {"equal": 1.0, "skewed": 1.0, "paired": 0.0}


def _whole(values: NDArray[Any]) -> Integers:
    return np.round(values * SCALE).astype(np.int64)


def estimates(study: Study, weights: Floats, level: float) -> dict[str, Estimate]:
    """The estimate of every shape, over the same resamples."""
    first, second = (study.first, study.below), (study.second, study.below)
    return {
        "equal": ratio(study.normal, study.equal_below, weights, level),
        "skewed": ratio(*first, weights, level),
        "paired": difference(first, second, weights, level),
    }


def judged(interval: Interval | None, truth: float) -> list[int]:
    """The counts of `COUNTS` for one interval; zeros where it is not given."""
    if interval is None:
        return [0, 0, 0, 0]
    held, width = interval.low <= truth <= interval.high, interval.high - interval.low
    return [1, int(held), int(interval.high < truth), round(width * WIDTHS)]


@dataclass
class Coverage:
    """The experiment: a task a number of clusters and block of studies, one payload."""

    settings: Settings = Settings()

    @property
    def key(self) -> str:
        """Settings and the code of studies and intervals."""
        code = source_digest(
            ["engine/stats/bootstrap.py", "engine/contract/seeds.py", "engine/experiments/coverage.py"]
        )
        return f"{asdict(self.settings)} {code}"

    @property
    def blocks(self) -> int:
        """How many blocks of studies there are."""
        return self.settings.studies // self.settings.block

    def tasks(self) -> list[Task]:
        """Ten blocks a task, for every number of clusters."""
        return [
            Task(f"{clusters}/{first}", clusters / 40, partial(self.work, clusters=clusters, first=first))
            for clusters in self.settings.clusters
            for first in range(0, self.blocks, 10)
        ]

    def work(self, _: Documents, *, clusters: int, first: int) -> list[list[int]]:
        """The counts of up to ten blocks, a row a block: shapes, methods, `COUNTS`."""
        last = min(first + 10, self.blocks)
        return [self.block(clusters, index) for index in range(first, last)]

    def block(self, clusters: int, index: int) -> list[int]:
        """The counts of one block, added up over its studies."""
        settings, total = self.settings, np.zeros(len(SHAPES) * len(METHODS) * len(COUNTS), dtype=np.int64)
        for turn in range(settings.block):
            name = f"coverage/{clusters}/{index * settings.block + turn}"
            study = simulate(clusters, Stream(settings.root, f"{name}/study"), settings)
            weights = resample_weights(
                clusters, settings.study_resamples, Stream(settings.root, f"{name}/bootstrap")
            )
            made = estimates(study, weights, settings.level)
            total += np.concatenate(
                [judged(getattr(made[shape], method), TRUTH[shape]) for shape in SHAPES for method in METHODS]
            )
        return [int(count) for count in total]

    def payloads(self, documents: Documents) -> Sequence[Payload]:
        """One payload: a share for every number of clusters, shape and method."""
        settings = self.settings
        columns = ["cluster", "studies"]
        rows = [[index, settings.block] for index in range(self.blocks)]
        for clusters in settings.clusters:
            columns += [f"g{clusters}_{s}_{m}_{count}" for s in SHAPES for m in METHODS for count in COUNTS]
            for index, row in enumerate(rows):
                row += documents[f"{clusters}/{index // 10 * 10}"][index % 10]
        table = Table.from_rows(
            columns, rows, root=settings.root, resamples=settings.resamples, level=settings.level
        )
        results, absent = evaluate(list(statements(settings)), table)
        return [
            Measured(
                schema="specdec-sidechannels/payload/1",
                name="tools/coverage",
                question="How often does each kind of interval hold the truth?",
                regime={
                    "studies": "simulated",
                    "equal": "clusters of one size, normal ratios",
                    "skewed": "sizes from uneven to tenfold, exponential ratios",
                    "paired": "differences of correlated skewed ratios",
                },
                config=_config(settings),
                seeds={"root": settings.root},
                provenance=gather(["engine", "run", "coverage"], packages=("numpy",), models=[], inputs=[]),
                results=results,
                absent=absent or None,
                state=State(columns=columns, rows=rows),
            )
        ]


def statements(settings: Settings) -> Iterator[tuple[str, str, Statistic]]:
    """Name, unit and statistic of every number."""
    for clusters in settings.clusters:
        for shape in SHAPES:
            base = f"g{clusters}_{shape}_percentile_width"
            for method in METHODS:
                at, place = f"g{clusters}_{shape}_{method}", f"{shape}.clusters_{clusters}.{method}"
                for name, column in (("coverage", "held"), ("too_low", "too_low")):
                    yield f"{place}.{name}", "share of studies", _share(f"{at}_{column}", "studies")
                yield f"{place}.given", "share of studies", _share(f"{at}_given", "studies")
                if method != "percentile":
                    yield (
                        f"{place}.width",
                        "ratio",
                        Statistic(
                            kind="ratio", numerator=[f"{at}_width"], denominator=[base], stream="widths"
                        ),
                    )


def _share(above: str, below: str) -> Statistic:
    return Statistic(kind="share", numerator=[above], denominator=[below], stream="none")


def _config(settings: Settings) -> dict[str, Any]:
    sizes = {f"clusters_{size}": size for size in settings.clusters}
    return shown(settings) | {"sizes": sizes}
