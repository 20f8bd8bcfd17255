"""Rounds of verify() have exactly the target's law, by enumeration of every uniform draw.

All probabilities are eighths or quarters chosen so that every decision falls on the edge of a cell of
a grid; a uniform draw is then one of a few equally likely numbers, and the whole law of a round is a
finite sum. A stream that asks for another number opens a branch for each.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from itertools import product
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from numpy.typing import NDArray

from engine.decode import verifier
from engine.decode.verifier import Draws, Proposal, Verdict, draw, verify

Table = dict[int, list[float]]
Law = dict[tuple[int, ...], float]

START = -1
TARGET: Table = {
    START: [2 / 8, 3 / 8, 3 / 8],
    0: [4 / 8, 4 / 8, 0],
    1: [2 / 8, 2 / 8, 4 / 8],
    2: [0, 1, 0],
}
DRAFT: Table = {
    START: [4 / 8, 2 / 8, 2 / 8],
    0: [2 / 8, 2 / 8, 4 / 8],
    1: [4 / 8, 4 / 8, 0],
    2: [2 / 8, 2 / 8, 4 / 8],
}
"""The law of the next token after each token: vocabulary three."""


class More(Exception):
    """A stream of some number of cells asked for a draw that the branch does not hold."""


class Grid:
    """Uniform draws from the middles of the cells, in the order that the branch says."""

    def __init__(self, left: list[int], cells: int) -> None:
        self.left, self.cells, self.last = left, cells, 0.0

    def uniform(self, count: int) -> NDArray[np.float64]:
        """One number of the branch."""
        assert count == 1
        if not self.left:
            raise More(self.cells)
        self.last = (self.left.pop(0) + 0.5) / self.cells
        return np.array([self.last])


class Echo:
    """Gives the last number of another stream again: shared noise."""

    def __init__(self, grid: Grid) -> None:
        self.grid = grid

    def uniform(self, count: int) -> NDArray[np.float64]:
        """The number the other stream gave last."""
        return np.array([self.grid.last])


Branch = tuple[int, ...]
Streams = Callable[[Branch], Any]
Round = Callable[[Proposal, NDArray[np.float64], Draws], Verdict]


def separate(branch: Branch) -> Any:
    """Every decision has its own number."""
    left = list(branch)
    cells = {"draft": 4, "accept": 8, "residual": 8, "bonus": 8}
    return SimpleNamespace(**{name: Grid(left, count) for name, count in cells.items()})


def shared(first: str, second: str) -> Streams:
    """The second stream repeats the first."""

    def streams(branch: Branch) -> Any:
        made = separate(branch)
        setattr(made, second, Echo(getattr(made, first)))
        return made

    return streams


def rounds(streams: Streams, judge: Round, drafts: int) -> Law:
    """The law of what one round emits, tokens in order, by visiting every branch."""
    law: Law = defaultdict(float)
    branches: list[tuple[Branch, float]] = [((), 1.0)]
    while branches:
        branch, chance = branches.pop()
        try:
            law[one_round(streams(branch), judge, drafts)] += chance
        except More as more:
            cells: int = more.args[0]
            branches += [((*branch, cell), chance / cells) for cell in range(cells)]
    return law


def one_round(draws: Any, judge: Round, drafts: int) -> tuple[int, ...]:
    """Draft, verify, and what is emitted."""
    tokens, laws, last = [], [], START
    for _ in range(drafts):
        laws.append(DRAFT[last])
        last = draw(np.array(laws[-1]), float(draws.draft.uniform(1)[0]))
        tokens.append(last)
    target = np.array([TARGET[token] for token in (START, *tokens)])
    proposal = Proposal(tuple(tokens), np.array(laws) if laws else None)
    verdict = judge(proposal, target, cast(Draws, draws))
    return (*tokens[: verdict.accepted], verdict.token)


def plain(length: int) -> Law:
    """The target's own law of texts of some length."""
    law: Law = defaultdict(float)
    for text in product(range(3), repeat=length):
        chance = 1.0
        for before, token in zip((START, *text), text, strict=False):
            chance *= TARGET[before][token]
        law[text] = chance
    return law


def continued(law: Law, length: int) -> Law:
    """Each text carried on by the target up to some length."""
    out: Law = defaultdict(float)
    for text, chance in law.items():
        for more in product(range(3), repeat=length - len(text)):
            weight = chance
            for before, token in zip((text[-1], *more), more, strict=False):
                weight *= TARGET[before][token]
            out[*text, *more] += weight
    return out


def lossless(streams: Streams, judge: Round, drafts: int) -> None:
    """Fail unless a round followed by plain decoding has the law of plain decoding."""
    made, expected = continued(rounds(streams, judge, drafts), drafts + 1), plain(drafts + 1)
    assert sum(made.values()) == pytest.approx(1.0, abs=1e-14)
    assert max(abs(made[text] - expected[text]) for text in expected) < 1e-14


@pytest.mark.parametrize("drafts", [0, 1, 2])
def test_a_round_emits_the_targets_law(drafts: int) -> None:
    lossless(separate, verify, drafts)


def test_the_mean_kept_is_the_overlap_of_the_laws() -> None:
    law = rounds(separate, verify, 1)
    kept = sum(chance for text, chance in law.items() if len(text) == 2)
    assert kept == pytest.approx(sum(map(min, TARGET[START], DRAFT[START])), abs=1e-14)


SHARED = {
    "draft and accept": shared("draft", "accept"),
    "draft and residual": shared("draft", "residual"),
    "draft and bonus": shared("draft", "bonus"),
    "accept and residual": shared("accept", "residual"),
    "accept and bonus": shared("accept", "bonus"),
}


@pytest.mark.parametrize("name", SHARED)
def test_noise_shared_between_two_decisions_is_found_out(name: str) -> None:
    with pytest.raises(AssertionError):
        lossless(SHARED[name], verify, 1)


def always(proposal: Proposal, target: NDArray[np.float64], draws: Draws) -> Verdict:
    """Keeps every draft token."""
    return Verdict(len(proposal.tokens), draw(target[-1], float(draws.bonus.uniform(1)[0])))


def off_by_one(proposal: Proposal, target: NDArray[np.float64], draws: Draws) -> Verdict:
    """Draws the bonus from the law before the last draft token."""
    return verify(proposal, np.concatenate([target[:-1], target[-2:-1]]), draws)


def undrawn(proposal: Proposal, target: NDArray[np.float64], draws: Draws) -> Verdict:
    """Takes drawn tokens for tokens that were not drawn."""
    return verify(Proposal(proposal.tokens), target, draws)


def greedy(proposal: Proposal, target: NDArray[np.float64], draws: Draws) -> Verdict:
    """Judges drawn tokens as greedy ones."""
    return verifier.verify_greedy(proposal.tokens, target.argmax(axis=1))


@pytest.mark.parametrize("mutant", [always, off_by_one, greedy])
def test_a_round_judged_wrongly_is_found_out(mutant: Round) -> None:
    with pytest.raises(AssertionError):
        lossless(separate, mutant, 2)


def test_drawn_tokens_judged_as_undrawn_are_kept_less_often() -> None:
    law = rounds(separate, undrawn, 1)
    kept = sum(chance for text, chance in law.items() if len(text) == 2)
    assert kept == pytest.approx(np.dot(TARGET[START], DRAFT[START]), abs=1e-14)


PIECES: dict[str, tuple[str, Callable[..., Any]]] = {
    "accept everything": ("acceptance", lambda target, draft, token: 1.0),
    "replacement from the target": ("residual", lambda target, draft, token: target),
}


@pytest.mark.parametrize("name", PIECES)
def test_a_wrong_piece_inside_verify_is_found_out(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr(verifier, *PIECES[name])
    with pytest.raises(AssertionError):
        lossless(separate, verify, 1)


def test_each_decision_asks_its_own_stream() -> None:
    class Counting:
        def __init__(self, value: float) -> None:
            self.value, self.asked = value, 0

        def uniform(self, count: int) -> NDArray[np.float64]:
            self.asked += count
            return np.full(count, self.value)

    def asked(accept: float) -> list[int]:
        streams = {
            name: Counting(accept if name == "accept" else 0.3)
            for name in ("draft", "accept", "residual", "bonus")
        }
        target = np.array([TARGET[START], TARGET[0], TARGET[1]])
        draft = np.array([DRAFT[START], DRAFT[0]])
        verify(Proposal((0, 1), draft), target, cast(Draws, SimpleNamespace(**streams)))
        return [stream.asked for stream in streams.values()]

    assert asked(accept=0.1) == [0, 2, 0, 1]
    assert asked(accept=0.9) == [0, 1, 1, 0]
