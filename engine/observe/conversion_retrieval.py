"""The second mechanism: recorded positions with the nearest streams propose the tokens that followed them.

No map is fitted. A share of the draft's law goes to the tokens found in a memory keyed by the stream alone
(compare He et al. 2023, REST, which keys by text). Shapes: N records, n rows, d features.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.contract.errors import BadData
from engine.observe.conversion import NOWHERE, Floats, Heads, Integers, Passage, Rows, kept, log_law, mean_run


class Memory:
    """The streams of recorded positions, and the token each steered."""

    def __init__(self, rows: Rows, tokens: Integers) -> None:
        """Keep `rows` (N, d) and `tokens` (N,), places among the draft's tokens or `NOWHERE`.

        A slot counts the more the fewer records touch it (inverse document frequency).
        """
        touched = np.maximum((rows > 0).sum(axis=0), 1)
        self._rarity = np.log((len(rows) + 1) / touched).astype(np.float32)
        self._keys = self._key(rows)
        self._tokens = tokens
        self._found: dict[tuple[int, int], tuple[Rows, tuple[Integers, Floats]]] = {}

    def _key(self, rows: Rows) -> NDArray[np.float32]:
        weighted = rows.astype(np.float32) * self._rarity
        length = np.linalg.norm(weighted, axis=1, keepdims=True)
        out: NDArray[np.float32] = weighted / np.maximum(length, np.finfo(np.float32).tiny)
        return out

    def votes(self, rows: Rows, neighbours: int) -> tuple[Integers, Floats]:
        """Tokens of the nearest records of each row and the share of the vote of each, two (n, neighbours).

        The share is zero for a token the draft cannot name, and throughout where no record is like the row.
        Answers are kept, since a grid asks for the same rows again and again.
        """
        if not 0 < neighbours <= len(self._tokens):
            raise BadData(
                f"{neighbours} neighbours", f"of {len(self._tokens)} records.", "Take fewer, or record more."
            )
        asked = (id(rows), neighbours)
        if asked not in self._found or self._found[asked][0] is not rows:
            self._found[asked] = rows, self._votes(rows, neighbours)
        return self._found[asked][1]

    def _votes(self, rows: Rows, neighbours: int) -> tuple[Integers, Floats]:
        likeness = self._key(rows) @ self._keys.T
        found = np.argpartition(-likeness, neighbours - 1, axis=1)[:, :neighbours]
        tokens = self._tokens[found]
        weight = np.maximum(np.take_along_axis(likeness, found, axis=1).astype(np.float64), 0.0)
        weight = np.where(tokens == NOWHERE, 0.0, weight)
        total = weight.sum(axis=1, keepdims=True)
        return tokens, weight / np.where(total > 0.0, total, 1.0)


@dataclass(frozen=True)
class Retrieval:
    """A memory an offset, and the share of the draft's law that goes to what it holds."""

    memories: tuple[Memory, ...]
    neighbours: int
    weight: float

    def chance(self, passage: Passage, logits: Floats, offset: int) -> Floats:
        """See `conversion.Fitted`."""
        at = passage.steered(offset)
        named = passage.named[at]
        tokens, share = self.memories[offset].votes(passage.rows[offset], self.neighbours)
        agreeing = np.where(tokens == named[:, None], share, 0.0).sum(axis=1)
        return mixed(log_law(logits, named), agreeing, share.sum(axis=1), self.weight, passage, at)

    def mix(self, law: Floats, rows: Rows, offset: int) -> Floats:
        """The draft's law at one position (H,) after the memory has spoken; `rows` (1, d)."""
        tokens, share = self.memories[offset].votes(rows, self.neighbours)
        if share.sum() == 0.0:
            return law
        voted = np.bincount(np.maximum(tokens[0], 0), share[0], minlength=len(law))
        return (1.0 - self.weight) * law + self.weight * voted


def mixed(own: Floats, agreeing: Floats, cast: Floats, weight: float, passage: Passage, at: slice) -> Floats:
    """The chance that a text token stands under a mixed law; without a vote the draft is left alone."""
    law = np.where(cast > 0.0, (1.0 - weight) * np.exp(own) + weight * agreeing, np.exp(own))
    with np.errstate(divide="ignore"):
        return kept(np.log(law), passage.log_probability[at])


@dataclass(frozen=True)
class RetrievalGrid:
    """What is chosen on validation passages."""

    neighbours: tuple[int, ...]
    weights: tuple[float, ...]

    def fit(self, heads: Heads, training: Sequence[Passage], validation: Sequence[Passage]) -> Retrieval:
        """The memory and share of the longest expected run on `validation`, the first of equals."""
        memories = tuple(self._memory(training, offset) for offset in range(len(training[0].rows)))
        best, longest = None, -np.inf
        for neighbours in self.neighbours:
            for weight in self.weights:
                tried = Retrieval(memories, neighbours, weight)
                run = mean_run(validation, heads, tried)
                if run > longest:
                    best, longest = tried, run
        if best is None:
            raise BadData("the grid", "gives no finite run.", "Look for NaN in the harvest.")
        return best

    def _memory(self, training: Sequence[Passage], offset: int) -> Memory:
        rows = np.concatenate([each.rows[offset] for each in training])
        return Memory(rows, np.concatenate([each.named[each.steered(offset)] for each in training]))
