"""Passages from a harvest: the target's states as recorded, the draft's from one pass over the same text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from engine.contract.errors import BadData
from engine.decode.llama import Cache, Llama, final_hidden
from engine.observe.conversion import (
    NOWHERE,
    Floats,
    Heads,
    Integers,
    Passage,
    Rows,
    by_answer,
    by_stream,
    hashed,
)

Arrays = Mapping[str, NDArray[Any]]
ANSWER_RANKS = 4
"""How many of the target's likeliest tokens the oracle's stream holds."""


@dataclass(frozen=True)
class Pair:
    """Target and draft."""

    target: Llama
    draft: Llama

    @cached_property
    def named(self) -> Integers:
        """The tokens that the draft's head lists, in its order. (H,)"""
        listed = self.draft.head_tokens
        every = torch.arange(self.draft.shape.vocabulary) if listed is None else listed
        out: Integers = every.numpy().astype(np.int64)
        return out

    @cached_property
    def heads(self) -> Heads:
        """Both heads over those tokens."""
        target = self.target.head.matrix[torch.from_numpy(self.named)].double().numpy()
        return Heads(target, self.draft.head.matrix.double().numpy())

    @cached_property
    def place(self) -> Integers:
        """Where each token of the vocabulary stands among the draft's, or `NOWHERE`. (V,)"""
        out = np.full(self.target.shape.vocabulary, NOWHERE)
        out[self.named] = np.arange(len(self.named))
        return out


@dataclass(frozen=True)
class Span:
    """The rows of one text in a harvest."""

    cluster: int
    text: int
    rows: slice


def spans(arrays: Arrays) -> list[Span]:
    """The texts of a harvest in order; `BadData` where its rows are not contiguous by text."""
    keys = np.stack([np.asarray(arrays["prompt"]), np.asarray(arrays["text"])], axis=1)
    starts = np.flatnonzero(np.concatenate([[True], (keys[1:] != keys[:-1]).any(axis=1)]))
    ends = [*starts[1:], len(keys)]
    out = [
        Span(int(keys[a][0]), int(keys[a][1]), slice(int(a), int(b)))
        for a, b in zip(starts, ends, strict=True)
    ]
    if len({(span.cluster, span.text) for span in out}) != len(out):
        raise BadData("a harvest", "has a text in two places.", "Delete its folder and harvest again.")
    return out


@torch.inference_mode()
def draft_states(pair: Pair, prompt: Sequence[int], tokens: Sequence[int]) -> Floats:
    """The draft's final states from the prompt's last token on; `tokens` come after the prompt."""
    ids = torch.tensor([[*prompt, *tokens]])
    hidden = final_hidden(pair.draft, ids, Cache(pair.draft, rows=1, capacity=ids.shape[1]), 0)
    out: Floats = hidden[0, len(prompt) - 1 :].double().numpy()
    return out


@torch.inference_mode()
def target_log_probability(pair: Pair, states: Rows, tokens: Integers) -> Floats:
    """Log-probability of each token under the target whose final states these are. (n, width), (n,) → (n,)"""
    logits = pair.target.head(torch.tensor(states)).double()
    chosen = logits[torch.arange(len(tokens)), torch.from_numpy(tokens)]
    return np.asarray(chosen - logits.logsumexp(dim=-1))


@dataclass(frozen=True)
class Texts:
    """What every arm reads of the texts of a harvest, without a stream."""

    spans: tuple[Span, ...]
    plain: tuple[Passage, ...]  # with no rows
    answers: tuple[Rows, ...]  # the oracle's rows, one a position


def texts(arrays: Arrays, pair: Pair, prompts: Sequence[Sequence[int]], slots: int) -> Texts:
    """Read every text of a harvest. `prompts` holds token ids by cluster.

    A harvest ends one position before its text does, so a passage is a text without its last token.
    """
    found = tuple(spans(arrays))
    plain = tuple(_passage(arrays, pair, prompts, span) for span in found)
    ids = np.asarray(arrays["top_ids"])[:, :ANSWER_RANKS].astype(np.int64)
    return Texts(found, plain, tuple(hashed(ids[span.rows], slots) for span in found))


def _passage(arrays: Arrays, pair: Pair, prompts: Sequence[Sequence[int]], span: Span) -> Passage:
    tokens = np.asarray(arrays["next_token"][span.rows]).astype(np.int64)
    hidden = np.asarray(arrays["hidden"][span.rows])
    return Passage(
        named=pair.place[tokens],
        log_probability=target_log_probability(pair, hidden, tokens),
        target_states=hidden.astype(np.float64),
        draft_states=draft_states(pair, prompts[span.cluster], tokens[:-1].tolist()),
        rows=(),
    )


def with_stream(read: Texts, features: Rows, offsets: int) -> Iterator[Passage]:
    """The passages with a stream's rows, (N, d) over the whole harvest."""
    for span, passage in zip(read.spans, read.plain, strict=True):
        yield _given(passage, by_stream(features[span.rows], offsets))


def with_answers(read: Texts, offsets: int) -> Iterator[Passage]:
    """The passages with the oracle's rows: the target's own likeliest tokens at the steered position, hashed.

    They depend on the text before that position alone, so that the law stays one the verifier may judge.
    """
    for passage, answers in zip(read.plain, read.answers, strict=True):
        yield _given(passage, by_answer(answers, offsets))


def _given(passage: Passage, rows: tuple[Rows, ...]) -> Passage:
    return Passage(passage.named, passage.log_probability, passage.target_states, passage.draft_states, rows)
