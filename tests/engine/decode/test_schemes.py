"""Every lossless scheme writes the target's own text; rounds keep their bound; replay gives live rounds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from engine.contract.errors import BadData, UnknownName
from engine.decode import scheme as scheme_module
from engine.decode.drafts import bild, lade, rest
from engine.decode.eagle import Head
from engine.decode.eagle_training import Trainable, from_state
from engine.decode.llama import Cache, Llama, final_hidden, forward
from engine.decode.sample import Row, generate
from engine.decode.scheme import Request, Scheme
from engine.decode.schemes import NAMES, Parts, scheme
from engine.decode.tree import Path

LOSSLESS = tuple(name for name in NAMES if name != "bild")
PROMPTS = ((3, 1, 4, 1, 5, 9, 2, 6), (7, 7, 7, 7, 7, 7), (11, 3), (2, 7, 1, 8, 2, 8, 1, 8, 2, 8))
NEW, END = 40, 0


def head_of(target: Llama) -> Head:
    """A head that was never trained: the target's last layer over its features."""
    torch.manual_seed(5)
    student = Trainable(target, target.layers[-1])
    torch.nn.init.normal_(student.join.weight, std=0.3)
    state = {name: tensor.detach() for name, tensor in student.state_dict().items()}
    return from_state(state, torch.arange(0, 41, 1)[:37], target)


@pytest.fixture(scope="module")
def parts(tiny: Callable[..., tuple[Any, Llama]]) -> Parts:
    """A random target, another as its draft, and a datastore of the target's own texts and some noise."""
    target, draft = tiny(3)[1], tiny(4, head=30)[1]
    own = generate(target, [Row(prompt) for prompt in PROMPTS[:2]], new_tokens=NEW, end=END).texts
    noise = tuple(tuple(int(t) for t in row) for row in np.random.PCG64(1).random_raw((6, 30)) % 41)
    return Parts(
        target,
        draft=draft,
        head=head_of(target),
        datastore=rest.Datastore((*own, *noise)),
        lade=lade.Settings(window=4, ngram=4, guesses=3),
        bild=bild.Settings(fallback=0.2, rollback=2.0, steps=5),
    )


def greedy(target: Llama, prompt: tuple[int, ...]) -> tuple[int, ...]:
    """Plain greedy decoding by the engine's other decoder."""
    return generate(target, [Row(prompt)], new_tokens=NEW, end=END).texts[0]


def decoded(one: Scheme, request: Request) -> list[tuple[int, ...]]:
    """All rounds of a request, none of them empty or beyond the bound."""
    rounds = list(one.rounds(request))
    assert all(1 <= len(new) <= one.bound for new in rounds)
    return rounds


def joined(rounds: list[tuple[int, ...]]) -> tuple[int, ...]:
    """The text of rounds."""
    return tuple(token for new in rounds for token in new)


@pytest.mark.parametrize("name", LOSSLESS)
@pytest.mark.parametrize("prompt", PROMPTS)
def test_greedy_text_of_a_lossless_scheme_is_plain_greedy_text(
    parts: Parts, name: str, prompt: tuple[int, ...]
) -> None:
    one = scheme(name, parts)
    assert one.lossless
    assert joined(decoded(one, Request(prompt, NEW, END))) == greedy(parts.target, prompt)


@pytest.mark.parametrize("name", ["lookup", "rest", "lade", "draft"])
def test_a_scheme_is_seen_to_speculate(parts: Parts, name: str) -> None:
    """Where the draft is the target's own text, or the target itself, rounds of several tokens occur."""
    parts = replace(parts, draft=parts.target)
    rounds = [r for prompt in PROMPTS for r in decoded(scheme(name, parts), Request(prompt, NEW, END))]
    assert max(map(len, rounds)) > 1


def test_the_draft_that_is_the_target_always_fills_the_bound(parts: Parts) -> None:
    one = scheme("draft", replace(parts, draft=parts.target))
    rounds = decoded(one, Request(PROMPTS[0], NEW, END))
    assert {len(new) for new in rounds[:-1]} == {one.bound}


def test_retrieval_of_the_text_itself_reaches_its_bound(parts: Parts) -> None:
    one = scheme("rest", parts)
    assert max(len(new) for new in decoded(one, Request(PROMPTS[0], NEW, END))) == one.bound == 11


@pytest.mark.parametrize("ngram", [3, 4, 5])
def test_lookahead_of_a_text_that_repeats_reaches_its_bound(parts: Parts, ngram: int) -> None:
    one = scheme("lade", replace(parts, lade=lade.Settings(4, ngram, 3)))
    sizes = [len(new) for prompt in PROMPTS for new in decoded(one, Request(prompt, NEW, END))]
    assert max(sizes) == one.bound == ngram - 1


def test_a_tree_rule_that_keeps_what_the_target_did_not_choose_is_seen(
    parts: Parts, monkeypatch: pytest.MonkeyPatch
) -> None:
    def generous(tree: Any, logits: torch.Tensor, *_: Any) -> Path:
        return Path((0,) if tree.tokens else (), int(logits[-1].argmax()))

    monkeypatch.setattr(scheme_module, "judge", generous)
    text = joined(decoded(scheme("rest", parts), Request(PROMPTS[0], NEW, END)))
    assert text != greedy(parts.target, PROMPTS[0])


@pytest.mark.parametrize("name", NAMES)
def test_a_request_is_the_same_again_and_its_neighbours_do_not_touch_it(parts: Parts, name: str) -> None:
    one = scheme(name, parts)
    first = Request(PROMPTS[0], NEW, END, temperature=0.8, seed="a")
    other = Request(PROMPTS[3], NEW, END, temperature=0.8, seed="b")
    alone = decoded(one, first)
    mixed, beside = one.rounds(first), one.rounds(other)
    interleaved = []
    for new in mixed:
        interleaved.append(new)
        next(beside, None)
    assert interleaved == alone
    assert decoded(one, replace(first, seed="c")) != alone


def test_a_request_ends_at_its_limit_or_at_its_end(parts: Parts) -> None:
    for name in NAMES:
        for seed in range(6):
            request = Request(PROMPTS[1], 9, END, temperature=1.0, seed=f"{seed}")
            text = joined(decoded(scheme(name, parts), request))
            assert len(text) == 9 or text[-1] == END
            assert END not in text[:-1]


def test_an_unknown_scheme_is_refused(parts: Parts) -> None:
    with pytest.raises(UnknownName, match="medusa"):
        scheme("medusa", parts)


# BiLD


def test_the_big_little_decoder_never_falls_back_and_always_rolls_back_to_greedy(parts: Parts) -> None:
    """A rollback threshold of zero leaves only the likeliest tokens of the target: greedy is then kept."""
    strict = scheme("bild", replace(parts, bild=bild.Settings(fallback=0.0, rollback=0.0, steps=5)))
    assert joined(decoded(strict, Request(PROMPTS[0], NEW, END))) == greedy(parts.target, PROMPTS[0])


def test_the_big_little_decoder_is_lossy_and_says_so(parts: Parts) -> None:
    loose = scheme("bild", replace(parts, bild=bild.Settings(fallback=0.0, rollback=50.0, steps=5)))
    assert not loose.lossless
    assert joined(decoded(loose, Request(PROMPTS[0], NEW, END))) != greedy(parts.target, PROMPTS[0])


def test_total_fallback_is_plain_decoding(parts: Parts) -> None:
    timid = scheme("bild", replace(parts, bild=bild.Settings(fallback=1.1, rollback=50.0, steps=5)))
    rounds = decoded(timid, Request(PROMPTS[0], NEW, END))
    assert {len(new) for new in rounds} == {1}
    assert joined(rounds) == greedy(parts.target, PROMPTS[0])


@pytest.mark.parametrize("temperature", [0.0, 0.7])
def test_big_little_rows_side_by_side_write_what_each_writes_alone(parts: Parts, temperature: float) -> None:
    assert parts.draft is not None
    requests = [
        Request(prompt, NEW, END, temperature=temperature, seed=f"{i}") for i, prompt in enumerate(PROMPTS)
    ]
    together = list(bild.lockstep(parts.target, parts.draft, requests, parts.bild))
    for index, request in enumerate(requests):
        alone = decoded(scheme("bild", parts), request)
        assert [new[index] for new in together if new[index]] == alone


def test_the_little_model_writes_as_its_own_law_has_it(parts: Parts) -> None:
    """Without fallback or rollback each window is the draft's own greedy continuation."""
    assert parts.draft is not None
    settings = bild.Settings(fallback=0.0, rollback=1e9, steps=5)
    text = list(PROMPTS[0])
    for new in decoded(scheme("bild", replace(parts, bild=settings)), Request(PROMPTS[0], NEW, END)):
        for token in new[:-1]:
            ids = torch.tensor([text])
            logits = forward(parts.draft, ids, Cache(parts.draft, rows=1, capacity=len(text)), 0, last=1)
            assert token == int(parts.draft.full(logits)[0, 0].argmax())
            text.append(token)
        text.append(new[-1])


def test_a_prompt_of_one_token_is_refused_by_the_big_little_decoder(parts: Parts) -> None:
    with pytest.raises(BadData, match="two tokens"):
        next(scheme("bild", parts).rounds(Request((3,), NEW, END)))


# REST


def test_the_datastore_finds_the_longest_suffix_and_counts_what_follows() -> None:
    store = rest.Datastore(((1, 2, 3, 4), (1, 2, 3, 5), (1, 2, 3, 4, 6), (9, 3, 8)))
    tree = store.tree([7, 1, 2, 3], room=10)
    assert tree.tokens == (4, 5, 6)
    assert tree.parents == (-1, -1, 0)
    assert store.tree([7, 2], room=10).tokens == ()
    assert store.tree([1, 2, 3], room=1).tokens == (4, 5)


def test_the_datastore_keeps_at_most_its_nodes_and_no_match_crosses_a_document() -> None:
    rows = tuple((1, 2, *(10 + i + j for j in range(12))) for i in range(30))
    store = rest.Datastore(rows)
    tree = store.tree([1, 2], room=10)
    assert len(tree.tokens) == 64
    assert all(parent < node for node, parent in enumerate(tree.parents))
    assert not store.contains((21, 1, 2))
    assert store.contains(rows[3]) and store.contains(rows[3][4:])
    assert not store.contains((*rows[3], 1))


# LADE


def test_the_pool_forgets_what_it_met_least_recently() -> None:
    pool = lade.Pool(2)
    for ngram in [(1, 2, 3), (1, 4, 5), (1, 2, 3), (1, 6, 7)]:
        pool.add(ngram)
    assert pool.after(1) == [(2, 3), (6, 7)]
    assert pool.after(2) == []


def test_a_window_reads_each_column_as_a_text_of_its_own(parts: Parts) -> None:
    """Column i's next token is the target's after text, first level up to i, and the levels above it."""
    target, settings = parts.target, lade.Settings(window=3, ngram=4, guesses=3)
    text = list(PROMPTS[3])
    state = lade.State(settings, lade.Pool(3), [[5, 6, 7], [8, 9, 10]])
    cache = Cache(target, rows=1, capacity=len(text) + settings.tokens + 2)
    final_hidden(target, torch.tensor([text[:-1]]), cache, 0)
    lade.advance(target, cache, [text], [state])
    for column in range(3):
        row = [*text, *[5, 6, 7][: column + 1], [8, 9, 10][column]]
        logits = forward(target, torch.tensor([row]), Cache(target, rows=1, capacity=len(row)), 0, last=1)
        assert state.levels[-1][column] == int(logits[0, 0].argmax())
