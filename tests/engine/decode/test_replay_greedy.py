"""Greedy decoding of tiny models: live equals plain, and replay equals live round by round."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from engine.contract.seeds import Stream
from engine.decode.drafts.lookup import Lookup
from engine.decode.drafts.model import ModelDraft
from engine.decode.linear import Weight
from engine.decode.live import Decoded, Round, decode
from engine.decode.llama import Cache, Llama, forward
from engine.decode.replay import Accepted, by_agreement, by_lookup, greedy_agreement, read, rounds
from engine.decode.sample import Row, generate
from engine.decode.verifier import Draws, draw, softmax

Tiny = Callable[..., tuple[Any, Llama]]
NEW = 24
LENGTHS = range(1, 9)
SEEDS = range(3)
NEVER = -1


def near(model: Llama, seed: int, outputs: int | None = None) -> Llama:
    """A draft that often agrees with `model`: its head disturbed, and cut to some outputs."""
    noise = torch.randn(model.head.matrix.shape, generator=torch.Generator().manual_seed(seed))
    head = model.head.matrix + 0.25 * noise
    if outputs is None:
        return replace(model, head=Weight(head))
    listed = torch.arange(len(head) - outputs, len(head))  # so that output and token differ
    return replace(model, head=Weight(head[listed]), head_tokens=listed)


def prompt(seed: int) -> list[int]:
    """A prompt of eleven tokens that repeats itself."""
    random = np.random.default_rng(seed).integers(0, 9, 7).tolist()
    return [*random, *random[:4]]


@torch.inference_mode()
def plain(module: Any, start: list[int], end: int) -> tuple[int, ...]:
    """transformers' module, asked for one token after another."""
    text = list(start)
    while len(text) < len(start) + NEW and (len(text) == len(start) or text[-1] != end):
        text.append(int(module(input_ids=torch.tensor([text])).logits[0, -1].argmax()))
    return tuple(text[len(start) :])


def early(text: tuple[int, ...]) -> int:
    """A token that ends the text in its middle."""
    return next(token for token in text[5:] if token not in text[:5])


def live(target: Llama, draft: Llama | None, start: list[int], length: int, end: int) -> Decoded:
    """Live decoding by a draft model, or by prompt lookup."""
    scheme = Lookup() if draft is None else ModelDraft(draft, capacity=len(start) + NEW + 1)
    return decode(target, scheme, start, length=length, new_tokens=NEW, end=end)


def again(
    draft: Llama | None, start: list[int], text: tuple[int, ...], length: int, walk: Any = rounds
) -> list[Round]:
    """The rounds of the recorded text."""
    accepted: Accepted
    if draft is None:
        accepted = by_lookup(start, text, Lookup())
    else:
        accepted = by_agreement(greedy_agreement(read(draft, start, text), text))
    made: list[Round] = walk(accepted, text=len(text), length=length, new_tokens=NEW)
    return made


DRAFTS: dict[str, Callable[[Llama, int], Llama | None]] = {
    "lookup": lambda target, seed: None,
    "model": near,
    "model of few outputs": lambda target, seed: near(target, seed, outputs=6),
    "the target itself": lambda target, seed: target,
}


@pytest.mark.parametrize("ending", ["at the limit", "early"])
@pytest.mark.parametrize("name", DRAFTS)
def test_live_text_is_the_plain_text_and_its_rounds_are_replayed_one_by_one(
    tiny: Tiny, name: str, ending: str
) -> None:
    accepted = 0
    for seed in SEEDS:
        module, target = tiny(seed, vocabulary=9)
        draft, start = DRAFTS[name](target, seed), prompt(seed)
        text = plain(module, start, NEVER)
        end = early(text) if ending == "early" else NEVER
        text = text[: text.index(end) + 1] if ending == "early" else text
        for length in LENGTHS:
            decoded = live(target, draft, start, length, end)
            assert decoded.tokens == text
            assert list(decoded.rounds) == again(draft, start, text, length)
            assert sum(r.emitted for r in decoded.rounds) == len(text)
            accepted += sum(r.accepted for r in decoded.rounds)
    assert accepted > 10  # else nothing was tried


WALKS: dict[str, tuple[tuple[int, int, int], list[tuple[int, int, int]]]] = {
    "nothing": ((0, 4, 8), []),
    "one token": ((1, 4, 8), [(4, 1, 1)]),
    "a text that ends inside a round": ((3, 4, 8), [(4, 3, 3)]),
    "a text that ends with a round": ((5, 4, 8), [(4, 4, 5)]),
    "the limit inside a round": ((7, 4, 7), [(4, 4, 5), (1, 1, 2)]),
    "the limit after a round": ((6, 4, 6), [(4, 4, 5), (0, 0, 1)]),
}


@pytest.mark.parametrize("name", WALKS)
def test_rounds_of_a_draft_that_is_always_right_end_with_the_text_and_draft_within_the_limit(
    name: str,
) -> None:
    (text, length, limit), expected = WALKS[name]
    walked = rounds(lambda _, room: (room, room), text=text, length=length, new_tokens=limit)
    assert [(r.proposed, r.accepted, r.emitted) for r in walked] == expected


TRIED = {(4, 0, 1): 1, (4, 2, 3): 3, (4, 4, 5): 4, (0, 0, 1): 0, (4, 2, 2): 2}


@pytest.mark.parametrize("round_", TRIED)
def test_a_round_tries_what_it_keeps_and_the_first_it_rejects(round_: tuple[int, int, int]) -> None:
    assert Round(*round_).tried == TRIED[round_]


def never_short(accepted: Accepted, *, text: int, length: int, new_tokens: int) -> list[Round]:
    """Rounds that forget that no draft goes beyond the limit."""
    return rounds(accepted, text=text, length=length, new_tokens=10**6)


def shifted(accepted: Accepted, *, text: int, length: int, new_tokens: int) -> list[Round]:
    """Rounds that look one token ahead."""
    ahead: Accepted = lambda start, room: accepted(min(start + 1, text - 1), room)  # noqa: E731
    return rounds(ahead, text=text, length=length, new_tokens=new_tokens)


@pytest.mark.parametrize("mutant", [never_short, shifted])
@pytest.mark.parametrize("name", ["lookup", "model"])
def test_rounds_replayed_wrongly_are_found_out(tiny: Tiny, name: str, mutant: Any) -> None:
    differing = 0
    for seed in SEEDS:
        _, target = tiny(seed, vocabulary=9)
        draft, start = DRAFTS[name](target, seed), prompt(seed)
        for length in LENGTHS:
            decoded = live(target, draft, start, length, NEVER)
            differing += list(decoded.rounds) != again(draft, start, decoded.tokens, length, mutant)
    assert differing > 0


def test_a_batch_of_unlike_prompts_is_written_as_each_alone(tiny: Tiny) -> None:
    module, target = tiny(5, vocabulary=9)
    starts = [prompt(seed)[: 3 + 2 * seed] for seed in range(5)]
    alone = [plain(module, start, NEVER) for start in starts]
    end = early(alone[0])
    batch = generate(target, [Row(tuple(start)) for start in starts], new_tokens=NEW, end=end)
    cut = [text[: text.index(end) + 1] if end in text else text for text in alone]
    assert list(batch.texts) == cut
    assert len({len(text) for text in cut}) > 1


def test_a_sampled_row_takes_one_number_a_token_whatever_the_batch(tiny: Tiny) -> None:
    module, target = tiny(6, vocabulary=9)
    uniform = Stream(7, "row").uniform(NEW)
    start, text = prompt(6), list[int]()
    while len(text) < NEW:
        with torch.inference_mode():
            logits = module(input_ids=torch.tensor([start + text])).logits[0, -1]
        text.append(draw(softmax(logits.numpy()), float(uniform[len(text)])))
    rows = [Row((1, 2)), Row(tuple(start), uniform), Row((3,), Stream(7, "other").uniform(NEW))]
    assert generate(target, rows, new_tokens=NEW, end=NEVER).texts[1] == tuple(text)


@pytest.mark.parametrize("outputs", [None, 6])
def test_a_draft_model_proposes_from_its_own_law_whatever_was_rejected_before(
    tiny: Tiny, outputs: int | None
) -> None:
    _, target = tiny(7, vocabulary=9)
    draft = near(target, 7, outputs)
    texts = [prompt(1), [*prompt(1), 3, 3], [*prompt(1), 3, 4, 5], prompt(2), [*prompt(2)[:4], 1]]
    growing = ModelDraft(draft, capacity=30)
    for text in texts:
        fresh = ModelDraft(draft, capacity=30)
        assert growing.propose(text, 5).tokens == fresh.propose(text, 5).tokens
        made, anew = (scheme.propose(text, 5, Stream(7, "x")) for scheme in (growing, fresh))
        assert made.probability is not None and anew.probability is not None
        np.testing.assert_allclose(made.probability, anew.probability, rtol=1e-4, atol=1e-9)
        np.testing.assert_allclose(made.probability[0], said(draft, text), rtol=1e-4, atol=1e-9)
        assert made.tokens == anew.tokens == drawn(made.probability, Stream(7, "x"))


def said(model: Llama, text: list[int]) -> NDArray[np.float64]:
    """The law after a text over the whole vocabulary, from one pass: zero for what the model cannot name."""
    logits = forward(model, torch.tensor([text]), Cache(model, rows=1, capacity=len(text)), 0)[0, -1]
    law = np.zeros(9)
    law[slice(None) if model.head_tokens is None else model.head_tokens.numpy()] = softmax(logits.numpy())
    return law


def drawn(laws: NDArray[np.float64], stream: Stream) -> tuple[int, ...]:
    """A token of each law, one number each."""
    return tuple(draw(law, float(u)) for law, u in zip(laws, stream.uniform(len(laws)), strict=True))


def test_sampled_decoding_with_one_seed_gives_one_text_and_another_seed_another(tiny: Tiny) -> None:
    _, target = tiny(8, vocabulary=9)
    draft = near(target, 8)

    def once(root: int) -> Decoded:
        scheme = ModelDraft(draft, capacity=40)
        return decode(
            target, scheme, prompt(8), length=3, new_tokens=NEW, end=NEVER, draws=Draws(root, "text")
        )

    assert once(1) == once(1)
    assert len({once(root).tokens for root in range(5)}) == 5
