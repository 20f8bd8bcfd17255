"""LADE, lookahead decoding: the target guesses its own future in parallel and keeps the n-grams it meets.

Source: Fu et al. 2024. A window of W columns and up to N-1 levels of guessed tokens stands before the end of
the text. One pass gives every column a next token; column by column, its levels and that token are an n-gram,
kept in a pool under its first token. What the pool holds under the newest token of the text, at most G
continuations, is verified as a tree. The window is filled by the likeliest token at any temperature and
depends on nothing but text, model and settings, so that rounds follow from the text.

Two liberties, neither of which changes text or rounds. The window has a pass of its own, after the check
rather than in it. And continuations are cut to N-2 tokens: the last of N-1 would be replaced by the target's
own where it fails, and nothing is added where it stands, so a round has N-1 tokens either way.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from engine.contract.seeds import Stream
from engine.decode.branches import Slots
from engine.decode.llama import Cache, Llama, final_hidden, hidden_at
from engine.decode.scheme import Request, Scheme, Speculative, trie
from engine.decode.tree import Tree

if TYPE_CHECKING:
    from engine.decode.schemes import Parts


@dataclass(frozen=True)
class Settings:
    """W, N and G of the paper, and whether the prompt's n-grams enter the pool first."""

    window: int = 7
    ngram: int = 5
    guesses: int = 7
    pool_from_prompt: bool = True

    @property
    def levels(self) -> int:
        """Levels of a full window."""
        return self.ngram - 1

    @property
    def tokens(self) -> int:
        """Guessed tokens of a full window."""
        return self.window * self.levels


@dataclass
class Pool:
    """Continuations by first token, the least recently met dropped first."""

    guesses: int
    _kept: dict[int, OrderedDict[tuple[int, ...], None]] = field(default_factory=dict)

    def add(self, ngram: Sequence[int]) -> None:
        """Keep an n-gram, or call it met again."""
        kept = self._kept.setdefault(ngram[0], OrderedDict())
        kept[tuple(ngram[1:])] = None
        kept.move_to_end(tuple(ngram[1:]))
        if len(kept) > self.guesses:
            kept.popitem(last=False)

    def after(self, token: int) -> list[tuple[int, ...]]:
        """The continuations of a token, the oldest first."""
        return list(self._kept.get(token, ()))


@dataclass
class State:
    """Window and pool of one text. `levels[l][i]` stands i + l + 1 places after the newest token."""

    settings: Settings
    pool: Pool
    levels: list[list[int]]

    @classmethod
    def start(cls, prompt: Sequence[int], settings: Settings) -> State:
        """One level, of the prompt's last tokens over and over, and the pool of the prompt's n-grams."""
        pool = Pool(settings.guesses)
        if settings.pool_from_prompt:
            for first in range(len(prompt) - settings.ngram + 1):
                pool.add(prompt[first : first + settings.ngram])
        return cls(settings, pool, [[prompt[-1 - i % len(prompt)] for i in range(settings.window)]])

    def tree(self, newest: int, room: int) -> Tree:
        """What the pool offers after the newest token."""
        depth = min(room, self.settings.ngram - 2)
        return trie(self.pool.after(newest), depth, self.settings.guesses * self.settings.ngram)

    def move(self, new: Sequence[int]) -> None:
        """Take the window's next tokens, one a column: keep the n-grams they end, and slide on."""
        self.levels.append(list(new))
        if len(self.levels) > self.settings.levels:
            for column in zip(*self.levels, strict=True):
                self.pool.add(column)
            self.levels.pop(0)


def advance(model: Llama, cache: Cache, texts: Sequence[Sequence[int]], states: Sequence[State]) -> None:
    """One pass over the windows of several texts, whose caches hold them but for their newest tokens.

    All windows have the same number of levels. Slots beyond every text are used as a scratch.
    """
    settings, levels = states[0].settings, len(states[0].levels)
    scratch = cache.capacity - settings.tokens - 1
    if scratch < max(map(len, texts)):
        raise ValueError(f"a cache of {cache.capacity} has no room for the window")
    windows = [[token for level in state.levels for token in level] for state in states]
    ids = [[text[-1], *window] for text, window in zip(texts, windows, strict=True)]
    lengths = torch.tensor([len(text) for text in texts])
    offsets = torch.tensor([0, *(i + level + 1 for level in range(levels) for i in range(settings.window))])
    count = len(offsets)
    positions = torch.clamp(lengths[:, None] - 1 + offsets, max=cache.capacity - 1)
    slots = torch.arange(scratch, scratch + count).expand(len(texts), -1)
    mask = torch.zeros(len(texts), count, scratch + count, dtype=torch.bool)
    mask[:, :, :scratch] = torch.arange(scratch) < (lengths - 1)[:, None, None]
    mask[:, :, scratch:] = sight(settings.window, levels)
    hidden = hidden_at(model, torch.tensor(ids), Slots(cache, slots, positions, mask))
    best = model.token(model.head(hidden[:, -settings.window :]).argmax(dim=-1))
    for state, new in zip(states, best.tolist(), strict=True):
        state.move(new)


def sight(window: int, levels: int) -> Tensor:
    """What the newest token and the window's tokens see of each other: (1 + W L, 1 + W L).

    The first level is a text of its own; a token above it sees the first level up to its column, and its
    column below itself.
    """
    seen = torch.zeros(1 + window * levels, 1 + window * levels, dtype=torch.bool)
    seen[:, 0] = True
    for level in range(levels):
        for column in range(window):
            row = 1 + level * window + column
            seen[row, 1 : 2 + column] = True
            seen[row, [1 + below * window + column for below in range(level + 1)]] = True
    return seen


class Lookahead:
    """The drafter of one request: the state, and a cache of the target's for the window's passes."""

    def __init__(self, model: Llama, request: Request, settings: Settings) -> None:
        self.model, self.state = model, State.start(request.prompt, settings)
        self.cache = Cache(model, rows=1, capacity=request.last + settings.tokens + 2)
        self.read, self.moved = 0, False

    def propose(self, text: Sequence[int], room: int, features: Tensor, stream: Stream | None) -> Tree:
        """Move the window after the text that the last round left, then offer what the pool holds."""
        del features, stream
        if len(text) - 1 > self.read:
            unread = torch.tensor([list(text[self.read : -1])])
            final_hidden(self.model, unread, self.cache, self.read)
            self.read = len(text) - 1
        if self.moved:
            advance(self.model, self.cache, [text], [self.state])
        self.moved = True
        return self.state.tree(text[-1], room)


NAME = "lade"
NEEDS = ()


def scheme(parts: Parts) -> Scheme:
    """The scheme of these parts."""

    def drafter(request: Request) -> Lookahead:
        return Lookahead(parts.target, request, parts.lade)

    return Speculative(NAME, parts.lade.ngram - 1, parts.target, drafter)
