"""Replay gives text and rounds together the law that live decoding gives them, by enumeration.

The world is a table: vocabulary three, the laws of target and draft depend on the last token alone, and
one token ends the text. The live side runs decode() and verify() themselves; only their choices are
taken over, so that every branch is visited with its probability.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import product
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from engine.contract.seeds import Stream
from engine.decode import live, verifier
from engine.decode.drafts import Draft
from engine.decode.drafts.lookup import Lookup
from engine.decode.llama import Llama
from engine.decode.replay import (
    Accepted,
    Pass,
    by_agreement,
    by_lookup,
    rounds,
    sampled_agreement,
)
from engine.decode.verifier import Draws, Proposal

END = 2
PROMPT = (0, 1)
LIMIT = 4
Laws = NDArray[np.float64]
Key = tuple[tuple[int, ...], tuple[tuple[int, int, int], ...]]
Joint = dict[Key, float]

WORLDS: dict[str, tuple[list[list[float]], list[list[float]]]] = {
    "laws that differ": (
        [[0.5, 0.3, 0.2], [0.1, 0.6, 0.3], [1 / 3] * 3],
        [[0.2, 0.7, 0.1], [0.3, 0.3, 0.4], [1 / 3] * 3],
    ),
    "laws that cannot name a token": (
        [[0.5, 0.5, 0.0], [0.1, 0.6, 0.3], [1 / 3] * 3],
        [[0.2, 0.0, 0.8], [1.0, 0.0, 0.0], [1 / 3] * 3],
    ),
    "equal laws": ([[0.5, 0.3, 0.2]] * 3, [[0.5, 0.3, 0.2]] * 3),
}
"""The laws of target and draft after each token."""


class Choices:
    """Takes over every choice of one run, in the order of a branch, and opens new branches beyond it."""

    def __init__(self, branch: tuple[int, ...]) -> None:
        self.branch, self.used, self.chance = branch, 0, 1.0
        self.open: list[tuple[int, ...]] = []

    def choose(self, law: Sequence[float]) -> int:
        """The branch's next choice; at its end the first possible one, and the others are left open."""
        if self.used == len(self.branch):
            possible = [i for i, weight in enumerate(law) if weight > 0.0]
            self.open += [(*self.branch, i) for i in possible[1:]]
            self.branch = (*self.branch, possible[0])
        chosen = self.branch[self.used]
        self.used += 1
        self.chance *= float(law[chosen])
        return chosen


class TableDraft:
    """Proposes from the draft's table."""

    def __init__(self, laws: Laws, choices: Choices) -> None:
        self.laws, self.choices = laws, choices

    def propose(self, text: Sequence[int], length: int, stream: Stream | None) -> Proposal:
        """`length` tokens, each from the law after the one before."""
        tokens = [text[-1]]
        for _ in range(length):
            tokens.append(self.choices.choose(self.laws[tokens[-1]].tolist()))
        return Proposal(tuple(tokens[1:]), self.laws[tokens[:-1]])


def one_run(target: Laws, make: Callable[[Choices], Draft], length: int, branch: tuple[int, ...]) -> Any:
    """decode() along one branch."""
    choices, chance = Choices(branch), [0.0]
    real = verifier.acceptance

    def acceptance(*given: Any) -> float:
        chance[0] = real(*given)
        return chance[0]

    def accept(_: int) -> list[float]:
        kept = choices.choose([1.0 - chance[0], chance[0]])
        return [chance[0] / 2 if kept else (1.0 + chance[0]) / 2]

    def forward(_: Any, ids: torch.Tensor, *__: Any, last: int) -> torch.Tensor:
        with np.errstate(divide="ignore"):
            return torch.tensor(np.log(target[ids[:, -last:].numpy()]))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(verifier, "acceptance", acceptance)
        patch.setattr(verifier, "draw", lambda law, _: choices.choose(law.tolist()))
        patch.setattr(live, "forward", forward)
        patch.setattr(live, "Cache", lambda *_, **__: None)
        other = SimpleNamespace(uniform=lambda _: [0.5])
        draws = SimpleNamespace(
            draft=other, accept=SimpleNamespace(uniform=accept), residual=other, bonus=other
        )
        decoded = live.decode(
            cast(Llama, None),
            make(choices),
            PROMPT,
            length=length,
            new_tokens=LIMIT,
            end=END,
            draws=cast(Draws, draws),
        )
    key = decoded.tokens, tuple((r.proposed, r.accepted, r.emitted) for r in decoded.rounds)
    return key, choices


def lived(target: Laws, make: Callable[[Choices], Draft], length: int) -> Joint:
    """The joint law of text and rounds under live decoding."""
    joint: Joint = defaultdict(float)
    branches: list[tuple[int, ...]] = [()]
    while branches:
        key, choices = one_run(target, make, length, branches.pop())
        joint[key] += choices.chance
        branches += choices.open
    assert sum(joint.values()) == pytest.approx(1.0, abs=1e-12)
    return joint


@cache
def drafted(world: str, length: int) -> Joint:
    """The joint law of live decoding with the draft of a world."""
    target, draft = map(np.array, WORLDS[world])
    return lived(target, lambda choices: TableDraft(draft, choices), length)


def texts(target: Laws) -> Iterator[tuple[tuple[int, ...], float]]:
    """Every text the target may write, with its probability."""
    for size in range(1, LIMIT + 1):
        for text in product(range(3), repeat=size):
            if END in text[:-1] or (size < LIMIT and text[-1] != END):
                continue
            before = (PROMPT[-1], *text[:-1])
            yield text, float(np.prod([target[b, t] for b, t in zip(before, text, strict=True)]))


def walked(accepted: Accepted, text: tuple[int, ...], length: int) -> tuple[tuple[int, int, int], ...]:
    """The rounds of one text."""
    made = rounds(accepted, text=len(text), length=length, new_tokens=LIMIT)
    return tuple((r.proposed, r.accepted, r.emitted) for r in made)


Rule = Callable[[Pass, Pass], NDArray[np.float64]]


def replayed(target: Laws, draft: Laws, length: int, rule: Rule) -> Joint:
    """The joint law under replay: the text's law, times that of where the draft's token stands."""
    joint: Joint = defaultdict(float)
    for text, chance in texts(target):
        if chance == 0.0:
            continue
        stands = rule(along(target, text), along(draft, text))
        for agrees in product([False, True], repeat=len(text)):
            weight = np.prod(np.where(agrees, stands, 1.0 - stands))
            if weight:
                joint[text, walked(by_agreement(np.array(agrees)), text, length)] += chance * weight
    return joint


def along(laws: Laws, text: tuple[int, ...]) -> Pass:
    """What a pass over a text says of it."""
    rows = laws[[PROMPT[-1], *text[:-1]]]
    with np.errstate(divide="ignore"):
        return Pass(rows.argmax(axis=1), np.log(rows[np.arange(len(text)), list(text)]))


def by_ratio(target: Pass, draft: Pass) -> NDArray[np.float64]:
    """The probability that sampled_agreement() says yes, read off the function itself by bisection."""
    low, high = np.zeros(len(target.best)), np.ones(len(target.best))
    for _ in range(60):
        middle = (low + high) / 2
        says = sampled_agreement(target, draft, middle)
        low, high = np.where(says, middle, low), np.where(says, high, middle)
    return np.where(high > 1e-15, high, 0.0)


def by_equal_draws(target: Pass, draft: Pass) -> NDArray[np.float64]:
    """The wrong rule: a fresh draw of the draft equals the text's token."""
    return np.exp(draft.log_probability)


def apart(one: Joint, two: Joint) -> float:
    """The largest difference of probability of any text with its rounds."""
    return max(abs(one.get(key, 0.0) - two.get(key, 0.0)) for key in {*one, *two})


@pytest.mark.parametrize("length", [1, 2, 3])
@pytest.mark.parametrize("world", WORLDS)
def test_text_and_rounds_have_one_law_live_and_replayed(world: str, length: int) -> None:
    target, draft = map(np.array, WORLDS[world])
    assert apart(drafted(world, length), replayed(target, draft, length, by_ratio)) < 1e-12


@pytest.mark.parametrize("length", [1, 2, 3])
def test_the_text_alone_has_the_targets_law(length: int) -> None:
    target = np.array(WORLDS["laws that differ"][0])
    law: dict[tuple[int, ...], float] = defaultdict(float)
    for (text, _), chance in drafted("laws that differ", length).items():
        law[text] += chance
    assert {text: law[text] for text, _ in texts(target)} == pytest.approx(dict(texts(target)), abs=1e-12)


@pytest.mark.parametrize("length", [1, 2, 3])
def test_equality_of_draws_is_another_law_and_accepts_too_little(length: int) -> None:
    target, draft = map(np.array, WORLDS["laws that differ"])
    right = drafted("laws that differ", length)
    wrong = replayed(target, draft, length, by_equal_draws)
    assert apart(right, wrong) > 0.01

    def kept(joint: Joint) -> float:
        return sum(chance * sum(r[1] for r in walk) for (_, walk), chance in joint.items())

    assert kept(wrong) < kept(right) - 0.1


def test_the_first_draft_token_stands_with_the_overlap_of_the_laws() -> None:
    target, draft = map(np.array, WORLDS["laws that differ"])
    joint = replayed(target, draft, 1, by_ratio)
    stands = sum(chance for (_, walk), chance in joint.items() if walk[0][1] == 1)
    assert stands == pytest.approx(np.minimum(target[PROMPT[-1]], draft[PROMPT[-1]]).sum(), abs=1e-12)


@pytest.mark.parametrize("length", [1, 2, 3])
def test_prompt_lookup_has_one_law_live_and_replayed(length: int) -> None:
    target = np.array(WORLDS["laws that differ"][0])
    live_law = lived(target, lambda _: Lookup(), length)
    again: Joint = defaultdict(float)
    for text, chance in texts(target):
        again[text, walked(by_lookup(PROMPT, text, Lookup()), text, length)] += chance
    assert apart(live_law, again) < 1e-12
    assert any(accepted for _, walk in live_law for _, accepted, _ in walk)
