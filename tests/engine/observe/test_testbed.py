"""The synthetic world: its closed forms are what its draws do, and its fast rule is the verifier's."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from engine.contract.errors import BadData
from engine.contract.seeds import Stream
from engine.decode.verifier import Draws
from engine.observe.testbed import Rounds, World, emitted, emitted_live, harvest, read

QUIET, LOUD = World.with_margin(0.0), World.with_margin(0.03)


class Given:
    """Draws taken, round by round, from what the fast rule was given."""

    def __init__(self, rows: Any) -> None:
        self.rows, self.row = iter(rows.reshape(-1, rows.shape[-1])), iter(())

    def next_round(self, count: int) -> Any:
        """All draws of a round."""
        return next(self.rows)[:count]


def test_rounds_judged_at_once_are_those_of_the_verifier_given_the_same_draws() -> None:
    rounds = Rounds.drawn(LOUD, 6, 20, 4, Stream(1, "rounds"))
    drafts, accepts = Given(rounds.draft), Given(rounds.accept)
    state: dict[str, Any] = {}

    def drafted(count: int) -> Any:
        state["accept"] = iter(accepts.next_round(count))  # a new round begins with its drafting
        return drafts.next_round(count)

    zero = SimpleNamespace(uniform=lambda count: np.zeros(count))
    draws: Any = SimpleNamespace(
        draft=SimpleNamespace(uniform=drafted),
        accept=SimpleNamespace(uniform=lambda count: np.array([next(state["accept"])])),
        residual=zero,
        bonus=zero,
    )
    for steered in (True, False):
        drafts.rows, accepts.rows = (iter(each.reshape(-1, 4)) for each in (rounds.draft, rounds.accept))
        live = emitted_live(LOUD, rounds, draws, steered=steered)
        assert live.tolist() == emitted(LOUD, rounds, steered=steered).sum(axis=1).tolist()


@pytest.mark.parametrize("steered", [True, False])
def test_tokens_a_check_are_those_of_the_closed_form(steered: bool) -> None:
    made = emitted(LOUD, Rounds.drawn(LOUD, 200, 400, 4, Stream(2, "many")), steered=steered)
    error = made.mean(axis=1).std() / np.sqrt(200)
    assert made.mean() == pytest.approx(LOUD.tokens(4, steered=steered), abs=4.5 * error)
    assert LOUD.gain(4) > 10 * error  # a rule that ignored the stream would not pass


def test_the_verifier_with_its_own_draws_finds_the_gain_too() -> None:
    rounds = Rounds.drawn(LOUD, 40, 40, 4, Stream(3, "live"))
    made = emitted_live(LOUD, rounds, Draws(3, "live"), steered=True) / 40
    assert made.mean() == pytest.approx(LOUD.tokens(4, steered=True), abs=4.5 * made.std() / np.sqrt(40))


def margins(world: World, studies: int) -> Any:
    """Margins of whole studies: 150 clusters of training, 210 held out."""
    out = []
    for turn in range(studies):
        train, held_out = (
            harvest(world, count, 127, Stream(turn, name)) for name, count in (("train", 150), ("test", 210))
        )
        plain, twin = read(train, held_out, Stream(turn, "scramble"))
        out.append((plain - twin).sum() / held_out.token.size)
    return np.array(out)


@pytest.mark.parametrize("planted", [0.0, 0.01, 0.03])
def test_readers_find_the_margin_that_was_planted(planted: float) -> None:
    found = margins(World.with_margin(planted), 25)
    assert World.with_margin(planted).margin == pytest.approx(planted)
    assert found.mean() == pytest.approx(planted, abs=4.5 * found.std() / 5)


def test_a_scrambled_stream_is_worth_nothing_to_the_best_reader() -> None:
    train, held_out = (harvest(LOUD, count, 127, Stream(9, f"{count}")) for count in (150, 210))
    plain, twin = read(train, held_out, Stream(9, "scramble"))
    assert (plain - twin).sum() / held_out.token.size > 0.02
    again, other = read(train, held_out, Stream(10, "scramble"))
    assert np.array_equal(plain, again) and abs(int(twin.sum() - other.sum())) < 0.01 * held_out.token.size


def test_without_telling_positions_nothing_is_gained_and_nothing_is_to_be_read() -> None:
    assert (QUIET.margin, QUIET.gain(4)) == (0.0, 0.0)
    assert not (harvest(QUIET, 20, 50, Stream(1, "quiet")).symbol < 2).any()


@pytest.mark.parametrize(
    "dials", [{"telling": 1.5}, {"telling": -0.1}, {"open_share": 0.8}, {"certainty": 0.1}]
)
def test_dials_that_make_no_world_are_refused(dials: dict[str, float]) -> None:
    with pytest.raises(BadData, match="make no world"):
        World(**({"telling": 0.5} | dials))


def test_a_margin_that_no_stream_could_be_worth_is_refused() -> None:
    with pytest.raises(BadData, match="make no world"):
        World.with_margin(0.2)
