"""REST: what followed the end of the text in a datastore, as a tree of its likeliest continuations.

Source: He et al. 2024 (retrieval-based speculative decoding). The longest suffix that occurs is looked up,
the tokens after its occurrences are counted by prefix, and the most frequent prefixes become a trie. Nothing
is drawn, and the token that the target adds each round is drawn at the request's own temperature, where the
public streaming code takes its likeliest. Each round emits one token and up to `following` found ones.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from torch import Tensor

from engine.contract.seeds import Stream
from engine.decode.scheme import EMPTY, Scheme, Speculative
from engine.decode.tree import ROOT, Tree

if TYPE_CHECKING:
    from engine.decode.schemes import Parts

BOUNDARY = 2**32 - 1
"""Stands between documents; no token has this id, so that no match crosses it."""


@dataclass(frozen=True)
class Settings:
    """Suffix lengths tried, matches read, tokens taken after each, nodes offered."""

    longest: int = 16
    shortest: int = 2
    matches: int = 5000
    following: int = 10
    nodes: int = 64


@dataclass(frozen=True)
class Datastore:
    """Token ids of documents, and every place in the order of the tokens that start there."""

    documents: tuple[tuple[int, ...], ...]
    settings: Settings = Settings()
    _ids: np.ndarray[tuple[int], np.dtype[np.uint32]] = field(init=False, repr=False)
    _keys: list[bytes] = field(init=False, repr=False)
    _places: list[int] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        joined = [token for document in self.documents for token in (*document, BOUNDARY)]
        ids = np.array([*joined, *[BOUNDARY] * self.settings.longest], dtype=np.uint32)
        window = self.settings.longest * 4
        data = ids.astype(">u4").tobytes()
        keys = [data[4 * place : 4 * place + window] for place in range(len(joined))]
        places = sorted(range(len(joined)), key=keys.__getitem__)
        object.__setattr__(self, "_ids", ids)
        object.__setattr__(self, "_places", places)
        object.__setattr__(self, "_keys", [keys[place] for place in places])

    def ends(self, suffix: Sequence[int]) -> list[int]:
        """Where occurrences of a suffix (at most `longest` tokens) end, at most `matches` of them."""
        wanted = np.array(suffix, dtype=">u4").tobytes()
        first = bisect_left(self._keys, wanted)
        out: list[int] = []
        for index in range(first, min(first + self.settings.matches, len(self._keys))):
            if not self._keys[index].startswith(wanted):
                break
            out.append(self._places[index] + len(suffix))
        return out

    def after(self, end: int) -> tuple[int, ...]:
        """Up to `following` tokens of the same document from a place on."""
        found = self._ids[end : end + self.settings.following].tolist()
        return tuple(found[: found.index(BOUNDARY)] if BOUNDARY in found else found)

    def contains(self, tokens: Sequence[int]) -> bool:
        """Whether tokens stand next to each other in one document."""
        head = tuple(tokens[: self.settings.longest])
        places = (end - len(head) for end in self.ends(head))
        return any(tuple(self._ids[p : p + len(tokens)].tolist()) == tuple(tokens) for p in places)

    def tree(self, text: Sequence[int], room: int) -> Tree:
        """The trie for the longest suffix of `text` that goes on somewhere; empty where none does."""
        for size in range(min(self.settings.longest, len(text)), self.settings.shortest - 1, -1):
            ends = self.ends(text[-size:])
            if ends:
                return self._trie([self.after(end)[:room] for end in ends])
        return EMPTY

    def _trie(self, found: Sequence[tuple[int, ...]]) -> Tree:
        """The most frequent prefixes; a prefix is never rarer than one that goes on from it."""
        counts = Counter(run[:size] for run in found for size in range(1, len(run) + 1))
        order = sorted(counts, key=lambda prefix: (-counts[prefix], len(prefix), prefix))
        kept = {prefix: index for index, prefix in enumerate(order[: self.settings.nodes])}
        parents = tuple(kept[prefix[:-1]] if len(prefix) > 1 else ROOT for prefix in kept)
        return Tree(tuple(prefix[-1] for prefix in kept), parents)


@dataclass(frozen=True)
class Retrieval:
    """The drafter over a datastore; it has no state of its own."""

    datastore: Datastore

    def propose(self, text: Sequence[int], room: int, features: Tensor, stream: Stream | None) -> Tree:
        """What the datastore offers after `text`."""
        del features, stream
        return self.datastore.tree(text, room) if room else EMPTY


NAME = "rest"
NEEDS = ("datastore",)


def scheme(parts: Parts) -> Scheme:
    """The scheme of these parts."""
    assert parts.datastore is not None
    retrieval = Retrieval(parts.datastore)
    return Speculative(NAME, parts.datastore.settings.following + 1, parts.target, lambda _: retrieval)
