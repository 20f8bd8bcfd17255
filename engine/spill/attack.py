"""Tell which prompt was asked from the trace of its answer: a random forest over raw vectors.

Source of the classifier: Wei et al., arXiv 2411.01076, section 4.4. Hits are counted by prompt, so that
intervals resample prompts. Shapes: N traces, L rounds, G prompts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import RandomForestClassifier

from engine.contract.errors import BadData
from engine.contract.seeds import Stream

Integers = NDArray[np.int64]


@dataclass(frozen=True)
class Forest:
    """Settings of the random forest; `features` is how many a split looks at, as the library names it."""

    trees: int = 150
    depth: int = 15
    split: int = 10
    leaf: int = 1
    criterion: str = "gini"
    features: str = "sqrt"


@dataclass(frozen=True)
class Traces:
    """Vectors (N, L) of whole numbers, zeros after the end; prompt and run of each. (N,)"""

    vectors: Integers
    prompts: Integers
    runs: Integers

    def __post_init__(self) -> None:
        if self.vectors.ndim != 2 or not len(self.vectors) == len(self.prompts) == len(self.runs):
            raise BadData("traces", "do not fit their labels.", "Give a prompt and a run to each.")

    def take(self, rows: NDArray[np.bool_]) -> Traces:
        """Some of them."""
        return Traces(self.vectors[rows], self.prompts[rows], self.runs[rows])

    def of_runs(self, runs: Sequence[int]) -> Traces:
        """Those of some runs."""
        return self.take(np.isin(self.runs, list(runs)))

    def of_prompts(self, count: int) -> Traces:
        """Those of the first `count` prompts."""
        return self.take(self.prompts < count)


@dataclass(frozen=True)
class Fold:
    """Which runs train and which are tested."""

    train: tuple[int, ...]
    test: tuple[int, ...]


def folds(runs: Sequence[int], test: int, count: int) -> list[Fold]:
    """`count` folds that test `test` runs each, the last runs first; no run is tested twice.

    Raises `BadData` where there are not enough runs.
    """
    ordered = sorted(runs)
    if count * test > len(ordered) or test >= len(ordered) or min(test, count) < 1:
        raise BadData(
            f"{len(ordered)} runs a prompt",
            f"make no {count} folds of {test}.",
            "Collect more, or ask for fewer.",
        )
    out = []
    for fold in range(count):
        end = len(ordered) - fold * test
        tested = tuple(ordered[end - test : end])
        out.append(Fold(tuple(r for r in ordered if r not in tested), tested))
    return out


@dataclass(frozen=True)
class Hits:
    """Test traces of each prompt, and how many were told right. (G,) each."""

    hits: Integers
    tested: Integers

    def __add__(self, other: Hits) -> Hits:
        return Hits(self.hits + other.hits, self.tested + other.tested)

    @property
    def accuracy(self) -> float:
        """The share told right."""
        return float(self.hits.sum() / self.tested.sum())


def attack(train: Traces, test: Traces, forest: Forest, seed: Stream, prompts: int) -> Hits:
    """Fit on `train`, tell the prompts of `test`. Raises `BadData` where there is nothing to learn from."""
    if len(train.vectors) == 0 or len(test.vectors) == 0 or len(np.unique(train.prompts)) < 2:
        raise BadData("traces", "of two prompts at least are wanted, to train and to test.", "Collect more.")
    if train.vectors.shape[1] != test.vectors.shape[1]:
        raise BadData("traces", "to train and to test differ in length.", "Cut them alike.")
    model = RandomForestClassifier(
        n_estimators=forest.trees,
        max_depth=forest.depth,
        min_samples_split=forest.split,
        min_samples_leaf=forest.leaf,
        criterion=forest.criterion,
        max_features=forest.features,
        random_state=int(seed.below(2**31, 1)[0]),
    ).fit(train.vectors, train.prompts)
    right = model.predict(test.vectors) == test.prompts
    count = np.bincount(test.prompts, minlength=prompts)
    return Hits(np.bincount(test.prompts[right], minlength=prompts), count)


def rotate(
    traces: Traces, turns: Sequence[Fold], forest: Forest, *, root: int, cell: str, prompts: int
) -> Hits:
    """The attack on every fold, hits added up. `cell` names the random streams."""
    total = Hits(np.zeros(prompts, np.int64), np.zeros(prompts, np.int64))
    for index, fold in enumerate(turns):
        seed = Stream(root, f"attack/{cell}/fold-{index}")
        total += attack(traces.of_runs(fold.train), traces.of_runs(fold.test), forest, seed, prompts)
    return total
