"""Caches against plain references, the predictor on planted routing, and controls that must read full."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest

from engine.contract.errors import BadData
from engine.observe import economics, prefetch
from engine.observe.prefetch import Text, TokenTable

LAYERS, EXPERTS, CHOSEN, SLOTS = 2, 12, 2, 4


def trace(seed: int, length: int = 40, *, follows: bool = False) -> np.ndarray:
    """Random routing; where it follows, a forward's experts are the last one's, each moved by one."""
    rng = np.random.default_rng(seed)
    out = np.zeros((length, LAYERS, EXPERTS), dtype=bool)
    for t in range(length):
        for layer in range(LAYERS):
            chosen = rng.choice(EXPERTS, CHOSEN, replace=False)
            if follows and t:
                chosen = (np.flatnonzero(out[t - 1, layer]) + 1) % EXPERTS
            out[t, layer, chosen] = True
    return out


def reference(needed: np.ndarray, slots: int) -> int:
    """Hits of a most-recent cache, with lists; a forward's experts enter in rising order."""
    hits = 0
    for layer in range(needed.shape[1]):
        cache: list[int] = []
        for t, row in enumerate(needed[:, layer]):
            wanted = np.flatnonzero(row).tolist()
            hits += sum(expert in cache for expert in wanted) if t else 0
            cache = [*(e for e in cache if e not in wanted), *reversed(wanted)][-slots:]
    return hits


@pytest.mark.parametrize("seed", range(6))
def test_the_most_recent_cache_equals_a_plain_one(seed: int) -> None:
    needed = trace(seed)
    assert prefetch.recent(needed, SLOTS).hits == reference(needed, SLOTS)


def best(needed: np.ndarray, slots: int) -> int:
    """The most hits of any on-demand cache of one layer, by trying every one."""
    states = {frozenset(np.flatnonzero(needed[0]).tolist()): 0}
    for row in needed[1:]:
        wanted, after = frozenset(np.flatnonzero(row).tolist()), dict[frozenset[int], int]()
        for held, hits in states.items():
            found = hits + len(held & wanted)
            others = held - wanted
            for count in range(min(slots - len(wanted), len(others)) + 1):
                for rest in combinations(sorted(others), count):
                    new = wanted | set(rest)
                    after[new] = max(after.get(new, 0), found)
        states = after
    return max(states.values())


@pytest.mark.parametrize("seed", range(4))
def test_belady_is_the_best_of_all_caches_on_demand(seed: int) -> None:
    needed = trace(seed, 12)
    wanted = sum(best(needed[:, layer], SLOTS) for layer in range(LAYERS))
    assert prefetch.belady(needed, SLOTS).hits == wanted
    assert prefetch.recent(needed, SLOTS).hits <= wanted
    assert prefetch.frequent(needed, SLOTS).hits <= wanted


def test_the_answer_itself_hits_always_and_wastes_only_spare_slots() -> None:
    needed = trace(1)
    found = prefetch.ready(needed, needed.astype(float), SLOTS)
    assert found.hits == found.needed == (len(needed) - 1) * LAYERS * CHOSEN
    assert found.evicted == 0
    exact = prefetch.ready(needed, needed.astype(float), CHOSEN)
    assert exact.useful == exact.issued == exact.moved


def test_scores_that_know_nothing_hit_by_chance() -> None:
    needed = trace(2, 2000)
    noise = np.random.default_rng(9).random(needed.shape)
    found = prefetch.ready(needed, noise, SLOTS)
    assert found.hits / found.needed == pytest.approx(SLOTS / EXPERTS, abs=0.03)
    assert found.evicted > 0


def test_every_need_is_a_hit_or_moved_in() -> None:
    needed = trace(3)
    noise = np.random.default_rng(1).random(needed.shape)
    plain = prefetch.recent(needed, SLOTS)
    assert plain.hits + plain.moved == plain.needed
    for found in (
        prefetch.ready(needed, noise, SLOTS),
        prefetch.recent_and_ready(needed, noise, SLOTS, 2),
    ):
        assert found.hits + (found.moved - found.issued) == found.needed


def test_extra_slots_never_lose_hits() -> None:
    needed = trace(4)
    noise = np.random.default_rng(1).random(needed.shape)
    both = prefetch.recent_and_ready(needed, noise, SLOTS, 2).hits
    assert both >= prefetch.recent(needed, SLOTS).hits
    assert prefetch.recent(needed, SLOTS + 2).hits >= prefetch.recent(needed, SLOTS).hits


def texts(seeds: range, *, follows: bool) -> list[Text]:
    """Texts whose tokens say nothing."""
    rng = np.random.default_rng(7)
    return [
        Text(seed, trace(seed, follows=follows), rng.integers(50, size=40), np.zeros((40, 3), np.float32))
        for seed in seeds
    ]


def learned(*, follows: bool) -> float:
    """Hit rate of the learned predictor on fresh texts."""

    def columns(text: Text, layer: int) -> np.ndarray:
        return prefetch.history(text, layer, (0.7,))

    fit, choose, test = (texts(r, follows=follows) for r in (range(30), range(30, 34), range(40, 50)))
    maps = prefetch.predictor(fit, choose, columns, (1.0, 100.0), SLOTS)
    counts = [prefetch.ready(t.needed, prefetch.scores(t, maps, columns), SLOTS) for t in test]
    return sum(c.hits for c in counts) / sum(c.needed for c in counts)


def test_planted_routing_is_predicted_and_random_routing_is_not() -> None:
    assert learned(follows=True) > 0.95
    assert learned(follows=False) < SLOTS / EXPERTS + 0.08


def test_history_at_a_forward_does_not_see_that_forward() -> None:
    one = texts(range(1), follows=False)[0]
    spoiled = Text(0, one.needed.copy(), one.tokens, one.states)
    spoiled.needed[20:] = ~spoiled.needed[20:]
    for layer in range(LAYERS):
        same, other = (prefetch.history(t, layer, (0.7,)) for t in (one, spoiled))
        assert (same[:21] == other[:21]).all()
        assert (same[21] != other[21]).any()


def test_a_token_table_gives_back_what_it_saw_and_the_mean_elsewhere() -> None:
    needed = np.zeros((4, 1, 3), dtype=bool)
    needed[:2, 0, 0] = needed[2:, 0, 1] = True
    table = TokenTable([Text(0, needed, np.array([5, 5, 8, 8]), np.zeros((4, 1), np.float32))], 0.0)
    assert table(np.array([5, 8, 6, 9]))[:, 0].tolist() == [
        [1, 0, 0],
        [0, 1, 0],
        [0.5, 0.5, 0],
        [0.5, 0.5, 0],
    ]


def test_fewer_slots_than_a_forward_needs_are_refused() -> None:
    with pytest.raises(BadData, match="1 slots"):
        prefetch.recent(trace(1), 1)


@pytest.mark.parametrize(
    ("found", "wanted"),
    [
        (economics.listed(32, 512), 288.0),
        (economics.chosen(8, 64), math.log2(4426165368)),
        (economics.counted(32, 8), 8 * math.log2(33)),
        (economics.counted(32, 512), 288.0),
        (economics.state(576, "float32"), 18432.0),
    ],
)
def test_prices_are_those_worked_by_hand(found: float, wanted: float) -> None:
    assert found == pytest.approx(wanted)
