"""One cell: a stream over a baseline on one harvest, all arms, scored on the held-out clusters.

Arms: the baseline alone; with the stream; with scrambled twins; with the answer in a share of rows
(positive control). Beside each label space stands its shuffled one, labels permuted like a twin.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from engine.contract.seeds import Stream
from engine.observe import labels as label_spaces
from engine.observe.baseline import BASELINES, NEEDS, slot
from engine.observe.constants import Sideband
from engine.observe.harvest import Harvest
from engine.observe.probe.linear import Choice, Labels, Matrix, Reader, Rows, standardise
from engine.observe.probe.score import Floats, by_cluster
from engine.observe.split import Integers, Split
from engine.observe.streams import STREAMS
from engine.observe.twin import check_scrambled, twin

SHUFFLED = "_shuffled"
State = dict[str, list[int]]


@dataclass(frozen=True)
class Ground:
    """What all cells of a harvest share: its rows by part, and the labels."""

    harvest: Harvest
    constants: Sideband
    split: Split
    clusters: Integers
    parts: Integers
    rows: Rows
    labels: Labels

    @property
    def order(self) -> Integers:
        """Held-out clusters, rising."""
        return self.split.held_out

    def counts(self) -> list[int]:
        """Checked positions of each held-out cluster."""
        place = np.searchsorted(self.order, self.clusters[self.rows.held_out])
        return [int(n) for n in np.bincount(place, minlength=len(self.order))]

    def name(self, use: str) -> str:
        """A random stream's name on this harvest."""
        return f"sideband/{use}/{self.harvest.folder.name}"

    def twin(self, stream: Matrix, seed: int) -> Matrix:
        """A scrambled twin of a stream's columns, checked. (N, s)"""
        taken = twin(self.clusters, self.parts, self.constants.root, self.name(f"twin-{seed}"))
        check_scrambled(taken, self.clusters, self.parts, stream)
        return stream[taken]

    def features(self, stream: str) -> Matrix:
        """A stream's columns, standardised. (N, s)"""
        made = STREAMS[stream]
        arrays = {name: np.asarray(self.harvest.array(name)) for name in made.needs}
        return standardise(made.features(arrays, self.constants), self.rows.train)

    def baseline(self, name: str) -> Matrix:
        """A baseline's columns, standardised. (N, b)"""
        arrays = {need: np.asarray(self.harvest.array(need)) for need in NEEDS}
        return standardise(BASELINES[name](arrays, self.constants), self.rows.train)

    def answer(self, share: float) -> Matrix:
        """The answer hashed into slots in a share of the rows, elsewhere a random slot. (N, slots)"""
        tokens, slots = np.asarray(self.harvest.array("label_token")), self.constants.control.answer_slots
        draws = Stream(self.constants.root, self.name(f"answer-{share}"))
        told = draws.uniform(len(tokens)) < share
        table = np.array([slot(token, slots) for token in range(int(tokens.max()) + 1)])
        at = np.where(told, table[tokens], draws.below(slots, len(tokens)))
        return standardise(np.eye(slots, dtype=np.float32)[at], self.rows.train)


def ground(harvest: Harvest, constants: Sideband, split: Split) -> Ground:
    """Rows by part and labels of a harvest."""
    clusters = np.asarray(harvest.array("prompt")).astype(np.int64)
    parts = split.part_of(clusters)
    rows = Rows(*(np.flatnonzero(parts == part) for part in range(3)))
    spaces = label_spaces.load(constants.label)
    tokens = np.asarray(harvest.array("label_token"))
    taken = twin(clusters, parts, constants.root, f"sideband/shuffled/{harvest.folder.name}")
    buckets = {name: spaces[name][tokens] for name in constants.label.spaces}
    buckets |= {f"{name}{SHUFFLED}": buckets[name][taken] for name in constants.label.spaces}
    sizes = {name: getattr(constants.label, name.removesuffix(SHUFFLED)) for name in buckets}
    return Ground(harvest, constants, split, clusters, parts, rows, Labels(buckets, sizes))


def cell(on: Ground, stream: str, baseline: str) -> State:
    """State of one cell, a value a held-out cluster: `n`, then SPACE_ARM_hits and SPACE_ARM_loss."""
    reader = Reader(on.baseline(baseline), on.labels, on.rows, on.constants.linear)
    block = on.features(stream)
    arms = {"base": reader.fit(), "with": reader.fit(block)}
    for seed in range(on.constants.twin.seeds):
        arms[f"twin{seed}"] = reader.fit(on.twin(block, seed))
    for index, share in enumerate(on.constants.control.answer_shares):
        arms[f"answer{index}"] = reader.fit(on.answer(share))
    out = {"n": on.counts()}
    for arm, choices in arms.items():
        out |= columns(on, arm, choices)
    if baseline == "full":
        out |= curve(on, reader, block)
    return out


def curve(on: Ground, reader: Reader, block: Matrix) -> State:
    """The same three arms learned from fewer training clusters."""
    out: State = {}
    order = Stream(on.constants.root, "sideband/curve").permutation(len(on.split.train))
    for clusters in on.constants.curve.clusters:
        if clusters >= len(order):
            continue
        kept = on.split.train[order[:clusters]]
        fewer = on.rows.train[np.isin(on.clusters[on.rows.train], kept)]
        small = Reader(
            reader.baseline, on.labels, Rows(fewer, on.rows.validation, on.rows.held_out), on.constants.linear
        )
        arms = {"base": small.fit(), "with": small.fit(block), "twin0": small.fit(on.twin(block, 0))}
        for arm, made in arms.items():
            out |= columns(on, f"{arm}_at{clusters}", made)
    return {name: column for name, column in out.items() if SHUFFLED not in name}


def columns(on: Ground, arm: str, choices: Mapping[str, Choice]) -> State:
    """Hits and loss of one arm by held-out cluster, in every space."""
    out: State = {}
    for space, choice in choices.items():
        out |= scored(on, f"{space}_{arm}", space, choice.scores)
    return out


def scored(on: Ground, name: str, space: str, scores: Floats) -> State:
    """Hits and loss by held-out cluster of scores (held-out rows, buckets) in one space."""
    held, scale = on.rows.held_out, on.constants.interval.scale_bits
    labels, clusters = on.labels.buckets[space][held], on.clusters[held]
    made = by_cluster(scores, labels, clusters, on.order, scale)
    return {f"{name}_hits": made.hits.tolist(), f"{name}_loss": made.loss.tolist()}
