"""Traces hold together, deltas hold code points back, and recorded rounds follow from the answers."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from engine.contract.errors import BadData
from engine.contract.seeds import Stream
from engine.decode.drafts import rest
from engine.decode.eagle_training import Trainable, from_state
from engine.decode.llama import Cache, Llama, final_hidden, forward
from engine.decode.models import Chat
from engine.decode.sample import Row, generate
from engine.decode.schemes import Parts, scheme
from engine.spill import traces, traces_record
from engine.spill.deltas import Deltas, sizes
from engine.spill.traces import Trace, TraceSet

NEW, END, T = 20, 0, 0.8


class Bytes:
    """A tokenizer of one byte a token."""

    def decode(self, ids: list[int], **_: Any) -> str:
        """What the bytes say, with replacement characters."""
        return bytes(ids).decode("utf-8", errors="replace")


CHAT = Chat(Bytes(), end=0)
TEXTS = ["plain", "né", "a€b", "😀!", "é😀€é"]


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("size", [1, 2, 3, 5])
def test_no_code_point_is_sent_before_it_is_whole(text: str, size: int) -> None:
    data, deltas, sent = text.encode(), Deltas(CHAT), ""
    for at in range(0, len(data), size):
        new = deltas.push(list(data[at : at + size]))
        assert "\ufffd" not in new
        sent += new
    assert sent + deltas.finish() == text


def test_what_never_becomes_a_code_point_is_sent_all_the_same() -> None:
    deltas = Deltas(CHAT)
    assert deltas.push(list("é".encode())[:1]) == ""
    assert deltas.finish() == "\ufffd"
    assert Deltas(CHAT).push([0x80] * 4).startswith("\ufffd")


def test_the_bytes_of_rounds_are_those_of_the_text() -> None:
    data = list("é😀ab".encode())
    assert sizes(CHAT, data, [1, 1, 3, 1, 2]) == (0, 2, 0, 4, 2)
    assert sum(sizes(CHAT, data, [3, 5])) == len(data)


def made() -> TraceSet:
    """A small set."""
    rows = (
        Trace(0, 0, (5, 6, 7), (1, 2), (1, 9)),
        Trace(1, 0, (5,), (1,), (4,)),
        Trace(1, 1, (5,), (1,), (4,)),
    )
    return TraceSet("lookup", "questions", 0.3, 8, 5, rows)


def test_a_set_comes_back_as_it_was_written_and_its_digest_is_listed(tmp_path: Path) -> None:
    path, digest = traces.write(tmp_path, made())
    assert traces.read(path, digest) == made()
    assert (tmp_path / traces.SUMS).read_text() == f"{digest}  lookup-questions-0.3.json\n"
    assert made().vectors("bytes", 3).tolist() == [[1, 9, 0], [4, 0, 0], [4, 0, 0]]
    assert made().vectors("counts", 1).tolist() == [[1], [1], [1]]
    assert made().distinct() == {0: 1, 1: 1}


SPOILED: dict[str, Callable[[dict[str, Any]], Any]] = {
    "a round beyond the bound": lambda d: d["traces"][0].update(counts=[1, 7], tokens=[1] * 8),
    "rounds that miss a token": lambda d: d["traces"][0].update(counts=[1, 1]),
    "a missing size": lambda d: d["traces"][0].update(sizes=[1]),
    "a run twice": lambda d: d["traces"].append(d["traces"][0]),
    "an unknown key": lambda d: d.update(more=1),
    "no scheme": lambda d: d.pop("scheme"),
}


@pytest.mark.parametrize("fault", SPOILED.values(), ids=SPOILED)
def test_a_spoiled_file_is_refused(tmp_path: Path, fault: Callable[[dict[str, Any]], Any]) -> None:
    path, _ = traces.write(tmp_path, made())
    document = json.loads(path.read_text())
    fault(document)
    path.write_text(json.dumps(document))
    with pytest.raises(BadData):
        traces.read(path)


def test_half_a_file_another_digest_and_mixed_schemes_are_refused(tmp_path: Path) -> None:
    path, digest = traces.write(tmp_path, made())
    with pytest.raises(BadData, match="digest"):
        traces.read(path, "0" * 64)
    path.write_text(path.read_text()[:50])
    with pytest.raises(BadData, match="whole file"):
        traces.read(path)
    with pytest.raises(BadData, match="kind"):
        traces.together([made(), replace(made(), scheme="draft")])
    with pytest.raises(BadData, match="not there"):
        traces.read(tmp_path / "absent.json", digest)


PROMPTS = ((3, 1, 4, 1, 5), (2, 7, 1))


@pytest.fixture(scope="module")
def parts(tiny: Callable[..., tuple[Any, Llama]]) -> Parts:
    """Random models and a datastore."""
    target = tiny(3)[1]
    torch.manual_seed(2)
    state = {k: v.detach() for k, v in Trainable(target, target.layers[-1]).state_dict().items()}
    own = generate(target, [Row(PROMPTS[0])], new_tokens=NEW, end=END).texts
    return Parts(
        target,
        draft=tiny(4, head=30)[1],
        head=from_state(state, torch.arange(37), target),
        datastore=rest.Datastore(own),
    )


def rows() -> list[Row]:
    """Two prompts, two runs each."""
    return [
        Row(prompt, Stream(1, f"{prompt}/{run}").uniform(NEW), T) for prompt in PROMPTS for run in range(2)
    ]


def test_recorded_answers_are_plain_sampling_with_the_target_s_own_numbers(parts: Parts) -> None:
    answers = traces_record.write(parts.target, rows(), new_tokens=NEW, end=END)
    assert tuple(a.tokens for a in answers) == generate(parts.target, rows(), new_tokens=NEW, end=END).texts
    for row, answer in zip(rows(), answers, strict=True):
        ids = torch.tensor([[*row.prompt, *answer.tokens][:-1]])
        cache = Cache(parts.target, rows=1, capacity=ids.shape[1])
        logits = forward(parts.target, ids, cache, 0, last=len(answer.tokens))[0].double() / T
        said = logits.log_softmax(-1)[torch.arange(len(answer.tokens)), list(answer.tokens)]
        assert np.allclose(answer.log_probability, said, atol=1e-5)
        assert torch.allclose(answer.features, final_hidden(parts.target, ids, cache, 0)[0], atol=1e-4)


def test_every_recorded_scheme_sends_the_whole_answer_within_its_bound(parts: Parts) -> None:
    answers = traces_record.write(parts.target, rows()[:2], new_tokens=NEW, end=END)
    found = traces_record.rounds(
        parts, PROMPTS[0], answers, ["a", "b"], temperature=T, new_tokens=NEW, root=1
    )
    for answer, one in zip(answers, found, strict=True):
        for name in traces_record.REPLAYED:
            assert sum(one.counts[name]) == len(answer.tokens)
            assert 1 <= max(one.counts[name]) <= scheme(name, parts).bound
        assert set(one.counts["plain"]) == {1}


def test_a_draft_that_is_the_target_is_recorded_as_always_right(parts: Parts) -> None:
    same = replace(parts, draft=parts.target)
    answers = traces_record.write(parts.target, rows()[:1], new_tokens=NEW, end=END)
    counts = traces_record.rounds(same, PROMPTS[0], answers, ["a"], temperature=T, new_tokens=NEW, root=1)[
        0
    ].counts["draft"]
    assert set(counts[:-1]) == {same.length + 1}
