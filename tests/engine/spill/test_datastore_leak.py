"""What rounds give away is in the datastore, and settings are guessed from what they do to rounds."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import product
from typing import Any

import pytest

from engine.contract.errors import UnknownName
from engine.contract.seeds import Stream
from engine.decode.drafts import lade, rest
from engine.decode.llama import Llama
from engine.decode.scheme import Request
from engine.decode.scheme_replay import lookahead
from engine.decode.schemes import Parts, scheme
from engine.spill import datastore
from engine.spill.datastore import Loot

PROMPT, NEW, END = (3, 1, 4, 1, 5), 40, 0


@pytest.fixture(scope="module")
def target(tiny: Callable[..., tuple[Any, Llama]]) -> Llama:
    """A random target."""
    return tiny(3)[1]


def rounds(target: Llama, store: rest.Datastore, seed: str) -> list[tuple[int, ...]]:
    """A live answer of a retrieving server."""
    request = Request(PROMPT, NEW, END, temperature=0.3, seed=seed)
    return list(scheme("rest", Parts(target, datastore=store)).rounds(request))


def test_all_that_leaks_stands_in_the_datastore_and_another_datastore_is_told_apart(target: Llama) -> None:
    plain = scheme("plain", Parts(target))
    own = [
        tuple(t for new in plain.rounds(Request(PROMPT, NEW, END, 0.3, f"{i}")) for t in new)
        for i in range(4)
    ]
    store, loot = rest.Datastore(tuple(own)), Loot()
    for seed in range(6):
        answer = rounds(target, store, f"ask/{seed}")
        tokens = [token for new in answer for token in new]
        found = datastore.leaked(PROMPT[-1], tokens, [len(new) for new in answer])
        loot.take(found, store.contains)
    assert sum(entry[2] for entry in loot.log) == sum(entry[3] for entry in loot.log) > 0
    assert len(loot.sequences) == sum(entry[0] for entry in loot.log)
    other = rest.Datastore(((1, 2, 3),))
    assert not all(other.contains(run) for run in loot.sequences)


def test_a_round_leaks_the_token_before_it_and_all_but_its_last() -> None:
    assert datastore.leaked(9, [1, 2, 3, 4, 5, 6], [2, 1, 3]) == [(9, 1), (3, 4, 5)]
    assert datastore.leaked(9, [1, 2], [1, 1]) == []


@pytest.mark.parametrize("ngram", [4, 5, 6])
def test_n_is_guessed_from_a_text_that_repeats_one_token(target: Llama, ngram: int) -> None:
    settings = lade.Settings(window=4, ngram=ngram, guesses=3)
    [counts] = lookahead(target, (5, 7, 7, 7, 7, 7, 7), [[7] * NEW], settings, new_tokens=NEW)
    assert datastore.guessed_ngram(counts) == ngram


def test_g_is_the_number_of_sentences_after_which_tokens_a_round_fall() -> None:
    assert datastore.guessed_guesses([(1, 3.0), (2, 3.2), (3, 3.2), (4, 3.1), (5, 1.2)]) == 3


@pytest.mark.parametrize("guesses", [2, 3, 4])
@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 6])
def test_of_sentences_that_begin_alike_the_pool_knows_no_more_than_g(guesses: int, count: int) -> None:
    text = [token for _ in range(4) for i in range(count) for token in (30, 31, 5 + i, 15 + i, 20 + i)]
    state = lade.State.start(text, lade.Settings(window=1, ngram=5, guesses=guesses))
    assert len(state.tree(31, room=9).children(-1)) == min(count, guesses)


def test_the_planted_wording_must_stand_out_alone() -> None:
    assert datastore.named_first([5, 1, 4], 0)
    assert not datastore.named_first([5, 5, 4], 0)
    assert not datastore.named_first([1, 5, 4], 0)


def test_luck_is_the_upper_tail_of_blind_naming() -> None:
    assert datastore.by_luck(0, 12, 10) == 1
    assert datastore.by_luck(12, 12, 10) == Fraction(1, 10**12)
    every = [sum(named) for named in product((0, 1), repeat=3)]
    likely = {0: Fraction(27, 64), 1: Fraction(9, 64), 2: Fraction(3, 64), 3: Fraction(1, 64)}
    assert datastore.by_luck(2, 3, 4) == sum(likely[k] for k in every if k >= 2)
    assert datastore.kept([1, 4, 1]) == 3


def test_requests_are_of_their_strategy() -> None:
    words, common = [f"w{i}" for i in range(50)], ["the", "of"]
    asked = {
        s: datastore.request(s, words, common, ["leaked words"], 6, Stream(1, "a")).split()[3:]
        for s in datastore.STRATEGIES
    }
    assert set(asked["random"]) <= set(words)
    assert set(asked["common"]) <= set(common)
    assert asked["reuse"][:2] == ["leaked", "words"] and len(asked["reuse"]) == 6
    with pytest.raises(UnknownName, match="clever"):
        datastore.request("clever", words, common, [], 6, Stream(1, "a"))  # type: ignore[arg-type]
