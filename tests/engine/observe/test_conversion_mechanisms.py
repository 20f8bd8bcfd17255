"""Both mechanisms on synthetic streams: a planted signal is found, noise and the scrambled twin give nothing.

The world: at every position a latent of twelve values fixes the target's law; the draft knows nothing. A
planted stream at c names the latents of the positions it can steer, a stream of noise names random ones.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from engine.contract.errors import BadData
from engine.contract.seeds import Stream
from engine.decode.replay import rounds
from engine.observe import conversion
from engine.observe.conversion import NOWHERE, Heads, Passage, by_offset, chances, scrambled
from engine.observe.conversion_bias import BiasGrid, basis
from engine.observe.conversion_retrieval import Memory, RetrievalGrid
from engine.stats.statistic import Table, compute

LATENTS, TOKENS, WIDTH, LENGTH, OFFSETS = 12, 30, 8, 40, 3
GRIDS: dict[str, Any] = {
    "bias": BiasGrid(rank=6, penalties=(0.01, 1.0), scales=(0.5, 1.0)),
    "retrieval": RetrievalGrid(neighbours=(8,), weights=(0.1, 0.4)),
}


def world(seed: int, prompts: int, *, planted: bool) -> tuple[Heads, list[Passage]]:
    """Heads, and passages whose streams do or do not name the latents ahead."""
    fixed = np.random.default_rng(0)
    heads = Heads(fixed.normal(size=(TOKENS, WIDTH)), fixed.normal(size=(TOKENS, WIDTH)))
    states = fixed.normal(size=(LATENTS, WIDTH))
    rng = np.random.default_rng(seed)
    return heads, [_passage(rng, heads, states, planted) for _ in range(prompts)]


def _passage(rng: np.random.Generator, heads: Heads, states: Any, planted: bool) -> Passage:
    latent = rng.integers(LATENTS, size=LENGTH + OFFSETS)
    target = states[latent[:LENGTH]]
    logits = target @ heads.target.T
    law = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    named = np.array([rng.choice(TOKENS, p=row) for row in law])
    shown = latent if planted else rng.integers(LATENTS, size=LENGTH + OFFSETS)
    ahead = [np.eye(LATENTS)[shown[j + 1 : j + 1 + LENGTH]] for j in range(OFFSETS)]
    stream = np.concatenate([np.pad(each, ((0, LENGTH - len(each)), (0, 0))) for each in ahead], axis=1)
    return Passage(
        named=named,
        log_probability=np.log(law[np.arange(LENGTH), named]),
        target_states=target,
        draft_states=rng.normal(size=(LENGTH, WIDTH)) * 0.1,
        rows=conversion.by_stream(stream, OFFSETS),
    )


def gain(heads: Heads, passages: list[Passage], fitted: Any, seed: int = 1) -> dict[str, Any]:
    """Tokens a check with the mechanism minus those without, with the interval of the record."""
    rows = []
    for index, passage in enumerate(passages):
        uniform = Stream(seed, f"prompt-{index}").uniform(len(passage))[:, None]
        row = [index]
        for arm in (fitted, None):
            walked = rounds(
                by_offset(uniform < chances(passage, heads, arm)),
                text=len(passage),
                length=OFFSETS,
                new_tokens=LENGTH,
            )
            row += [sum(r.emitted for r in walked), len(walked)]
        rows.append(row)
    table = Table.from_rows(["cluster", "a", "b", "c", "d"], rows, root=1, resamples=2000, level=0.95)
    minus = {"kind": "ratio", "numerator": ["c"], "denominator": ["d"], "stream": "bootstrap"}
    statistic = {"kind": "difference", "numerator": ["a"], "denominator": ["b"], "minus": minus}
    return compute(statistic | {"stream": "bootstrap"}, table)


def attempt(name: str, *, planted: bool, twin: bool = False) -> dict[str, Any]:
    """One attempt: fitted on forty passages, chosen on ten, judged on forty others."""
    heads, training = world(1, 40, planted=planted)
    _, validation = world(2, 10, planted=planted)
    _, test = world(3, 40, planted=planted)
    if twin:
        training, validation, test = (
            scrambled(part, 7, f"twin/{i}") for i, part in enumerate((training, validation, test))
        )
    return gain(heads, test, GRIDS[name].fit(heads, training, validation))


@pytest.mark.parametrize("name", GRIDS)
def test_a_planted_signal_becomes_tokens(name: str) -> None:
    found = attempt(name, planted=True)
    assert found["low"] > 0.0
    assert found["value"] >= 0.062


@pytest.mark.parametrize("name", GRIDS)
def test_a_stream_of_noise_wins_no_more_than_the_mean_of_the_fit(name: str) -> None:
    noise, twin = attempt(name, planted=False), attempt(name, planted=False, twin=True)
    assert abs(noise["value"] - twin["value"]) < 0.062


@pytest.mark.parametrize("name", GRIDS)
def test_the_scrambled_twin_loses_what_the_stream_won(name: str) -> None:
    stream, twin = attempt(name, planted=True), attempt(name, planted=True, twin=True)
    assert twin["high"] < stream["low"]


def test_the_twin_has_the_rows_of_the_stream_in_another_order() -> None:
    _, passages = world(1, 5, planted=True)
    twins = scrambled(passages, 7, "twin")
    for offset in range(OFFSETS):
        own, other = (np.concatenate([p.rows[offset] for p in part]) for part in (passages, twins))
        assert sorted(map(tuple, own)) == sorted(map(tuple, other))
        assert (own != other).any(axis=1).mean() > 0.5
    assert [p.rows[0].shape for p in twins] == [p.rows[0].shape for p in passages]


def test_a_basis_of_full_rank_gives_the_gap_between_the_logits_back() -> None:
    heads, passages = world(1, 10, planted=True)
    found = basis(heads, passages, 2 * WIDTH)
    one = passages[0]
    gap = one.target_states @ heads.target.T - one.draft_states @ heads.draft.T
    gap -= gap.mean(axis=1, keepdims=True)
    assert np.allclose(found.coefficients(one) @ found.directions.T, gap, atol=1e-8)
    assert np.allclose(found.directions.T @ found.directions, np.eye(2 * WIDTH), atol=1e-8)


def test_a_basis_wider_than_the_gap_is_refused() -> None:
    heads, passages = world(1, 10, planted=True)
    with pytest.raises(BadData, match="wider than the gap"):
        basis(heads, passages, 2 * WIDTH + 1)


def test_the_first_round_has_no_stream() -> None:
    heads, passages = world(1, 10, planted=True)
    fitted = GRIDS["bias"].fit(heads, passages[:8], passages[8:])
    steered, plain = chances(passages[9], heads, fitted), chances(passages[9], heads, None)
    for offset in range(OFFSETS):
        assert steered[offset, offset] == plain[offset, offset]
    assert (steered[OFFSETS:] != plain[OFFSETS:]).mean() > 0.5


def test_a_token_the_draft_cannot_name_never_stands() -> None:
    heads, passages = world(1, 10, planted=True)
    fitted = [grid.fit(heads, passages[:8], passages[8:]) for grid in GRIDS.values()]
    hidden = replace(passages[9], named=np.full(LENGTH, NOWHERE))
    for each in (None, *fitted):
        assert not chances(hidden, heads, each).any()


def test_a_memory_finds_the_stream_it_was_given() -> None:
    rng = np.random.default_rng(3)
    rows = (rng.random((50, 40)) < 0.2).astype(float)
    tokens, share = Memory(rows, np.arange(50)).votes(rows, 1)
    assert tokens[:, 0].tolist() == list(range(50))
    assert share[:, 0] == pytest.approx(1.0)


def test_a_row_that_touches_no_known_slot_casts_no_vote() -> None:
    memory = Memory(np.eye(4), np.array([1, 2, 3, NOWHERE]))
    assert memory.votes(np.zeros((1, 4)), 4)[1].sum() == 0.0
    with pytest.raises(BadData, match="5 neighbours"):
        memory.votes(np.eye(4), 5)


def test_hashed_tokens_touch_one_slot_a_rank() -> None:
    rows = conversion.hashed(np.array([[5, 5], [6, 5], [5, 7]]), 16)
    assert rows.shape == (3, 32)
    assert rows.sum(axis=1).tolist() == [2.0, 2.0, 2.0]
    assert (rows[0, :16] == rows[2, :16]).all() and (rows[0, 16:] == rows[1, 16:]).all()


def test_the_expected_run_is_the_mean_of_replayed_ones() -> None:
    rng = np.random.default_rng(5)
    chance = rng.random((12, 3))
    runs = []
    for _ in range(4000):
        stands = rng.random((12, 1)) < chance
        walk = by_offset(stands)
        runs.append(np.mean([walk(start, 3)[1] for start in range(12)]))
    assert conversion.expected_run(chance) == pytest.approx(np.mean(runs), abs=4 * np.std(runs) / 63)
