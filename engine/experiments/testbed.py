"""How small a margin can a study of this size see, and does it see none where none is?

In a synthetic world with a known margin and gain whole studies are simulated: a reader is trained and scored
on held-out clusters beside its scrambled twin, and a draft is steered through the verifier. How many pass
the rule is the power curve.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import numpy as np

from engine.contract.errors import BadData
from engine.contract.payload import Leaf, Measured, Payload, State, Statistic, lexeme
from engine.contract.provenance import gather
from engine.contract.seeds import Stream
from engine.decode.verifier import Draws
from engine.experiments.acceptance import evaluate
from engine.experiments.settings import shown
from engine.observe.testbed import Harvest, Rounds, World, emitted, emitted_live, harvest, read
from engine.run import Documents, Task, source_digest
from engine.stats.bootstrap import Floats, Integers, ratio, resample_weights
from engine.stats.statistic import Table

SOURCES = [
    "engine/observe/testbed.py",
    "engine/experiments/testbed.py",
    "engine/stats/bootstrap.py",
    "engine/decode/verifier.py",
]
COUNTS = ("given", "above", "passed", "held")
READINGS = ("margin", "gain")


@dataclass(frozen=True)
class Settings:
    """The frozen configuration. Margins are in ten-thousandths of top-1 accuracy."""

    root: int = 20261130
    margins: tuple[int, ...] = (0, 25, 50, 75, 100, 150, 200, 300)
    train: int = 150
    clusters: tuple[int, ...] = (30, 210)
    positions: int = 127
    rounds: int = 40
    length: int = 4
    studies: int = 1000
    block: int = 50
    study_resamples: int = 1000
    resamples: int = 10_000
    level: float = 0.95
    margin_floor: float = 0.005
    gain_floor: float = 0.062


@dataclass(frozen=True)
class Reading:
    """One study: differences a cluster (G,), what they are over, and the planted value."""

    difference: Integers
    over: Integers
    planted: float
    floor: float

    def first(self, clusters: int) -> Reading:
        """The same study with its first clusters alone."""
        return Reading(self.difference[:clusters], self.over[:clusters], self.planted, self.floor)


def study(world: World, settings: Settings, name: str) -> dict[str, Reading]:
    """Margin and gain of one study with the largest number of clusters."""
    most = max(settings.clusters)
    plain, twin = hits(world, most, settings, name)
    stream = Stream(settings.root, f"{name}/rounds")
    steered, free = (
        emitted(world, Rounds.drawn(world, most, settings.rounds, settings.length, stream), steered=how).sum(
            axis=1
        )
        for how in (True, False)
    )
    each = np.ones(most, dtype=np.int64)
    return {
        "margin": Reading(plain - twin, each * settings.positions, world.margin, settings.margin_floor),
        "gain": Reading(
            steered - free, each * settings.rounds, world.gain(settings.length), settings.gain_floor
        ),
    }


def hits(world: World, clusters: int, settings: Settings, name: str) -> tuple[Integers, Integers]:
    """Hits a held-out cluster of the reader and of its twin, after training on clusters of their own."""
    taken: list[Harvest] = [
        harvest(world, count, settings.positions, Stream(settings.root, f"{name}/{part}"))
        for part, count in (("train", settings.train), ("held-out", clusters))
    ]
    return read(taken[0], taken[1], Stream(settings.root, f"{name}/scramble"))


def judged(reading: Reading, weights: Floats, level: float) -> list[int]:
    """The counts of `COUNTS` for one study; zeros where no interval can be given."""
    try:
        made = ratio(reading.difference, reading.over, weights, level)
    except BadData:
        return [0, 0, 0, 0]
    above = made.percentile.low > 0.0
    held = made.percentile.low <= reading.planted <= made.percentile.high
    return [1, int(above), int(above and made.value >= reading.floor), int(held)]


@dataclass
class Testbed:
    """The experiment: blocks of studies for every margin, one live study a margin, two payloads."""

    settings: Settings = Settings()
    __test__ = False

    @property
    def key(self) -> str:
        """Settings and the code of the world, its studies and the intervals."""
        return f"{asdict(self.settings)} {source_digest(SOURCES)}"

    @property
    def blocks(self) -> int:
        """How many blocks of studies a margin has."""
        return self.settings.studies // self.settings.block

    def tasks(self) -> list[Task]:
        """For every margin its blocks and its live study."""
        out = []
        for margin in self.settings.margins:
            out.append(Task(f"live/{margin}", 5.0, partial(self.live, margin=margin)))
            for block in range(self.blocks):
                out.append(
                    Task(f"power/{margin}/{block}", 2.0, partial(self.power, margin=margin, block=block))
                )
        return out

    def power(self, _: Documents, *, margin: int, block: int) -> list[int]:
        """The counts of one block: numbers of clusters, readings, `COUNTS`."""
        settings, world = self.settings, World.with_margin(margin / 10_000)
        total = np.zeros(len(settings.clusters) * len(READINGS) * len(COUNTS), dtype=np.int64)
        for turn in range(settings.block):
            name = f"testbed/{margin}/{block * settings.block + turn}"
            made, row = study(world, settings, name), []
            for clusters in settings.clusters:
                stream = Stream(settings.root, f"{name}/bootstrap/{clusters}")
                weights = resample_weights(clusters, settings.study_resamples, stream)
                for reading in READINGS:
                    row += judged(made[reading].first(clusters), weights, settings.level)
            total += row
        return [int(count) for count in total]

    def live(self, _: Documents, *, margin: int) -> list[list[int]]:
        """One study judged round by round by the verifier. A row a cluster: hits, twin's, steered, free."""
        settings, world = self.settings, World.with_margin(margin / 10_000)
        name, most = f"testbed/live/{margin}", max(settings.clusters)
        plain, twin = hits(world, most, settings, name)
        columns = [plain, twin]
        for how in ("steered", "free"):
            stream = Stream(settings.root, f"{name}/{how}/rounds")
            rounds = Rounds.drawn(world, most, settings.rounds, settings.length, stream)
            draws = Draws(settings.root, f"{name}/{how}/verifier")
            columns.append(emitted_live(world, rounds, draws, steered=how == "steered"))
        return [[int(value) for value in row] for row in np.stack(columns, axis=1)]

    def payloads(self, documents: Documents) -> Sequence[Payload]:
        """The power curve, and one study a margin with its planted values."""
        return [self._power(documents), self._study(documents)]

    def _power(self, documents: Documents) -> Measured:
        settings = self.settings
        columns, rows = ["cluster", "studies"], [[block, settings.block] for block in range(self.blocks)]
        for margin in settings.margins:
            columns += [
                f"m{margin}_g{clusters}_{reading}_{count}"
                for clusters in settings.clusters
                for reading in READINGS
                for count in COUNTS
            ]
            for block, row in enumerate(rows):
                row += documents[f"power/{margin}/{block}"]
        question = "How small a margin and how small a gain can a study of this size see?"
        return self._payload("testbed-power", question, columns, rows, list(power_statements(settings)))

    def _study(self, documents: Documents) -> Measured:
        settings = self.settings
        most = max(settings.clusters)
        columns = ["cluster", "positions", "rounds"]
        rows = [[index, settings.positions, settings.rounds] for index in range(most)]
        for margin in settings.margins:
            columns += [f"m{margin}_{name}" for name in ("hits", "twin", "steered", "free")]
            for row, counted in zip(rows, documents[f"live/{margin}"], strict=True):
                row += counted
        question = "Does a study find the margin and the gain that were planted?"
        return self._payload("testbed", question, columns, rows, list(study_statements(settings)))

    def _payload(
        self,
        name: str,
        question: str,
        columns: list[str],
        rows: list[list[int]],
        named: list[tuple[str, str, Statistic]],
    ) -> Measured:
        settings = self.settings
        table = Table.from_rows(
            columns, rows, root=settings.root, resamples=settings.resamples, level=settings.level
        )
        results, absent = evaluate(named, table)
        for margin in settings.margins:
            world = World.with_margin(margin / 10_000)
            at = results[f"margin_{margin}"]
            at["planted_margin"] = Leaf(value=lexeme(round(world.margin, 9)), unit="top-1 accuracy")
            planted = lexeme(round(world.gain(settings.length), 9))
            at["planted_gain"] = Leaf(value=planted, unit="tokens a check")
        return Measured(
            schema="specdec-sidechannels/payload/1",
            name=f"tools/{name}",
            question=question,
            regime={
                "world": "synthetic, independent positions, a stream that tells rarely and plainly",
                "reader": "tables of counts",
                "draft": "the best law given what it is told, blurred",
                "verifier": "ratio test",
            },
            config=_config(settings),
            seeds={"root": settings.root},
            provenance=gather(["engine", "run", "testbed"], packages=("numpy",), models=[], inputs=[]),
            results=results,
            absent=absent or None,
            state=State(columns=columns, rows=rows),
        )


def power_statements(settings: Settings) -> Iterator[tuple[str, str, Statistic]]:
    """Name, unit and statistic of every share of studies."""
    for margin in settings.margins:
        for clusters in settings.clusters:
            for reading in READINGS:
                for count in COUNTS:
                    statistic = Statistic(
                        kind="share",
                        numerator=[f"m{margin}_g{clusters}_{reading}_{count}"],
                        denominator=["studies"],
                        stream="none",
                    )
                    name = f"margin_{margin}.clusters_{clusters}.{reading}_{count}"
                    yield name, "share of studies", statistic


def study_statements(settings: Settings) -> Iterator[tuple[str, str, Statistic]]:
    """Name, unit and statistic of the estimates of one study a margin."""
    for margin in settings.margins:
        for name, unit, one, two, below in (
            ("margin", "top-1 accuracy", "hits", "twin", "positions"),
            ("gain", "tokens a check", "steered", "free", "rounds"),
        ):
            first, second = (
                Statistic(
                    kind="ratio", numerator=[f"m{margin}_{each}"], denominator=[below], stream="bootstrap"
                )
                for each in (one, two)
            )
            joined = first.model_copy(update={"kind": "difference", "minus": second, "intervals": "all"})
            yield f"margin_{margin}.{name}", unit, joined


def _config(settings: Settings) -> dict[str, Any]:
    return shown(settings) | {"sizes": {f"clusters_{size}": size for size in settings.clusters}}
