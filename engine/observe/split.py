"""The pinned split of clusters into training, validation and held-out ones."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.contract.errors import BadData
from engine.contract.seeds import Stream
from engine.observe.constants import Sideband

Integers = NDArray[np.int64]


@dataclass(frozen=True)
class Split:
    """Cluster numbers of each part, rising."""

    train: Integers
    validation: Integers
    held_out: Integers

    def __post_init__(self) -> None:
        every = np.concatenate([self.train, self.validation, self.held_out])
        numbers, counts = np.unique(every, return_counts=True)
        if (counts > 1).any():
            leaked = int(numbers[counts > 1][0])
            raise BadData(
                f"cluster {leaked}", "stands in two parts of the split.", "A prompt belongs to one part only."
            )

    @property
    def parts(self) -> tuple[Integers, Integers, Integers]:
        """All three, in order."""
        return self.train, self.validation, self.held_out

    def part_of(self, clusters: Integers) -> Integers:
        """0, 1 or 2 for each row's cluster; `BadData` where a cluster is in no part. (N,)"""
        table = np.full(int(max(clusters.max(), *(p.max() for p in self.parts))) + 1, -1)
        for index, part in enumerate(self.parts):
            table[part] = index
        found: Integers = table[clusters]
        if (found < 0).any():
            odd = int(clusters[np.argmax(found < 0)])
            raise BadData(f"cluster {odd}", "is in no part of the split.", "Harvest the registered prompts.")
        return found


def split(constants: Sideband) -> Split:
    """The split that the registered seed and sizes give."""
    sizes = constants.split
    total = sizes.train + sizes.validation + sizes.held_out
    if total != constants.harvest.prompts:
        raise BadData(
            f"a split of {total}", f"is not one of {constants.harvest.prompts} prompts.", "Check both."
        )
    order = Stream(constants.root, sizes.stream).permutation(total)
    ends = [sizes.train, sizes.train + sizes.validation]
    return Split(*(np.sort(part) for part in np.split(order, ends)))
