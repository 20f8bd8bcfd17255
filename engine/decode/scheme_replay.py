"""Rounds of trees, of lookahead and of retrieval, recomputed from a recorded text.

A tree of which nothing is drawn is walked along the text: at each place the target's own token either is
among the children or is not, and under the tree rule it is kept exactly when it is, since a rejected child
has no weight in what is left of the target's law. So text and rounds of replay are those of live decoding.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch

from engine.decode.drafts import lade
from engine.decode.llama import Cache, Llama, final_hidden
from engine.decode.replay import Accepted
from engine.decode.tree import ROOT, Tree


def walk(tree: Tree, rest: Sequence[int]) -> int:
    """How many tokens of a text's rest the tree holds from its root on."""
    at, kept = ROOT, 0
    for token in rest:
        below = [node for node in tree.children(at) if tree.tokens[node] == token]
        if not below:
            break
        at, kept = below[0], kept + 1
    return kept


def by_tree(
    prompt: Sequence[int], text: Sequence[int], propose: Callable[[list[int], int], Tree]
) -> Accepted:
    """Rounds of undrawn trees over a text; `propose(text so far, room)` is asked once a round."""

    def accepted(start: int, room: int) -> tuple[int, int]:
        tree = propose([*prompt, *text[:start]], room) if room else Tree((), ())
        return len(tree.tokens), walk(tree, text[start:])

    return accepted


def lookahead(
    model: Llama,
    prompt: Sequence[int],
    texts: Sequence[Sequence[int]],
    settings: lade.Settings,
    *,
    new_tokens: int,
) -> list[list[int]]:
    """The tokens of each round of lookahead decoding, for several answers to one prompt side by side."""
    rows = [[*prompt, *text] for text in texts]
    cache = Cache(model, rows=len(rows), capacity=max(map(len, rows)) + settings.tokens + 2)
    longest = max(map(len, rows))
    ids = torch.tensor([row + [0] * (longest - len(row)) for row in rows])
    final_hidden(model, ids, cache, 0)
    states = [lade.State.start(prompt, settings) for _ in rows]
    counts: list[list[int]] = [[] for _ in rows]
    while True:
        for row, text, state, emitted in zip(rows, texts, states, counts, strict=True):
            start = sum(emitted)
            if start < len(text):
                tree = state.tree(row[len(prompt) + start - 1], new_tokens - start - 1)
                emitted.append(min(walk(tree, text[start:]) + 1, len(text) - start))
        if all(sum(emitted) == len(text) for emitted, text in zip(counts, texts, strict=True)):
            return counts
        read = [row[: len(prompt) + sum(emitted)] for row, emitted in zip(rows, counts, strict=True)]
        lade.advance(model, cache, read, states)
