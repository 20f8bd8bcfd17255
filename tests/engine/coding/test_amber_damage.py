"""What is not the archive that was packed is refused before anything comes out."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import torch

from engine.coding import amber, amber_format
from engine.coding.amber import Settings
from engine.coding.chunks import Tokenizer
from engine.coding.llama_predictor import LlamaPredictor
from engine.contract.errors import BadData

TEXT = b"abcabdabc. An end."


class Letters:
    """Lower-case letters and a full stop; capitals are lost, and so stay bytes."""

    sha256 = hashlib.sha256(b"letters").digest()

    def tokens(self, text: str) -> list[int]:
        return [ord(letter.lower()) % 41 for letter in text]

    def text(self, tokens: list[int]) -> str:
        return "".join(
            next((c for c in "abcdefghijklmnopqrstuvwxyz. " if ord(c) % 41 == t), "?") for t in tokens
        )


@pytest.fixture(scope="module")
def predictor(tiny: Callable[..., tuple[Any, Any]]) -> LlamaPredictor:
    return LlamaPredictor(tiny(6)[1], 0, hashlib.sha256(b"tiny").digest())


@pytest.fixture(scope="module", params=amber_format.CODERS)
def packed(request: pytest.FixtureRequest, predictor: LlamaPredictor) -> bytes:
    archive = amber.pack(TEXT, predictor, Letters(), Settings(request.param, rows=2, piece=8))
    assert {record.tokens > 0 for record in archive.records} == {True, False}
    return amber_format.dump(archive)


def test_every_truncation_is_refused(packed: bytes) -> None:
    for length in range(len(packed)):
        with pytest.raises(BadData):
            amber_format.parse(packed[:length])


def test_every_flipped_bit_is_refused(packed: bytes) -> None:
    for bit in range(8 * len(packed)):
        with pytest.raises(BadData):
            amber_format.parse(flipped(packed, bit))


def test_what_goes_on_after_the_end_is_refused(packed: bytes) -> None:
    with pytest.raises(BadData):
        amber_format.parse(packed + b"\0")


def test_without_the_digest_flipped_bits_would_pass(packed: bytes) -> None:
    passed = [bit for bit in range(8 * len(packed)) if parses(signed(flipped(packed, bit)[:-32]))]
    assert len(passed) > 100


def test_a_flipped_bit_under_a_right_digest_gives_the_same_bytes_or_none(
    packed: bytes, predictor: LlamaPredictor
) -> None:
    bits = random.Random(2).sample(range(8 * (len(packed) - 32)), 60)
    assert {outcome(signed(flipped(packed, bit)[:-32]), predictor) for bit in bits} <= {"refused", TEXT}
    assert outcome(packed, predictor) == TEXT


def flipped(data: bytes, bit: int) -> bytes:
    return data[: bit // 8] + bytes([data[bit // 8] ^ 1 << bit % 8]) + data[bit // 8 + 1 :]


def signed(data: bytes) -> bytes:
    return data + hashlib.sha256(data).digest()


def parses(data: bytes) -> bool:
    try:
        amber_format.parse(data)
    except BadData:
        return False
    return True


def outcome(data: bytes, predictor: LlamaPredictor) -> bytes | str:
    try:
        archive = amber_format.parse(data)
        if archive.header.rows > 4:  # as many rows as it asks for cost as much as it asks for
            return "refused"
        return amber.unpack(archive, predictor, Letters())
    except BadData:
        return "refused"


class Others(Letters):
    sha256 = hashlib.sha256(b"other letters").digest()


WRONG: dict[str, tuple[Callable[[LlamaPredictor], LlamaPredictor], Tokenizer, str]] = {
    "model": (lambda p: replace(p, sha256=hashlib.sha256(b"other").digest()), Letters(), "the model"),
    "tokenizer": (lambda p: p, Others(), "the tokenizer"),
    "arithmetic": (lambda p: replace(p, model=shifted(p.model)), Letters(), "ranks otherwise"),
}


def shifted(model: Any) -> Any:
    """The same model, but for the last norm: it ranks otherwise under the same digest."""
    return replace(model, norm=model.norm * torch.linspace(0.2, 2.0, len(model.norm)))


@pytest.mark.parametrize("what", WRONG)
def test_another_environment_is_refused_and_named(
    what: str, packed: bytes, predictor: LlamaPredictor
) -> None:
    change, tokenizer, words = WRONG[what]
    with pytest.raises(BadData, match=words):
        amber.unpack(amber_format.parse(packed), change(predictor), tokenizer)


def test_another_version_is_refused_and_named(packed: bytes) -> None:
    other = signed(packed[:9] + bytes([amber_format.VERSION + 1]) + packed[10:-32])
    with pytest.raises(BadData, match=f"version {amber_format.VERSION + 1}"):
        amber_format.parse(other)


def test_a_text_that_comes_out_otherwise_though_the_canary_sang_is_refused(
    packed: bytes, predictor: LlamaPredictor, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive = amber_format.parse(packed)
    monkeypatch.setattr("engine.coding.amber_rows.canary", lambda *_: archive.header.canary)
    other = replace(predictor, model=shifted(predictor.model))
    with pytest.raises(BadData):
        amber.unpack(archive, other, Letters())
    assert amber.unpack(archive, predictor, Letters()) == TEXT


def test_archives_of_different_rows_are_not_unpacked_together(predictor: LlamaPredictor) -> None:
    made = [amber.pack(TEXT, predictor, Letters(), Settings("ranks", rows=rows, piece=8)) for rows in (1, 2)]
    with pytest.raises(BadData, match="differ"):
        amber.unpack_all(made, predictor, Letters())


def test_many_archives_come_back_side_by_side(predictor: LlamaPredictor) -> None:
    files = [TEXT, b"", b"abc abc", TEXT[::-1], b"ACE"]
    made = amber.pack_all(files, predictor, Letters(), Settings("ranks", rows=2, piece=8))
    assert amber.unpack_all(made, predictor, Letters()) == files
    assert [
        amber.pack(file, predictor, Letters(), Settings("ranks", rows=2, piece=8)) for file in files
    ] == made
