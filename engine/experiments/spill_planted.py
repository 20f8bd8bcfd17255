"""How small an excess can this design see? Whole synthetic studies with a planted leak.

Both sides of a study carry their prompt's own pattern in some rounds, as token lengths do without any
speculation; the other side carries it in `share` of the rounds more.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from engine.contract.payload import Leaf, Measured, Rehearsal, State, Statistic, lexeme
from engine.contract.provenance import gather
from engine.contract.seeds import Stream
from engine.experiments.acceptance import evaluate
from engine.experiments.settings import command, shown
from engine.experiments.spill_listener import schema
from engine.run import Documents
from engine.spill.attack import Forest, Traces, folds, rotate
from engine.stats.bootstrap import difference, resample_weights
from engine.stats.statistic import Table

if TYPE_CHECKING:
    from engine.experiments.spill_attack import SpillAttack


@dataclass(frozen=True)
class Study:
    """The size of a study, the base leak of both sides, and the shares of rounds that are planted."""

    studies: int = 20
    prompts: int = 50
    runs: int = 35
    test: int = 5
    folds: int = 7
    rounds: int = 48
    values: int = 5
    base_share: float = 0.1
    shares: tuple[float, ...] = (0.05, 0.1, 0.15, 0.2, 0.3)
    resamples: int = 2_000
    level: float = 0.95

    @property
    def all_shares(self) -> tuple[float, ...]:
        """None planted, then each share."""
        return (0.0, *self.shares)

    def quick(self) -> Study:
        """A few small studies."""
        return replace(self, studies=2, prompts=10, runs=8, test=2, folds=1, shares=(0.3,), resamples=200)

    def traces(self, share: float, patterns: Any, stream: Stream) -> Traces:
        """Traces that carry their prompt's pattern in `share` of the rounds."""
        shape = (self.prompts, self.runs, self.rounds)
        noise = stream.below(self.values, int(np.prod(shape))).reshape(shape) + 1
        own = stream.uniform(int(np.prod(shape))).reshape(shape) < share
        vectors = np.where(own, patterns[:, None, :], noise).reshape(-1, self.rounds)
        labels = np.repeat(np.arange(self.prompts), self.runs)
        return Traces(vectors, labels, np.tile(np.arange(self.runs), self.prompts))

    def run(self, share: float, forest: Forest, root: int) -> list[list[int]]:
        """A row a study: hits and tested with the plant, the same without, whether the excess was seen."""
        return [self._study(share, forest, root, study) for study in range(self.studies)]

    def _study(self, share: float, forest: Forest, root: int, study: int) -> list[int]:
        name = f"power/{share:g}/{study}"
        stream = Stream(root, name)
        pattern = stream.below(self.values, self.prompts * self.rounds).reshape(self.prompts, -1) + 1
        turns, found = folds(range(self.runs), self.test, self.folds), []
        for side, carried in (("with", self.base_share + share), ("without", self.base_share)):
            traces = self.traces(carried, pattern, stream)
            cell = f"{name}/{side}"
            found.append(rotate(traces, turns, forest, root=root, cell=cell, prompts=self.prompts))
        with_, without = ((hits.hits, hits.tested) for hits in found)
        weights = resample_weights(self.prompts, self.resamples, Stream(root, f"{name}/bootstrap"))
        seen = difference(with_, without, weights, self.level).percentile.low > 0.0
        return [*(int(part.sum()) for part in (*with_, *without)), int(seen)]


COLUMNS = ("with", "with_tested", "without", "without_tested", "seen")


def payload(study: Study, documents: Documents, experiment: SpillAttack) -> Measured:
    """How often each planted share was seen, and what excess it made on average."""
    settings, names, rows = experiment.settings, ["cluster"], [[i] for i in range(study.studies)]
    named: list[tuple[str, str, Statistic]] = []
    for share in study.all_shares:
        at = f"share_{share:.2f}".replace(".", "_")
        names += [f"{at}_{column}" for column in COLUMNS] + [f"{at}_one"]
        for row, found in zip(rows, documents[f"power/{share:g}"], strict=True):
            row += [*found, 1]
        carried, bare = (
            Statistic(
                kind="ratio", numerator=[f"{at}_{n}"], denominator=[f"{at}_{n}_tested"], stream="bootstrap"
            )
            for n in ("with", "without")
        )
        seen = Statistic(
            kind="share", numerator=[f"{at}_seen"], denominator=[f"{at}_one"], stream="bootstrap"
        )
        named.append((f"{at}.seen", "share of studies", seen))
        named.append(
            (f"{at}.excess", "accuracy", carried.model_copy(update={"kind": "difference", "minus": bare}))
        )
        named.append((f"{at}.without", "accuracy", bare))
    table = Table.from_rows(
        names, rows, root=settings.root, resamples=settings.resamples, level=settings.level
    )
    made, absent = evaluate(named, table)
    made["base_share"] = Leaf(value=lexeme(study.base_share), unit="share of rounds")
    kind: type[Measured] = Rehearsal if experiment.quick else Measured
    return kind(
        schema=schema(experiment.quick),
        name="spill/attack-power",
        question="How small an excess over plain decoding can a design of this size see?",
        regime={"traces": "synthetic", "attacker": "random forest on raw vectors"},
        config=shown(study)
        | {
            "forest": shown(experiment.forest),
            "study_resamples": study.resamples,
            "resamples": settings.resamples,
        },
        seeds={"root": settings.root},
        provenance=gather(
            command("spill-attack", quick=experiment.quick),
            packages=("numpy", "scikit-learn"),
            models=[],
            inputs=[],
        ),
        results=made,
        absent=absent or None,
        state=State(columns=names, rows=rows),
    )
