"""Amber archives: the same bytes back, whatever they are; the ranking, its ties and its margins."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.coding import amber, amber_format, amber_ranks, amber_rows, amber_symbols
from engine.coding.amber import Settings
from engine.coding.amber_journal import Journal
from engine.coding.amber_symbols import LITERAL, Correction
from engine.coding.llama_predictor import LlamaPredictor
from engine.contract.errors import BadData

VOCABULARY = 41


class Letters:
    """A tokenizer of lower-case text: it gives back all but what holds a capital letter."""

    sha256 = hashlib.sha256(b"letters").digest()
    known = "abcdefghijklmnopqrstuvwxyz .,é漢"

    def tokens(self, text: str) -> list[int]:
        return [self.known.find(letter.lower()) + 1 for letter in text]

    def text(self, tokens: list[int]) -> str:
        return "".join(
            "?" if token - 1 not in range(len(self.known)) else self.known[token - 1] for token in tokens
        )


@pytest.fixture(scope="module")
def predictor(tiny: Callable[..., tuple[Any, Any]]) -> LlamaPredictor:
    return LlamaPredictor(tiny(5, vocabulary=VOCABULARY, head=36)[1], 0, hashlib.sha256(b"tiny").digest())


SAMPLES = {
    "empty": b"",
    "one letter": b"a",
    "text": b"the cat sat on the mat, and the mat sat on the cat. " * 5,
    "characters of several bytes": "été 漢漢, ".encode() * 9,
    "capitals, which the tokenizer loses": b"a plain start. THE END IS NOT. a plain end, quite plain.",
    "every byte": bytes(range(256)),
    "noise": random.Random(1).randbytes(200),
    "half a character": "漢".encode()[:2] + b"abc" + "漢".encode()[:1],
}


def settings(coder: str, **others: Any) -> Settings:
    return Settings(coder, **({"rows": 3, "piece": 20} | others))  # type: ignore[arg-type]


@pytest.mark.parametrize("coder", amber_format.CODERS)
@pytest.mark.parametrize("sample", SAMPLES)
def test_any_bytes_in_the_same_bytes_out(sample: str, coder: str, predictor: LlamaPredictor) -> None:
    packed = amber_format.dump(amber.pack(SAMPLES[sample], predictor, Letters(), settings(coder)))
    assert amber.unpack(amber_format.parse(packed), predictor, Letters()) == SAMPLES[sample]


def test_only_the_chunks_that_do_not_come_back_stay_bytes(predictor: LlamaPredictor) -> None:
    archive = amber.pack(
        SAMPLES["capitals, which the tokenizer loses"], predictor, Letters(), settings("ranks")
    )
    assert [record.tokens > 0 for record in archive.records] == [False, False, True]


def test_the_ranking_is_by_value_and_then_by_token() -> None:
    logits = np.array([[1.0, 3.0, 3.0, -np.inf, 2.0]], dtype=np.float32)
    order = [int(amber_ranks.tokens_at(logits, np.array([rank]))[0]) for rank in range(5)]
    assert order == [1, 2, 4, 0, 3]
    places = [amber_ranks.ranked(logits, np.array([token])) for token in range(5)]
    assert [int(place.ranks[0]) for place in places] == [3, 0, 1, -1, 2]
    assert [float(place.margins[0]) for place in places] == [1.0, 0.0, 0.0, 0.0, 1.0]


def test_ranks_and_tokens_undo_each_other_on_values_full_of_ties() -> None:
    logits = np.random.default_rng(3).integers(0, 6, (7, 50)).astype(np.float32)
    for token in range(50):
        found = amber_ranks.ranked(logits, np.full(7, token))
        assert (amber_ranks.tokens_at(logits, found.ranks) == token).all()
        assert (found.margins == 0).all()


@pytest.mark.parametrize("places", [1, 7, 50, 60])
def test_the_first_places_are_those_found_a_rank_at_a_time(places: int) -> None:
    logits = np.random.default_rng(8).integers(0, 9, (1, 50)).astype(np.float32)
    ranks = [int(amber_ranks.tokens_at(logits, np.array([rank]))[0]) for rank in range(min(places, 50))]
    assert amber_ranks.first_places(logits[0], places).tolist() == ranks


def test_a_margin_is_how_far_a_value_moves_before_its_rank_does() -> None:
    logits = np.random.default_rng(4).normal(size=(1, 30)).astype(np.float32)
    for token in range(30):
        found = amber_ranks.ranked(logits, np.array([token]))
        for sign in (-1, 1):
            moved = logits.copy()
            moved[0, token] += sign * found.margins[0] * np.float32(0.99)
            assert amber_ranks.ranked(moved, np.array([token])).ranks == found.ranks
        changed = [logits.copy(), logits.copy()]
        changed[0][0, token] += found.margins[0] * np.float32(1.01)
        changed[1][0, token] -= found.margins[0] * np.float32(1.01)
        assert any(amber_ranks.ranked(each, np.array([token])).ranks != found.ranks for each in changed)


@pytest.mark.parametrize("work", [amber_ranks.ranked, amber_ranks.tokens_at])
def test_what_is_not_a_number_has_no_rank(work: Callable[..., object]) -> None:
    with pytest.raises(BadData, match="not a number"):
        work(np.array([[1.0, np.nan]], dtype=np.float32), np.array([0]))


def test_a_rank_beyond_the_model_is_refused() -> None:
    with pytest.raises(BadData, match="rank 2"):
        amber_ranks.tokens_at(np.array([[1.0, 2.0]], dtype=np.float32), np.array([2]))


def test_margins_fall_into_classes_by_powers_of_two() -> None:
    unit = amber_ranks.MARGIN_UNIT
    margins = np.array([0, unit / 2, unit, 1.9 * unit, 2 * unit, 2.0**20, np.inf], dtype=np.float32)
    assert amber_ranks.margin_classes(margins).tolist() == [0, 0, 1, 1, 2, 15, 15]


@pytest.mark.parametrize("seed", range(20))
def test_corrections_come_back_from_their_code(seed: int) -> None:
    source = random.Random(seed)
    told = [
        Correction(source.choice([0, 0, 0, 1, 2, 3, 100, LITERAL - 1]), False)
        if source.random() < 0.8
        else Correction(source.randrange(VOCABULARY), True)
        for _ in range(source.randrange(200))
    ]
    code = amber_symbols.encode(told, VOCABULARY)
    assert amber_symbols.decode(code, len(told), VOCABULARY) == told
    classes = [source.randrange(16) for _ in told]
    assert amber_symbols.decode_margins(amber_symbols.encode_margins(classes), len(classes)) == classes


def test_long_runs_of_the_first_rank_cost_next_to_nothing() -> None:
    assert len(amber_symbols.encode([Correction(0, False)] * 2000, VOCABULARY)) < 10


@pytest.mark.parametrize("rows", [1, 2, 5])
def test_texts_come_back_in_another_number_of_rows_where_arithmetic_allows(
    rows: int, predictor: LlamaPredictor
) -> None:
    data = SAMPLES["text"]
    archive = amber.pack(data, predictor, Letters(), settings("ranks"))
    told = [record for record in archive.records if record.tokens]
    texts = [
        text for group in amber.grouped(told, rows) for text in amber.decoded(group, predictor, "ranks", rows)
    ]
    assert Letters().text([token for text in texts for token in text]).encode() == data


def test_tokens_off_the_drafts_list_and_near_ties_are_told_outright(predictor: LlamaPredictor) -> None:
    listed = set(predictor.model.head_tokens.tolist())  # type: ignore[union-attr]
    text = list(range(VOCABULARY))
    reading = amber_rows.read(predictor, [text], 2)
    outright = amber_rows.literal(reading.ranks, reading.margins, 8)[0]
    assert all(outright[token] for token in text if token not in listed)
    wide = amber_rows.literal(reading.ranks, reading.margins, 1 << 14)[0]
    assert outright.sum() < wide.sum()


class Counting:
    """A predictor that counts what it is asked, and stops after so many batches."""

    def __init__(self, inner: LlamaPredictor, most: int) -> None:
        self.inner, self.most, self.begun = inner, most, 0
        self.sha256, self.vocabulary, self.first = inner.sha256, inner.vocabulary, inner.first

    def begin(self, rows: int, capacity: int) -> Any:
        self.begun += 1
        if self.begun > self.most:
            raise KeyboardInterrupt
        return self.inner.begin(rows, capacity)


@pytest.mark.parametrize("coder", amber_format.CODERS)
def test_work_that_was_stopped_goes_on_and_ends_with_the_same_bytes(
    coder: str, predictor: LlamaPredictor, tmp_path: Path
) -> None:
    data, chosen = SAMPLES["text"], settings(coder)
    undisturbed = amber.pack(data, predictor, Letters(), chosen)
    with pytest.raises(KeyboardInterrupt):
        amber.pack(data, Counting(predictor, 2), Letters(), chosen, Journal(tmp_path / "part", "key"))
    rest = Counting(predictor, 99)
    assert amber.pack(data, rest, Letters(), chosen, Journal(tmp_path / "part", "key")) == undisturbed
    whole = Counting(predictor, 99)
    amber.pack(data, whole, Letters(), chosen)
    assert rest.begun == whole.begun - 2
    song = Counting(predictor, 99)
    amber_rows.canary(song, chosen.coder, chosen.rows)
    stopped = Counting(predictor, song.begun + 2)
    with pytest.raises(KeyboardInterrupt):
        amber.unpack(undisturbed, stopped, Letters(), Journal(tmp_path / "back", "key"))
    rest = Counting(predictor, 99)
    assert amber.unpack(undisturbed, rest, Letters(), Journal(tmp_path / "back", "key")) == data
    assert rest.begun == whole.begun - 2


def test_what_was_kept_of_other_work_is_not_used(predictor: LlamaPredictor, tmp_path: Path) -> None:
    for data in (b"the first text", b"the other text"):
        journal = Journal(tmp_path, data.decode())
        archive = amber.pack(data, predictor, Letters(), settings("ranks"), journal)
        assert amber.unpack(archive, predictor, Letters()) == data


def test_progress_counts_every_token(predictor: LlamaPredictor) -> None:
    told: list[int] = []
    archive = amber.pack(SAMPLES["text"], predictor, Letters(), settings("ranks"), watch=told.append)
    assert sum(told) == sum(record.tokens for record in archive.records) == len(SAMPLES["text"])
    again: Sequence[int] = []
    amber.unpack(archive, predictor, Letters(), watch=again.append)
    assert again == told


def test_the_canary_of_ranks_is_of_the_same_texts_in_any_number_of_rows(predictor: LlamaPredictor) -> None:
    songs = {rows: amber_rows.rank_canary(predictor, rows) for rows in (1, 3, 8, 11)}
    assert len(set(songs.values())) == 1
    other = LlamaPredictor(predictor.model, predictor.first + 1, predictor.sha256)
    assert amber_rows.rank_canary(other, 3) != songs[3]
