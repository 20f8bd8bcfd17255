"""One interface for every way of decoding: a request goes in, the tokens of one round after another come out.

The loop here serves every lossless scheme. A drafter offers a tree (a chain is a narrow one, no draft an
empty one), the target reads it in one pass, and the tree rule keeps what its own law allows; so the text has
the target's law whatever the drafter does. Sampling is at one temperature for draft and target, top-p one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch
from torch import Tensor

from engine.contract.seeds import Stream
from engine.decode import branches
from engine.decode.drafts import Draft
from engine.decode.llama import Cache, Llama, final_hidden
from engine.decode.tree import ROOT, Path, Tree, verify_tree, verify_tree_greedy
from engine.decode.verifier import Draws, softmax

EMPTY = Tree((), ())


@dataclass(frozen=True)
class Request:
    """A prompt to continue. Temperature zero is greedy; `seed` and `root` name its random streams."""

    prompt: tuple[int, ...]
    new_tokens: int
    end: int
    temperature: float = 0.0
    seed: str = "request"
    root: int = 20261130

    @property
    def greedy(self) -> bool:
        """Whether nothing is drawn."""
        return self.temperature == 0.0

    @property
    def last(self) -> int:
        """The longest the text may become, in tokens with its prompt."""
        return len(self.prompt) + self.new_tokens

    def open(self, text: Sequence[int]) -> bool:
        """Whether a text of this request goes on."""
        return len(text) < self.last and (len(text) == len(self.prompt) or text[-1] != self.end)

    def until_end(self, tokens: Sequence[int]) -> tuple[int, ...]:
        """Tokens up to and with the end of the text."""
        cut = list(tokens).index(self.end) + 1 if self.end in tokens else len(tokens)
        return tuple(tokens[:cut])


class Scheme(Protocol):
    """A way of decoding. It holds no state of a request, so that several may run at once."""

    @property
    def name(self) -> str:
        """The scheme's name."""

    @property
    def bound(self) -> int:
        """The most tokens that one round emits."""

    @property
    def lossless(self) -> bool:
        """Whether the text has the target's law."""

    def rounds(self, request: Request) -> Iterator[tuple[int, ...]]:
        """The tokens of each round, none empty, cut after the end and at the request's limit."""


class Drafter(Protocol):
    """Guesses for one request that grows."""

    def propose(self, text: Sequence[int], room: int, features: Tensor, stream: Stream | None) -> Tree:
        """A tree at most `room` deep to follow `text`.

        `features` (len(text) - 1, width): the target's final hidden states of all but the newest token.
        `stream` is None where the request is greedy.
        """


@dataclass(frozen=True)
class Speculative:
    """The lossless schemes: a target, and a maker of drafters."""

    name: str
    bound: int
    target: Llama
    drafter: Callable[[Request], Drafter]
    lossless: bool = True

    def rounds(self, request: Request) -> Iterator[tuple[int, ...]]:
        """Draft, verify, emit, until the text ends."""
        draws, drafter = Draws(request.root, request.seed), self.drafter(request)
        text = list(request.prompt)
        cache = Cache(self.target, rows=1, capacity=request.last + NODES)
        features = torch.zeros(request.last, self.target.shape.width)
        if len(text) > 1:
            features[: len(text) - 1] = final_hidden(self.target, torch.tensor([text[:-1]]), cache, 0)[0]
        while request.open(text):
            room = request.last - len(text) - 1
            known = features[: len(text) - 1]
            tree = drafter.propose(text, room, known, None if request.greedy else draws.draft)
            hidden = branches.read_tree(self.target, cache, text[-1], len(text), tree)
            path = judge(tree, self.target.head(hidden), request.temperature, draws)
            new = request.until_end([*(tree.tokens[node] for node in path.nodes), path.token])
            branches.keep(cache, len(text), path.nodes)
            read = [0, *(node + 1 for node in path.nodes)][: len(new)]
            features[len(text) - 1 : len(text) - 1 + len(read)] = hidden[read]
            text += new
            yield new


NODES = 96
"""Slots kept free for a tree."""


def judge(tree: Tree, logits: Tensor, temperature: float, draws: Draws) -> Path:
    """What of a tree stands under the target's logits (n+1, V), after the text and after each node."""
    if temperature == 0.0:
        return verify_tree_greedy(tree, np.asarray(logits.argmax(dim=-1)))
    return verify_tree(tree, softmax(logits.numpy(), temperature), draws)


class Chain:
    """A draft of single tokens as a tree without forks, `length` deep."""

    def __init__(self, draft: Draft, length: int) -> None:
        self.draft, self.length = draft, length

    def propose(self, text: Sequence[int], room: int, features: Tensor, stream: Stream | None) -> Tree:
        """The draft's chain; empty where there is no room."""
        del features
        length = min(room, self.length)
        if length == 0:
            return EMPTY
        proposal = self.draft.propose(text, length, stream)
        return Tree(proposal.tokens, chain_parents(len(proposal.tokens)), proposal.probability)


def chain_parents(length: int) -> tuple[int, ...]:
    """The parents of a tree without forks."""
    return tuple(range(ROOT, length + ROOT))


class Nothing:
    """No draft at all: plain decoding."""

    def propose(self, text: Sequence[int], room: int, features: Tensor, stream: Stream | None) -> Tree:
        """An empty tree."""
        del text, room, features, stream
        return EMPTY


def trie(branches_: Sequence[Sequence[int]], depth: int, nodes: int) -> Tree:
    """The branches, most wanted first, as a tree of at most `nodes` nodes, cut at `depth`."""
    found: dict[tuple[int, ...], int] = {}
    tokens: list[int] = []
    parents: list[int] = []
    for branch in branches_:
        for size in range(1, min(len(branch), depth) + 1):
            prefix = tuple(branch[:size])
            if prefix not in found and len(tokens) < nodes:
                parents.append(found.get(prefix[:-1], ROOT))
                found[prefix] = len(tokens)
                tokens.append(prefix[-1])
            if prefix not in found:
                break
    return Tree(tuple(tokens), tuple(parents))
