"""Shaping of rounds into events: nothing of the text is lost, and sizes are what a mitigation promises."""

from __future__ import annotations

import json

import pytest

from engine.contract.errors import BadData
from engine.contract.seeds import Stream
from engine.spill.mitigate import Event, Mitigation, Shaper, size_of
from engine.spill.mitigate_sizes import bursts, framing, seen, tight, vectors
from engine.spill.server_events import Framing, Head, record_length

ROUNDS = [["a", "é", '"'], ["long word"], [""], ["\n", "😀"], ["b"], ["c", "d", "e", "f"]]
TEXT = "".join(piece for pieces in ROUNDS for piece in pieces)
ALL = (
    "none",
    "token",
    "fixed:8",
    "fixed:1024",
    "random:6",
    "aggregate:1",
    "aggregate:4",
    "constant:4",
    "obfuscation:9",
)
BAD = (
    "",
    "fixed",
    "none:3",
    "fixed:0",
    "fixed:-1",
    "random:x",
    "padding:4",
    "aggregate:1.5",
    "fixed:16001",
    "fixed:³",
)


def draws() -> Stream:
    """A stream of its own."""
    return Stream(7, "filling")


@pytest.mark.parametrize("text", ALL)
def test_every_mitigation_sends_the_whole_text_in_order(text: str) -> None:
    sent = [event for burst in bursts(ROUNDS, Mitigation.parse(text), draws()) for event in burst]
    assert "".join(event.text for event in sent) == TEXT
    assert str(Mitigation.parse(text)) == text


@pytest.mark.parametrize("text", BAD)
def test_a_mitigation_that_is_none_is_refused_with_those_there_are(text: str) -> None:
    with pytest.raises(BadData, match="One of: none, token, fixed:N"):
        Mitigation.parse(text)


@pytest.mark.parametrize(("text", "step"), [("fixed:8", 8), ("fixed:1024", 1024), ("constant:4", 4)])
def test_filled_events_are_multiples_of_their_size(text: str, step: int) -> None:
    sent = [event for burst in bursts(ROUNDS, Mitigation.parse(text), draws()) for event in burst]
    sizes = {size_of(event.text) + event.filling for event in sent}
    assert all(size > 0 and size % step == 0 for size in sizes)
    assert len(sizes) == 1 or text == "fixed:8"  # a round longer than eight takes two


def test_without_filling_sizes_differ() -> None:
    sent = [event for burst in bursts(ROUNDS, Mitigation(), draws()) for event in burst]
    assert len({size_of(event.text) + event.filling for event in sent}) > 3


def test_random_filling_takes_every_value_from_none_to_the_most() -> None:
    sent = bursts([["a"]] * 400, Mitigation.parse("random:3"), draws())
    assert {event.filling for burst in sent for event in burst} == {0, 1, 2, 3}


def test_gathered_rounds_wait_and_the_last_ones_are_sent_at_the_end() -> None:
    shaper = Shaper(Mitigation.parse("aggregate:3"), draws())
    sent = [shaper.round(["ab"]) for _ in range(4)]
    assert [len(events) for events in sent] == [0, 0, 1, 0]
    assert sent[2] == [Event("ababab", 0, waited=2 * 2 + 2 * 1)]
    assert shaper.end() == [Event("ab", 0, waited=0)]


def test_a_constant_rate_carries_over_what_does_not_fit_and_counts_its_waiting() -> None:
    groups = bursts([["abcdef"], [], ["g"]], Mitigation.parse("constant:4"), draws())
    assert groups == [[Event("abcd", 0, 0)], [Event("ef", 2, 2)], [Event("g", 3, 0)]]


def test_a_constant_rate_narrower_than_a_character_is_refused() -> None:
    with pytest.raises(BadData, match="narrower"):
        bursts([["😀"]], Mitigation.parse("constant:3"), draws())


@pytest.mark.parametrize("text", ALL)
def test_lengths_follow_without_writing_events(text: str) -> None:
    mitigation = Mitigation.parse(text)
    head = Head("chatcmpl-000000000000", 1_700_000_000, "model-name", mitigation.filling)
    for burst in bursts(ROUNDS, mitigation, draws()):
        for event in burst:
            written = head.content(event)
            assert framing(mitigation).record(event) == record_length(len(written))
            chunk = json.loads(written.removeprefix(b"data: "))
            assert chunk["choices"][0]["delta"]["content"] == event.text
            assert len(chunk.get(mitigation.filling, "")) == event.filling


def test_a_shorter_name_of_the_model_shortens_every_record_alike() -> None:
    long, short = (Framing.of(Head("i", 1, name)) for name in ("model", "m"))
    assert long.around - short.around == 4


def test_the_cost_is_bytes_sent_text_and_waiting() -> None:
    plain, padded = (seen(ROUNDS, Mitigation.parse(m), draws()) for m in ("none", "fixed:1024"))
    assert plain.text == padded.text == sum(size_of(piece) for pieces in ROUNDS for piece in pieces)
    assert plain.waited == 0 and plain.sent == sum(plain.lengths)
    assert padded.sent - plain.sent > 6 * 1000
    assert seen(ROUNDS, Mitigation.parse("aggregate:4"), draws()).waited > 0


def test_tokens_of_a_round_are_one_burst_with_a_length_and_a_number_of_records() -> None:
    found = seen(ROUNDS, Mitigation.parse("token"), draws())
    assert found.records == tuple(len(pieces) for pieces in ROUNDS)
    rows = vectors([found], Mitigation.parse("token"), 8)
    assert rows.shape == (1, 16) and rows[0, 1:12:2].tolist() == list(found.records)
    assert rows[0, 12:].tolist() == [0] * 4
    assert vectors([found], Mitigation(), 3).tolist() == [list(found.lengths[:3])]


@pytest.mark.parametrize(("sizes", "wanted"), [([1, 16], 16), ([17], 32), ([0], 16)])
def test_the_tight_size_is_the_smallest_step_that_holds_all(sizes: list[int], wanted: int) -> None:
    assert tight(sizes, 16) == wanted
