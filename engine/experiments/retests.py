"""Do stronger readers overturn what the registered reader says over the full baseline?

The same rows, split, twins and label spaces as `existence`, whose harvests are read. A retest
overturns a reading where the margin over the twin is a signal by the registered rule.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from engine.contract.payload import Measured, Payload, Statistic
from engine.experiments import existence
from engine.experiments.existence import Existence, gain, saved
from engine.observe.constants import Sideband
from engine.run import Documents, Task, source_digest

READERS = ("logistic", "mlp", "trees")
WORDS = {
    "logistic": "logistic regression",
    "mlp": "network on a projection",
    "trees": "boosted trees on a projection",
}


@dataclass
class Retests:
    """The cells of the full baseline, read again by stronger readers."""

    base: Existence
    command: str

    def rehearsal(self) -> Retests:
        """The same on the harvests of the rehearsal."""
        return replace(self, base=self.base.rehearsal())

    @property
    def key(self) -> str:
        """What existence depends on, and this file."""
        return f"{self.base.key} {source_digest(['engine/experiments/retests.py'])}"

    def tasks(self) -> list[Task]:
        """The harvests, found done where existence ran, then a task a reader and cell."""
        out = []
        owner = (self.base.command, self.base.key)
        for task in self.base.tasks():
            if task.name.startswith("harvest/"):
                out.append(replace(task, owner=owner))
        for harvest in self.base.constants.harvest.harvests:
            for stream in self.base.streams:
                for reader in READERS:
                    work = partial(self.read, harvest=harvest, stream=stream, reader=reader)
                    out.append(Task(f"retest/{harvest}/{stream}/{reader}", 300.0, work))
        return out

    def read(self, _: Documents, *, harvest: str, stream: str, reader: str) -> dict[str, list[int]]:
        """State of one cell at one reader: baseline, with the stream, with each twin."""
        from engine.observe.cell import SHUFFLED, scored
        from engine.observe.probe import stronger
        from engine.observe.probe.linear import Labels

        on = self.base.ground(harvest)
        grid, root = self.base.constants.retests, self.base.constants.root
        spaces = [space for space in on.labels.buckets if SHUFFLED not in space]
        labels = Labels(
            {space: on.labels.buckets[space] for space in spaces},
            {space: on.labels.sizes[space] for space in spaces},
        )
        baseline, block = on.baseline("full"), on.features(stream)
        if reader in stronger.PROJECTED:
            baseline, block = (
                stronger.project(columns, grid.projection, on.rows.train, root, f"sideband/projection/{name}")
                for name, columns in (("baseline", baseline), (stream, block))
            )
        arms = {"base": baseline, "with": np.concatenate([baseline, block], axis=1)}
        for seed in range(grid.twin_seeds):
            arms[f"twin{seed}"] = np.concatenate([baseline, on.twin(block, seed)], axis=1)
        out = {"n": on.counts()}
        for arm, columns in arms.items():
            found = stronger.read(reader, columns, labels, on.rows, grid)
            for space, scores in found.items():
                out |= scored(on, f"{space}_{arm}", space, scores)
        return out

    def payloads(self, documents: Documents) -> Sequence[Payload]:
        """One payload a stream and harvest, all readers in it."""
        return [
            self._payload(documents, stream, harvest)
            for stream in self.base.streams
            for harvest in self.base.constants.harvest.harvests
        ]

    def _payload(self, documents: Documents, stream: str, harvest: str) -> Measured:
        cells = {reader: documents[f"retest/{harvest}/{stream}/{reader}"] for reader in READERS}
        named = list(statements(self.base.constants))
        question = "Do stronger readers find in the stream what the registered one does not?"
        made = self.base.document(documents, stream, harvest, "retests", question, cells, named, self.command)
        return made.model_copy(
            update={"regime": made.regime | {"reader": ", ".join(WORDS.values()), "baseline": "full"}}
        )


def statements(constants: Sideband) -> Iterator[tuple[str, str, Statistic]]:
    """Name, unit and statistic of every estimate of one stream and harvest."""
    for reader in READERS:
        for space in constants.label.spaces:
            at, column = f"{reader}.{space}", f"{reader}_{space}"
            twins = [f"{column}_twin{seed}" for seed in range(constants.retests.twin_seeds)]
            yield f"{at}.accuracy_base", "accuracy", existence.ratio([f"{column}_base_hits"])
            yield f"{at}.own", "accuracy", gain([f"{column}_with"], [f"{column}_base"])
            yield f"{at}.over_twin", "accuracy", gain([f"{column}_with"], twins)
            yield f"{at}.own_bits", "millibits", saved([f"{column}_with"], [f"{column}_base"])
            yield f"{at}.over_twin_bits", "millibits", saved([f"{column}_with"], twins)


def tap() -> Retests:
    """S1."""
    return Retests(existence.tap(), "sideband-tap-retests")


def pages() -> Retests:
    """S2 and its address-only form."""
    return Retests(existence.pages(), "sideband-pages-retests")


def experts() -> Retests:
    """S3."""
    return Retests(existence.experts(), "sideband-experts-retests")
