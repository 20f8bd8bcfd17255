"""What else could tell the prompt: length, order, chance. Each control is a change of traces, nothing more.

The reader of a control is the attacker, trained afresh. Shapes: N traces, L rounds.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from engine.contract.errors import BadData
from engine.contract.seeds import Stream
from engine.spill.attack import Integers, Traces


def lengths(vectors: Integers) -> Integers:
    """Rounds of each trace: up to its last value that is not zero. (N,)"""
    there = vectors != 0
    last = vectors.shape[1] - np.argmax(there[:, ::-1], axis=1)
    return np.where(there.any(axis=1), last, 0)


def total(traces: Traces) -> Traces:
    """The sum of each trace alone. (N, 1)"""
    return Traces(traces.vectors.sum(axis=1, keepdims=True), traces.prompts, traces.runs)


@dataclass(frozen=True)
class Equal:
    """Traces cut to one length, and how many were too short for it and left out."""

    traces: Traces
    rounds: int
    left_out: int


def equal_length(traces: Traces, fewest: int) -> Equal:
    """Cut all to the shortest of those that have `fewest` rounds; shorter ones are left out.

    Raises `BadData` where no trace is that long.
    """
    each = lengths(traces.vectors)
    kept = each >= fewest
    if not kept.any():
        raise BadData("traces", f"are all shorter than {fewest} rounds.", "Ask for fewer rounds.")
    rounds = int(each[kept].min())
    whole = traces.take(kept)
    cut = Traces(whole.vectors[:, :rounds], whole.prompts, whole.runs)
    return Equal(cut, rounds, int((~kept).sum()))


def shuffled_rounds(traces: Traces, stream: Stream) -> Traces:
    """The rounds of each trace in a random order, its length as it was."""
    vectors = traces.vectors.copy()
    for row, length in zip(vectors, lengths(traces.vectors).tolist(), strict=True):
        row[:length] = row[:length][stream.permutation(length)]
    return Traces(vectors, traces.prompts, traces.runs)


def shuffled_labels(traces: Traces, stream: Stream) -> Traces:
    """The prompts dealt out anew among the traces."""
    return Traces(traces.vectors, traces.prompts[stream.permutation(len(traces.prompts))], traces.runs)
