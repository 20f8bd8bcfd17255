"""A draft law that changes with the offset in its round: live and replayed rounds have one law, exactly.

The world is a table of exact fractions: three tokens, the target's law after each, and a draft's law after
each for every offset and for rounds that start at an even or an odd position (a stream of its own). The
rule that the replay uses is compared with a walk through every draw of live decoding, and the text keeps
the target's law whatever the draft does.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction as F
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import pytest
import torch

from engine.contract.seeds import Stream
from engine.decode.drafts.model import ModelDraft
from engine.decode.live import decode
from engine.decode.replay import rounds
from engine.decode.sample import Row, generate
from engine.decode.verifier import Draws
from engine.observe import conversion
from engine.observe.conversion import by_offset
from engine.observe.conversion_bias import BiasGrid
from engine.observe.conversion_live import SteeredDraft, recorded
from engine.observe.conversion_passages import Pair, draft_states, spans, texts, with_answers, with_stream
from engine.observe.conversion_retrieval import RetrievalGrid

TARGET = [[F(5, 10), F(3, 10), F(2, 10)], [F(1, 10), F(6, 10), F(3, 10)], [F(1, 3)] * 3]
LENGTH, LIMIT = 2, 4
Law = Sequence[F]
Joint = dict[tuple[tuple[int, ...], tuple[int, ...]], F]


def draft_law(last: int, offset: int, start: int) -> Law:
    """The draft's law after a token, by offset and by what the round's stream says."""
    weights = [1 + (last + 2 * offset) % 3, 1 + 3 * (start % 2), 2 + offset]
    return [F(weight, sum(weights)) for weight in weights]


def before(text: tuple[int, ...], at: int) -> int:
    """The token before a position; the prompt ends in token zero."""
    return text[at - 1] if at else 0


def lived() -> Joint:
    """The joint law of text and kept tokens a round, drawing by drawing."""
    joint: Joint = defaultdict(F)
    open_: list[tuple[tuple[int, ...], tuple[int, ...], F]] = [((), (), F(1))]
    while open_:
        text, kept, chance = open_.pop()
        if len(text) == LIMIT:
            joint[text, kept] += chance
            continue
        open_ += list(one_round(text, kept, chance))
    return joint


def one_round(text: tuple[int, ...], kept: tuple[int, ...], chance: F) -> Iterator[Any]:
    """Every outcome of one round: proposals, verdicts, and the token after them."""
    start, room = len(text), min(LENGTH, LIMIT - len(text) - 1)
    paths = [((), chance)]
    for offset in range(room):
        alive = []
        for drafted, weight in paths:
            whole = text + drafted
            law, own = draft_law(before(whole, len(whole)), offset, start), TARGET[before(whole, len(whole))]
            rest = [max(p - q, F(0)) for p, q in zip(own, law, strict=True)]
            for token in range(3):
                drawn, stands = weight * law[token], min(F(1), own[token] / law[token])
                alive.append(((*drafted, token), drawn * stands))
                for other in range(3):
                    if stands < 1 and rest[other]:
                        lost = drawn * (1 - stands) * rest[other] / sum(rest)
                        yield (*whole, other), (*kept, offset), lost
        paths = alive
    for drafted, weight in paths:
        whole = text + drafted
        for token, share in enumerate(TARGET[before(whole, len(whole))]):
            yield (*whole, token), (*kept, room), weight * share


def replayed(rule: Callable[[F, F], F]) -> Joint:
    """The joint law under replay: the text's law, times that of which tokens stand at which offset."""
    joint: Joint = defaultdict(F)
    for text in product(range(3), repeat=LIMIT):
        chance = np.prod([TARGET[before(text, t)][text[t]] for t in range(LIMIT)])
        cells = [(t, j) for t in range(LIMIT) for j in range(LENGTH) if t >= j]
        stands = {}
        for t, j in cells:
            own, law = TARGET[before(text, t)][text[t]], draft_law(before(text, t), j, t - j)[text[t]]
            stands[t, j] = rule(own, law)
        for choice in product([False, True], repeat=len(cells)):
            table = np.zeros((LIMIT, LENGTH), dtype=bool)
            weight = chance
            for cell, yes in zip(cells, choice, strict=True):
                table[cell] = yes
                weight *= stands[cell] if yes else 1 - stands[cell]
            if weight:
                walk = rounds(by_offset(table), text=LIMIT, length=LENGTH, new_tokens=LIMIT)
                joint[text, tuple(r.accepted for r in walk)] += weight
    return joint


def test_rounds_and_text_have_one_law_live_and_replayed() -> None:
    live, again = lived(), replayed(lambda own, law: min(F(1), law / own))
    assert sum(live.values()) == 1
    assert {k: v for k, v in live.items() if v} == {k: v for k, v in again.items() if v}


def test_the_text_has_the_targets_law_whatever_the_draft_does() -> None:
    law: dict[tuple[int, ...], F] = defaultdict(F)
    for (text, _), chance in lived().items():
        law[text] += chance
    for text in product(range(3), repeat=LIMIT):
        assert law[text] == np.prod([TARGET[before(text, t)][text[t]] for t in range(LIMIT)])


def test_the_wrong_rule_shows() -> None:
    wrong = replayed(lambda _, law: law)
    assert max(abs(wrong[key] - value) for key, value in lived().items()) > F(1, 100)


# live, with random models


@pytest.fixture(scope="module")
def pair(tiny: Any) -> Pair:
    """A random target and a random draft whose head names half of the vocabulary."""
    return Pair(tiny(1)[1], tiny(2, head=20)[1])


def harvested(pair: Pair, count: int) -> tuple[dict[str, Any], list[list[int]]]:
    """What a harvest would hold of texts that the target samples, and the prompts."""
    prompts = [[1 + i % 5, 2, 3 + i % 7] for i in range(count)]
    rows = [Row(tuple(p), Stream(5, f"text/{i}").uniform(24)) for i, p in enumerate(prompts)]
    made = generate(pair.target, rows, new_tokens=24, end=-1).texts
    parts: dict[str, list[Any]] = {k: [] for k in ("prompt", "text", "next_token", "hidden", "top_ids")}
    for index, (prompt, text) in enumerate(zip(prompts, made, strict=True)):
        whole = Pair(pair.target, pair.target)
        hidden = draft_states(whole, prompt, text[:-2])
        parts["prompt"] += [index] * len(hidden)
        parts["text"] += [0] * len(hidden)
        parts["next_token"] += list(text[:-1])
        parts["hidden"].append(hidden)
        logits = pair.target.head(torch.from_numpy(hidden).float())
        parts["top_ids"].append(logits.topk(8).indices.numpy())
    stacked = {k: np.concatenate(v) if k in ("hidden", "top_ids") else np.array(v) for k, v in parts.items()}
    return stacked | {"hidden": stacked["hidden"].astype(np.float32)}, prompts


@pytest.fixture(scope="module")
def fitted(pair: Pair) -> dict[str, Any]:
    """Both mechanisms fitted on the answers of random models, and everything they were fitted on."""
    arrays, prompts = harvested(pair, 24)
    read = texts(arrays, pair, prompts, 16)
    passages = list(with_answers(read, 3))
    grids: dict[str, Any] = {
        "bias": BiasGrid(8, (0.01, 0.1), (0.5, 1.0)),
        "retrieval": RetrievalGrid((8,), (0.2, 0.5)),
    }
    made = {name: grid.fit(pair.heads, passages[:16], passages[16:]) for name, grid in grids.items()}
    return made | {"passages": passages, "prompts": prompts, "read": read, "arrays": arrays}


def test_a_passage_holds_the_laws_of_both_models(pair: Pair, fitted: dict[str, Any]) -> None:
    from engine.decode.replay import read

    passage, prompt = fitted["passages"][3], fitted["prompts"][3]
    rows = fitted["arrays"]["prompt"] == 3
    text = fitted["arrays"]["next_token"][rows].tolist()
    target, draft = (read(model, prompt, text) for model in (pair.target, pair.draft))
    assert np.allclose(passage.log_probability, target.log_probability, atol=1e-4)
    own = conversion.log_law(passage.draft_states @ pair.heads.draft.T, passage.named)
    assert np.allclose(own, draft.log_probability, atol=1e-4)


def test_an_oracle_is_kept_more_often_than_the_draft_alone(pair: Pair, fitted: dict[str, Any]) -> None:
    held = fitted["passages"][16:]
    for name in ("bias", "retrieval"):
        plain = conversion.mean_run(held, pair.heads, None)
        assert conversion.mean_run(held, pair.heads, fitted[name]) > plain + 0.02


@pytest.mark.parametrize("name", ["bias", "retrieval"])
def test_greedy_live_decoding_with_a_steered_draft_gives_the_targets_text(
    name: str, pair: Pair, fitted: dict[str, Any]
) -> None:
    prompt = fitted["prompts"][0]
    own = generate(pair.target, [Row(tuple(prompt))], new_tokens=20, end=-1).texts[0]
    look = recorded(fitted["passages"][0].rows[0])
    draft = SteeredDraft(pair.draft, 40, fitted=fitted[name], look=look, prompt=len(prompt), named=pair.named)
    assert decode(pair.target, draft, prompt, length=3, new_tokens=20, end=-1).tokens == own


@pytest.mark.parametrize("name", ["bias", "retrieval"])
def test_live_laws_are_those_of_the_replay(name: str, pair: Pair, fitted: dict[str, Any]) -> None:
    passage, prompt = fitted["passages"][2], fitted["prompts"][2]
    text = fitted["arrays"]["next_token"][fitted["arrays"]["prompt"] == 2].tolist()
    start = 5
    for offset in range(3):
        look = partial(lambda given, _: given, passage.rows[offset][start - 1 :][:1])
        draft = SteeredDraft(
            pair.draft, 60, fitted=fitted[name], look=look, prompt=len(prompt), named=pair.named
        )
        wanted = conversion.chances(passage, pair.heads, fitted[name])[start + offset, offset]
        law = forced(draft, [*prompt, *text[:start]], text[start : start + offset], offset)
        token = text[start + offset]
        assert min(1.0, law[token] / np.exp(passage.log_probability[start + offset])) == pytest.approx(
            wanted, abs=1e-4
        )


def forced(draft: SteeredDraft, text: list[int], ahead: list[int], offset: int) -> Any:
    """The law at an offset when the tokens before it are made to be the text's."""
    from engine.decode.llama import Cache, forward
    from engine.observe.conversion_live import steered_law

    whole = torch.tensor([[*text, *ahead]])
    logits = forward(draft.model, whole, Cache(draft.model, rows=1, capacity=60), 0, last=1)[0, 0]
    law = steered_law(logits.double().numpy(), draft.fitted, draft.look(0), offset)
    return draft._whole([law])[0]


def test_sampled_live_proposals_carry_the_law_they_were_drawn_from(
    pair: Pair, fitted: dict[str, Any]
) -> None:
    prompt = fitted["prompts"][0]
    look = recorded(fitted["passages"][0].rows[0])
    draft = SteeredDraft(
        pair.draft, 40, fitted=fitted["bias"], look=look, prompt=len(prompt), named=pair.named
    )
    made = decode(pair.target, draft, prompt, length=3, new_tokens=20, end=-1, draws=Draws(3, "live"))
    assert len(made.tokens) == 20
    plain = ModelDraft(pair.draft, 40).propose([*prompt, 4], 3, Stream(1, "x"))
    bent = SteeredDraft(
        pair.draft, 40, fitted=fitted["bias"], look=look, prompt=len(prompt), named=pair.named
    )
    steered = bent.propose([*prompt, 4], 3, Stream(1, "x"))
    assert plain.probability is not None and steered.probability is not None
    assert np.allclose(steered.probability.sum(axis=1), 1.0)
    assert np.abs(steered.probability[0] - plain.probability[0]).max() > 1e-3


def test_texts_in_two_places_are_refused() -> None:
    from engine.contract.errors import BadData

    with pytest.raises(BadData, match="two places"):
        spans({"prompt": np.array([0, 1, 0]), "text": np.array([0, 0, 0])})


def test_a_stream_steers_the_positions_after_it(pair: Pair, fitted: dict[str, Any]) -> None:
    features = np.arange(len(fitted["arrays"]["prompt"]))[:, None].astype(np.float32)
    first = next(with_stream(fitted["read"], features, 3))
    for offset in range(3):
        assert first.rows[offset][:, 0].tolist() == list(range(len(first) - offset - 1))
        assert first.steered(offset).start == offset + 1
