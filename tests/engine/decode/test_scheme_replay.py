"""Replayed rounds of trees, lookahead and the feature head are live rounds; a wrong head is seen."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from engine.contract.seeds import Stream
from engine.decode import eagle, replay, scheme_replay
from engine.decode.drafts import lade, rest
from engine.decode.drafts.lookup import Lookup
from engine.decode.eagle_training import Recipe, Trainable, distance, from_state, rotary
from engine.decode.llama import Cache, Llama, final_hidden
from engine.decode.replay import Accepted
from engine.decode.scheme import Request
from engine.decode.schemes import Parts, scheme

PROMPT, NEW, END = (3, 1, 4, 1, 5, 9, 2, 6), 32, 0
LADE = lade.Settings(window=4, ngram=4, guesses=3)


@pytest.fixture(scope="module")
def target(tiny: Callable[..., tuple[Any, Llama]]) -> Llama:
    """A random target."""
    return tiny(3)[1]


def lived(one: Any, temperature: float, seed: str) -> tuple[tuple[int, ...], list[int]]:
    """Text and tokens a round of a live run."""
    rounds = list(one.rounds(Request(PROMPT, NEW, END, temperature=temperature, seed=seed)))
    return tuple(t for new in rounds for t in new), [len(new) for new in rounds]


def walked(accepted: Accepted, text: tuple[int, ...], length: int) -> list[int]:
    """Tokens a round of a replay."""
    return [r.emitted for r in replay.rounds(accepted, text=len(text), length=length, new_tokens=NEW)]


CASES = [(0.0, "greedy"), *((t, f"{t}/{s}") for t in (0.3, 1.0) for s in range(4))]


@pytest.mark.parametrize(("temperature", "seed"), CASES)
def test_retrieval_and_lookup_replay_their_live_rounds(target: Llama, temperature: float, seed: str) -> None:
    own = lived(scheme("plain", Parts(target)), temperature, "other")[0]
    store = rest.Datastore((own, lived(scheme("plain", Parts(target)), 0.0, "")[0]))
    parts = Parts(target, datastore=store)
    text, counts = lived(scheme("rest", parts), temperature, seed)
    assert walked(scheme_replay.by_tree(PROMPT, text, store.tree), text, 10) == counts
    text, counts = lived(scheme("lookup", parts), temperature, seed)
    assert walked(replay.by_lookup(PROMPT, text, Lookup()), text, parts.length) == counts


def test_lookahead_replays_its_live_rounds_side_by_side(target: Llama) -> None:
    one = scheme("lade", Parts(target, lade=LADE))
    live = [lived(one, temperature, seed) for temperature, seed in CASES]
    replayed = scheme_replay.lookahead(target, PROMPT, [text for text, _ in live], LADE, new_tokens=NEW)
    assert replayed == [counts for _, counts in live]
    assert max(max(counts) for counts in replayed) > 1


def test_lookahead_with_other_settings_has_other_rounds(target: Llama) -> None:
    text, counts = lived(scheme("lade", Parts(target, lade=LADE)), 0.0, "")
    other = lade.Settings(window=4, ngram=3, guesses=1)
    assert scheme_replay.lookahead(target, PROMPT, [text], other, new_tokens=NEW) != [counts]


def trained(target: Llama, steps: int = 250) -> eagle.Head:
    """A head that has learnt a little on the target's own texts."""
    torch.manual_seed(1)
    noise = [[(3 * i + 7 * j + i * j) % 41 for j in range(24)] for i in range(12)]
    own = lived(scheme("plain", Parts(target)), 0.0, "")[0]
    ids = torch.tensor([*noise, *[[*PROMPT, *own][:24]] * 4])
    features = final_hidden(target, ids, Cache(target, rows=16, capacity=24), 0).clone()
    student, tokens = Trainable(target, target.layers[-1]), torch.arange(41)
    part = {"ids": ids, "lengths": torch.full((16,), 24), "features": features}
    optimiser = torch.optim.Adam(student.parameters(), lr=3e-3)
    head = student.head(target.head, tokens)
    angles, recipe = rotary(target, 25), Recipe()
    for step in range(steps):
        loss = distance(head, part, angles, Stream(1, f"{step}"), recipe)
        optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
    return from_state({k: v.detach() for k, v in student.state_dict().items()}, tokens, target)


@pytest.fixture(scope="module")
def head(target: Llama) -> eagle.Head:
    """The trained head."""
    return trained(target)


def chains_of(head: eagle.Head, target: Llama, text: tuple[int, ...], **options: Any) -> eagle.Chains:
    """What the head says along one text."""
    row = torch.tensor([[*PROMPT, *text][:-1]])
    features = final_hidden(target, row, Cache(target, rows=1, capacity=row.shape[1]), 0)
    if "order" in options:
        features = features[:, options.pop("order")]
    angles = rotary(target, row.shape[1] + 6)
    return eagle.read(head, features, PROMPT, [text], depth=4, angles=angles, **options)[0]


def test_the_feature_head_replays_its_live_greedy_rounds(target: Llama, head: eagle.Head) -> None:
    text, counts = lived(scheme("eagle", Parts(target, head=head)), 0.0, "")
    stood = eagle.stands(chains_of(head, target, text, temperature=0.0), None, text, np.zeros(len(text)))
    assert walked(eagle.by_chains(stood), text, 4) == counts
    assert max(counts) > 2


def test_a_chain_read_along_a_text_has_the_live_chain_s_laws(target: Llama, head: eagle.Head) -> None:
    """On a text that the head itself wrote, chain by chain, every depth is the live drafter's token."""
    one, text = scheme("eagle", Parts(target, head=head)), list(PROMPT)
    for _ in range(6):
        features = final_hidden(target, torch.tensor([text[:-1]]), Cache(target, rows=1, capacity=NEW), 0)[0]
        drafter = one.drafter(Request(PROMPT, NEW, END))  # type: ignore[attr-defined]
        text += drafter.propose(text, 4, features, None).tokens
    answer = tuple(text[len(PROMPT) :])
    best = chains_of(head, target, answer, temperature=0.0).best
    for start in range(0, 24, 4):
        assert tuple(best[start]) == answer[start : start + 4]


def test_the_feature_head_beats_itself_with_shuffled_features(target: Llama, head: eagle.Head) -> None:
    """On a text that it has learnt: a head this small knows no other."""
    text = lived(scheme("plain", Parts(target)), 0.0, "")[0][: 24 - len(PROMPT)]
    real = chains_of(head, target, text, temperature=1.0)
    order = torch.tensor(Stream(1, "order").permutation(len(PROMPT) + len(text) - 1))
    shuffled = chains_of(head, target, text, temperature=1.0, order=order)
    assert real.log_probability[:, 0].mean() > shuffled.log_probability[:, 0].mean() + 0.1


def test_a_token_off_the_head_s_list_is_named_by_no_law(target: Llama, head: eagle.Head) -> None:
    logits = torch.randn(1, 2, 3)
    small = Llama(
        target.shape, target.embedding, target.layers, target.norm, target.head, torch.tensor([2, 5, 9])
    )
    found = eagle.named(small, logits, torch.tensor([[5, 6]]))
    assert found[0, 0] == pytest.approx(float(logits.double().log_softmax(-1)[0, 0, 1]))
    assert found[0, 1] == -torch.inf
