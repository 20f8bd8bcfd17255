"""From a stream to a draft that is kept more often: what every mechanism shares.

A round that starts at position s of a text has seen the target's pass over everything up to s - 2: the
token at s - 1 came out of that pass and has not been fed yet. So the stream at c = s - 2 may steer the
round's draft tokens; the one at offset j stands at position c + 2 + j. A round at s = 0 has no stream. The
law a mechanism gives the draft depends on the text before the token alone, so the exact verifier keeps the
output the target's, and rounds can be replayed from a recorded text as `decode.replay` does, with one column
of chances an offset. Shapes: n positions, k offsets, H tokens that the draft can name, d features.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from engine.contract.errors import BadData
from engine.contract.seeds import Stream
from engine.decode.replay import Accepted

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Rows = NDArray[np.floating]
NOWHERE = -1
"""Marks a token that the draft cannot name."""


@dataclass(frozen=True)
class Heads:
    """Output heads of target and draft, over the tokens that the draft can name. (H, width) each."""

    target: Floats
    draft: Floats


@dataclass(frozen=True)
class Passage:
    """One recorded text as conversion reads it."""

    named: Integers  # (n,) the text token's place among the draft's, or NOWHERE
    log_probability: Floats  # (n,) nats, of the text token under the target
    target_states: Floats  # (n, width) final states whose laws gave each position
    draft_states: Floats  # (n, width) the draft's
    rows: tuple[Rows, ...]  # one an offset: row i of offset j steers position i + j + 1

    def __len__(self) -> int:
        return len(self.named)

    def steered(self, offset: int) -> slice:
        """The positions that the rows of an offset steer."""
        return slice(min(offset + 1, len(self)), len(self))


class Fitted(Protocol):
    """A mechanism after fitting."""

    def chance(self, passage: Passage, logits: Floats, offset: int) -> Floats:
        """The chance that the text's token stands, at the positions steered at an offset.

        `logits` (m, H) are the draft's own there.
        """


def by_stream(streams: Rows, offsets: int) -> tuple[Rows, ...]:
    """Rows of a stream at c = -1 … n-2, (n, d), as they steer each offset of a text of n tokens."""
    return tuple(streams[: max(len(streams) - offset - 1, 0)] for offset in range(offsets))


def by_answer(answers: Rows, offsets: int) -> tuple[Rows, ...]:
    """Rows that speak of the steered position itself, at positions 0 … n-1 (n, d): an oracle's."""
    return tuple(answers[min(offset + 1, len(answers)) :] for offset in range(offsets))


def scrambled(passages: Sequence[Passage], root: int, name: str) -> list[Passage]:
    """The same passages with their rows permuted across all of them, an order an offset: the twin.

    The twin has every row of the stream and none of its links to the text.
    """
    rows: list[list[Rows]] = [[] for _ in passages]
    for offset in range(len(passages[0].rows)):
        joined = np.concatenate([passage.rows[offset] for passage in passages])
        mixed = joined[Stream(root, f"{name}/offset-{offset}").permutation(len(joined))]
        ends = np.cumsum([len(passage.rows[offset]) for passage in passages])[:-1]
        for index, part in enumerate(np.split(mixed, ends)):
            rows[index].append(part)
    return [replace(passage, rows=tuple(own)) for passage, own in zip(passages, rows, strict=True)]


def chances(passage: Passage, heads: Heads, fitted: Fitted | None) -> Floats:
    """The chance that each text token stands as the j-th draft of its round, (n, k); None leaves it alone."""
    logits = passage.draft_states @ heads.draft.T
    plain = kept(log_law(logits, passage.named), passage.log_probability)
    out = np.repeat(plain[:, None], len(passage.rows), axis=1)
    for offset in range(len(passage.rows)) if fitted else ():
        at = passage.steered(offset)
        if at.start < at.stop:
            out[at, offset] = fitted.chance(passage, logits[at], offset)  # type: ignore[union-attr]
    return out


def log_law(logits: Floats, named: Integers) -> Floats:
    """Log-probability of each row's token, minus infinity where the draft cannot name it. (m, H) → (m,)"""
    top = logits.max(axis=1)
    total = top + np.log(np.exp(logits - top[:, None]).sum(axis=1))
    return np.where(named == NOWHERE, -np.inf, logits[np.arange(len(logits)), np.maximum(named, 0)] - total)


def kept(draft: Floats, target: Floats) -> Floats:
    """min(1, draft/target) from log-probabilities. (m,)"""
    out: Floats = np.exp(np.minimum(0.0, draft - target))
    return out


def expected_run(chance: Floats) -> float:
    """Mean number of draft tokens kept, over rounds that start at every position. `chance` (n, k)."""
    n, offsets = chance.shape
    standing, total = np.ones(n), 0.0
    for offset in range(offsets):
        standing = standing[: max(n - offset, 0)] * chance[offset:, offset]
        total += float(standing.sum())
    return float(total / n)


def mean_run(passages: Sequence[Passage], heads: Heads, fitted: Fitted | None) -> float:
    """`expected_run` over passages, each weighing as much as it has tokens."""
    runs = [len(each) * expected_run(chances(each, heads, fitted)) for each in passages]
    return float(sum(runs) / sum(len(each) for each in passages))


def by_offset(stands: NDArray[np.bool_]) -> Accepted:
    """A draft whose token at position t stands as the j-th of its round where `stands[t, j]`. (n, k)"""

    def accepted(start: int, room: int) -> tuple[int, int]:
        run = 0
        while run < min(room, len(stands) - start) and stands[start + run, run]:
            run += 1
        return room, run

    return accepted


def hashed(tokens: Integers, slots: int) -> Rows:
    """Tokens (n, ranks) as zeros and ones, (n, ranks x slots): each rank has a table of its own.

    The hash is multiplication by Knuth's 2654435761 modulo 2**32 (Knuth, volume 3, 6.4), scaled to `slots`.
    """
    if slots < 1:
        raise BadData(f"{slots} slots", "hold nothing.", "Take one or more.")
    n, ranks = tokens.shape
    mixed = tokens.astype(np.uint64) * np.uint64(2654435761) % np.uint64(2**32)
    place = (mixed * np.uint64(slots) >> np.uint64(32)).astype(np.int64)
    out = np.zeros((n, ranks * slots), dtype=np.float32)
    np.put_along_axis(out, place + np.arange(ranks) * slots, 1.0, axis=1)
    return out
