"""Texts of the target, and the rounds in which each lossless scheme would have sent them.

The target writes every answer once, many rows at a time; what the draft model and the feature head say along
it is read in one pass each. All lossless schemes share the answers: given an answer, their rounds have the
law of live decoding (tests of replay). Shapes: B rows, n tokens, w width.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from engine.contract.seeds import Stream
from engine.decode import eagle, replay
from engine.decode.drafts.lookup import Lookup
from engine.decode.eagle_training import rotary
from engine.decode.llama import Cache, Llama, final_hidden, forward
from engine.decode.replay import Accepted
from engine.decode.sample import Decoder, Row
from engine.decode.scheme_replay import by_tree
from engine.decode.schemes import Parts

REPLAYED = ("plain", "lookup", "draft", "rest", "eagle")


@dataclass(frozen=True)
class Answer:
    """One answer, the target's log-probability of each token (n,), its features (prompt + n - 1, w)."""

    tokens: tuple[int, ...]
    log_probability: NDArray[np.float64]
    features: Tensor


class Recorder(Decoder):
    """Plain decoding that keeps what it saw; equal prompts are read once."""

    def prefill(self, watch: object = None) -> Tensor:
        """Read every different prompt. Returns the last logits (B, V)."""
        del watch
        self.prompts: list[Tensor] = []
        self.steps: list[Tensor] = []
        self.said: list[Tensor] = []
        first: dict[tuple[int, ...], int] = {}
        for index, row in enumerate(self.rows):
            size = len(row.prompt)
            source = first.setdefault(row.prompt, index)
            if source == index:
                one = Cache(self.model, rows=1, capacity=size)
                self.prompts.append(final_hidden(self.model, torch.tensor([row.prompt]), one, 0)[0])
                self.cache.keys[:, index, :, :size] = one.keys[:, 0]
                self.cache.values[:, index, :, :size] = one.values[:, 0]
            else:
                self.prompts.append(self.prompts[source])
                self.cache.keys[:, index] = self.cache.keys[:, source]
                self.cache.values[:, index] = self.cache.values[:, source]
        return self.model.head(torch.stack([hidden[-1] for hidden in self.prompts]))

    def choose(self, logits: Tensor) -> Tensor:
        """As plain decoding does; keeps the log-probability of what was chosen."""
        chosen = super().choose(logits)
        scale = torch.tensor([row.temperature for row in self.rows])[:, None]
        law = (logits.double() / scale).log_softmax(dim=-1)
        self.said.append(law.gather(-1, chosen[:, None])[:, 0])
        return chosen

    def step(self, tokens: Tensor) -> Tensor:
        """As plain decoding does; keeps the features."""
        hidden = final_hidden(self.model, tokens[:, None], self.cache, self.length)
        self.length = torch.clamp(self.length + 1, max=self.cache.capacity - 1)
        self.steps.append(hidden[:, 0])
        return self.model.head(hidden)[:, 0]

    def run(self) -> list[Answer]:
        """All answers, in the order of the rows."""
        logits = self.prefill()
        while True:
            tokens = self.choose(logits)
            if not any(self.open):
                break
            logits = self.step(tokens)
        said = torch.stack(self.said, dim=1)
        return [self._answer(index, said[index]) for index in range(len(self.rows))]

    def _answer(self, index: int, said: Tensor) -> Answer:
        count = len(self.texts[index])
        steps = [step[index] for step in self.steps[: count - 1]]
        features = torch.cat([self.prompts[index], *(step[None] for step in steps)])
        return Answer(tuple(self.texts[index]), np.asarray(said[:count]), features)


def write(target: Llama, rows: Sequence[Row], *, new_tokens: int, end: int) -> list[Answer]:
    """The target's answers to all rows at once."""
    return Recorder(target, rows, new_tokens, end).run()


@dataclass(frozen=True)
class Rounds:
    """Tokens a round under every replayed scheme, and where first guesses of the feature head stand.

    `first` and `first_shuffled` count the starts at which the head's first token stands, by its true features
    and by features in another order; `starts` counts them all.
    """

    counts: dict[str, list[int]]
    first: int
    first_shuffled: int
    starts: int


def rounds(
    parts: Parts,
    prompt: Sequence[int],
    answers: Sequence[Answer],
    names: Sequence[str],
    *,
    temperature: float,
    new_tokens: int,
    root: int,
) -> list[Rounds]:
    """The rounds of several answers to one prompt; `names` are those of their random streams."""
    assert parts.draft is not None and parts.head is not None and parts.datastore is not None
    stood = list(
        _draft_stands(parts.draft, prompt, answers, [f"{name}/draft" for name in names], temperature, root)
    )
    orders = [
        Stream(root, f"{name}/shuffle").permutation(len(answer.features))
        for name, answer in zip(names, answers, strict=True)
    ]
    chains = read_head(parts.head, prompt, answers, parts.length, temperature)
    mixed = read_head(parts.head, prompt, answers, 1, temperature, orders)
    out = []
    for index, answer in enumerate(answers):
        text, said = answer.tokens, answer.log_probability
        uniform = Stream(root, f"{names[index]}/eagle").uniform(len(text))
        true = eagle.stands(chains[index], said, text, uniform)
        other = eagle.stands(mixed[index], said, text, uniform)
        accepted: dict[str, tuple[Accepted, int]] = {
            "plain": (lambda start, room: (0, 0), 0),
            "lookup": (replay.by_lookup(prompt, text, Lookup(parts.longest, parts.shortest)), parts.length),
            "draft": (replay.by_agreement(stood[index]), parts.length),
            "rest": (by_tree(prompt, text, parts.datastore.tree), parts.datastore.settings.following),
            "eagle": (eagle.by_chains(true), parts.length),
        }
        counts = {
            name: [r.emitted for r in replay.rounds(a, text=len(text), length=k, new_tokens=new_tokens)]
            for name, (a, k) in accepted.items()
        }
        out.append(Rounds(counts, int(true[:, 0].sum()), int(other[:, 0].sum()), len(text)))
    return out


def _draft_stands(
    draft: Llama,
    prompt: Sequence[int],
    answers: Sequence[Answer],
    names: Sequence[str],
    temperature: float,
    root: int,
) -> Iterator[NDArray[np.bool_]]:
    """Where the draft model's token stands in each answer. (n,) each"""
    texts = [answer.tokens for answer in answers]
    longest = max(map(len, texts))
    ids = torch.tensor([[*prompt, *text, *[0] * (longest - len(text))] for text in texts])
    cache = Cache(draft, rows=len(texts), capacity=ids.shape[1])
    logits = forward(draft, ids[:, :-1], cache, 0, last=longest) / temperature
    named = eagle.named(draft, logits, ids[:, len(prompt) :])
    for row, (answer, name) in enumerate(zip(answers, names, strict=True)):
        count = len(answer.tokens)
        nothing = np.zeros(count, dtype=np.int64)
        target = replay.Pass(nothing, answer.log_probability)
        own = replay.Pass(nothing, np.asarray(named[row, :count]))
        yield replay.sampled_agreement(target, own, Stream(root, name).uniform(count))


def read_head(
    head: eagle.Head,
    prompt: Sequence[int],
    answers: Sequence[Answer],
    depth: int,
    temperature: float,
    orders: Sequence[NDArray[np.int64]] | None = None,
) -> list[eagle.Chains]:
    """What the feature head says along several answers; `orders` mix the features of each."""
    longest = max(len(answer.features) for answer in answers)
    rows = torch.zeros(len(answers), longest, head.model.shape.width)
    for index, answer in enumerate(answers):
        features = answer.features
        if orders is not None:
            features = features[torch.from_numpy(orders[index])]
        rows[index, : len(features)] = features
    texts = [answer.tokens for answer in answers]
    angles = rotary(head.model, longest + depth + 1)
    return eagle.read(head, rows, prompt, texts, depth=depth, temperature=temperature, angles=angles)
