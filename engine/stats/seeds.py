"""How far a change of seed alone moves a ratio: recorded runs of every prompt under several seeds, resampled.

The seeds of one prompt are independent of those of another, so a study may take each prompt's run from
another seed. Shapes: G prompts, S seeds.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from engine.contract.errors import BadData
from engine.contract.seeds import Stream
from engine.stats.bootstrap import Floats, Integers

NORMAL_95 = 1.959964  # two-sided 95 % quantile of the normal law, six decimals
AT_ONCE = 2**15  # runs that are looked up at once


@dataclass(frozen=True)
class Runs:
    """What is above and below the line in each run, (G, S) each.

    Raises `BadData` for fewer than two seeds, shapes that differ, and a run with nothing below the line.
    """

    above: Integers
    below: Integers

    def __post_init__(self) -> None:
        if self.above.ndim != 2 or self.above.shape != self.below.shape or self.above.shape[1] < 2:
            raise BadData(
                f"runs of shapes {self.above.shape} and {self.below.shape}",
                "give no spread.",
                "Take two seeds or more.",
            )
        if self.below.min() < 0 or self.below.sum(axis=0).min() <= 0:
            raise BadData("a seed", "has nothing in the denominator.", "Too few prompts hold observations.")

    def differences(self, prompts: int, studies: int, stream: Stream) -> Floats:
        """Of `studies` pairs of runs that differ by seeds alone, the ratio of one minus the other's.

        A study draws its prompts with repetition and two different seeds afresh for each of them; both runs
        have the same prompts. Raises `BadData` where a run has nothing below the line.
        """
        count, seeds = self.above.shape
        if prompts < 1 or studies < 2:
            raise BadData(f"{studies} studies of {prompts} prompts", "show nothing.", "Ask for more.")
        chosen = stream.below(count, studies * prompts).reshape(studies, prompts)
        pair = stream.below(seeds * (seeds - 1), studies * prompts).reshape(studies, prompts)
        pairs = np.arange(seeds * (seeds - 1))
        first = pairs // (seeds - 1)
        second = (first + 1 + pairs % (seeds - 1)) % seeds
        one, two = (self._ratios(chosen, pair, seed) for seed in (first, second))
        return one - two

    def _ratios(self, chosen: Integers, pair: Integers, seed: Integers) -> Floats:
        """The ratio of each study, where `seed` tells which one a pair takes. (studies,)

        Both sides of a run are one complex number, so that they are looked up and added together: exact up
        to 2**53. A part of the studies at a time stays within the cache.
        """
        seeds = self.above.shape[1]
        runs = (self.above + 1j * self.below).ravel()
        studies, prompts = chosen.shape
        sums = np.empty(studies, dtype=np.complex128)
        step = max(1, AT_ONCE // prompts)
        for at in range(0, studies, step):
            part = slice(at, at + step)
            sums[part] = runs.take(chosen[part] * seeds + seed.take(pair[part])).sum(axis=1)
        if sums.imag.min() <= 0:
            raise BadData("a study", "has nothing in the denominator.", "Too few prompts hold observations.")
        ratios: Floats = sums.real / sums.imag
        return ratios


def spread(runs: Runs, prompts: int, subsets: int, stream: Stream) -> float:
    """Half width of a 95 % range of the ratio over seeds, root-mean-square over random subsets of prompts.

    A subset is drawn without repetition, and one seed is taken for all of its prompts.
    """
    count = len(runs.above)
    if not 0 < prompts <= count:
        raise BadData(
            f"{count} prompts",
            f"give no spread of studies of {prompts}.",
            "Ask for some, and no more prompts than there are.",
        )
    squares = 0.0
    for _ in range(subsets):
        chosen = stream.permutation(count)[:prompts]
        observed = runs.below[chosen].sum(axis=0)
        if observed.min() <= 0:
            raise BadData("a seed", "has nothing in the denominator.", "Too few prompts hold observations.")
        squares += _variance(runs.above[chosen].sum(axis=0) / observed)
    return NORMAL_95 * float(np.sqrt(squares / subsets))


def _variance(values: Floats) -> float:
    """Unbiased variance, summed in order so that every machine rounds alike."""
    total = 0.0
    for value in values:
        total += float(value)
    mean, squares = total / len(values), 0.0
    for value in values:
        squares += (float(value) - mean) * (float(value) - mean)
    return squares / (len(values) - 1)
