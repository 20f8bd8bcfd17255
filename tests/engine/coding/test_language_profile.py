"""A language model's profile: any bytes come back, and what would not is refused before a byte."""

from __future__ import annotations

import io
import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from math import log2
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from engine.coding import cli, container, language
from engine.coding.canary import canary
from engine.coding.language import LanguageModel, Shape, matching
from engine.coding.llama_predictor import LlamaPredictor
from engine.coding.predictor import Logits, Predictor, Rows
from engine.contract.errors import BadData

TEXT = "A draft guesses, a target judges: é, 漢字. What is right is kept, the rest is the target's own. "


SMALL = Shape(3, 24)


class Bytes:
    """A tokenizer whose tokens are the bytes of text, but for one character that it does not give back."""

    sha256 = b"\x01" * 32

    def tokens(self, text: str) -> list[int]:
        return [byte + 1 for byte in text.replace("\N{SOFT HYPHEN}", "").encode()]

    def text(self, tokens: list[int]) -> str:
        return bytes(token - 1 for token in tokens).decode()


@pytest.fixture(scope="session")
def predictor(tiny: Callable[..., tuple[Any, Any]]) -> LlamaPredictor:
    return LlamaPredictor(tiny(5, vocabulary=257)[1], 0, b"\x02" * 32)


def packed(predictor: Predictor, data: bytes, shape: Shape = SMALL) -> bytes:
    sink = io.BytesIO()
    container.pack(io.BytesIO(data), sink, LanguageModel("smollm2", predictor, Bytes(), shape))
    return sink.getvalue()


def unpacked(predictor: Predictor, data: bytes) -> bytes:
    sink = io.BytesIO()
    container.unpack(io.BytesIO(data), sink, lambda header: matching(header, predictor, Bytes()))
    return sink.getvalue()


SAMPLES = {
    "empty": b"",
    "one letter": b"a",
    "one byte that is no text": b"\xff",
    "text": TEXT.encode(),
    "text with a character that is lost": (TEXT[:40] + "\N{SOFT HYPHEN}" + TEXT[40:]).encode(),
    "text with a bad byte": TEXT.encode()[:50] + b"\xff" + TEXT.encode()[50:],
    "wide characters": "漢字é".encode() * 20,
    "noise": random.Random(2).randbytes(150),
    "zeros": bytes(80),
}


@pytest.mark.parametrize("shape", [Shape(1, 24), Shape(3, 24), Shape(16, 64)], ids=str)
@pytest.mark.parametrize("sample", SAMPLES)
def test_any_bytes_come_back_whatever_the_batch(sample: str, shape: Shape, predictor: LlamaPredictor) -> None:
    assert unpacked(predictor, packed(predictor, SAMPLES[sample], shape)) == SAMPLES[sample]


def test_only_the_piece_that_does_not_come_back_stays_bytes(predictor: LlamaPredictor) -> None:
    profile = LanguageModel("smollm2", predictor, Bytes(), Shape(3, 24))
    found = list(language._pieces(profile.encode(b"x" * 24 + b"\xff" * 10 + b"y" * 29).code))
    assert [(piece.symbols, piece.is_bytes) for piece in found] == [(24, False), (24, True), (15, False)]


class Told(LlamaPredictor):
    """A predictor that knows what comes, as a good model would: its size must follow the shares it gives."""

    def begin(self, rows: int, capacity: int) -> Rows:
        return _Told(rows)


class _Told:
    def __init__(self, rows: int) -> None:
        self._rows = rows

    def step(self, tokens: Sequence[int]) -> Logits:
        logits = np.zeros((self._rows, 257), dtype=np.float32)
        for row, token in enumerate(tokens):
            logits[row, token % 4 + 98] = 12.0
        return logits


def test_what_the_model_expects_costs_next_to_nothing(predictor: LlamaPredictor) -> None:
    told = Told(predictor.model, 1, predictor.sha256)
    text, at = [], 1
    for _ in range(240):
        at = at % 4 + 98
        text.append(at - 1)
    ideal = 240 * log2(1 + 256 * np.exp(-12.0)) / 8
    size = len(packed(told, bytes(text), Shape(1, 243))) - len(packed(told, b"", Shape(1, 243)))
    assert size <= ideal + 20 + 6 + 2  # record, two varints each of two bytes and one, ending


def test_progress_adds_up_to_the_file_both_ways(predictor: LlamaPredictor) -> None:
    told: list[int] = []
    data, shape = SAMPLES["text with a bad byte"] * 3, Shape(2, 24)
    sink = io.BytesIO()
    counts = container.pack(
        io.BytesIO(data), sink, LanguageModel("smollm2", predictor, Bytes(), shape, told.append)
    )
    assert sum(told) == counts.size and len(told) > 2 * counts.chunks
    told.clear()
    source = io.BytesIO(sink.getvalue())
    container.unpack(source, io.BytesIO(), lambda header: matching(header, predictor, Bytes(), told.append))
    assert 0 < sum(told) <= len(sink.getvalue())


def given_out(predictor: Predictor, data: bytes, match: str) -> bytes:
    sink = io.BytesIO()
    with pytest.raises(BadData, match=match):
        container.unpack(io.BytesIO(data), sink, lambda header: matching(header, predictor, Bytes()))
    return sink.getvalue()


class Elsewhere(LlamaPredictor):
    """The same weights where the arithmetic is another: one logit in the last place but two."""

    def begin(self, rows: int, capacity: int) -> Rows:
        return _Elsewhere(super().begin(rows, capacity))


class _Elsewhere:
    def __init__(self, rows: Rows) -> None:
        self._rows = rows

    def step(self, tokens: Sequence[int]) -> Logits:
        logits = self._rows.step(tokens)
        return logits * np.float32(1 + 2**-20)


def test_an_environment_that_computes_otherwise_is_refused_before_any_byte(predictor: LlamaPredictor) -> None:
    there = Elsewhere(predictor.model, predictor.first, predictor.sha256)
    assert canary(there, 3) != canary(predictor, 3)
    given = given_out(
        there, packed(predictor, SAMPLES["text"]), "was packed under torch .* computes otherwise"
    )
    assert given == b""


class LateElsewhere(LlamaPredictor):
    """Arithmetic that differs only where the canary does not reach."""

    def begin(self, rows: int, capacity: int) -> Rows:
        return super().begin(rows, capacity) if capacity == 32 else _Elsewhere(super().begin(rows, capacity))


def test_what_passes_the_canary_and_decodes_otherwise_is_refused_before_a_wrong_byte(
    predictor: LlamaPredictor,
) -> None:
    there = LateElsewhere(predictor.model, predictor.first, predictor.sha256)
    data = SAMPLES["text"] * 3
    assert data.startswith(
        given_out(there, packed(predictor, data, Shape(3, 64)), "lockstep code|decodes to")
    )


@pytest.mark.parametrize("field", ["model", "tokenizer"])
def test_another_model_or_tokenizer_is_named_before_the_canary_runs(
    field: str, predictor: LlamaPredictor
) -> None:
    profile = LanguageModel("smollm2", predictor, Bytes(), Shape(3, 24))
    profile.header = replace(profile.header, **{field: b"\x07" * 32})  # type: ignore[arg-type]
    sink = io.BytesIO()
    container.pack(io.BytesIO(b"text"), sink, profile)
    assert given_out(predictor, sink.getvalue(), f"was packed with the {field} 0707") == b""


def test_every_flipped_bit_is_refused_before_a_wrong_byte(predictor: LlamaPredictor) -> None:
    whole = packed(predictor, SAMPLES["text"][:60], Shape(2, 24))
    rng = random.Random(5)
    for bit in sorted(rng.sample(range(8 * len(whole)), 150)):
        spoilt = bytearray(whole)
        spoilt[bit // 8] ^= 1 << bit % 8
        assert SAMPLES["text"].startswith(given_out(predictor, bytes(spoilt), ".")), bit


@pytest.mark.parametrize("end", range(0, 200, 13))
def test_truncations_are_refused(end: int, predictor: LlamaPredictor) -> None:
    whole = packed(predictor, SAMPLES["text"][:60], Shape(2, 24))
    assert SAMPLES["text"].startswith(given_out(predictor, whole[:end], "stops before its end"))


@pytest.mark.parametrize(
    ("code", "symbols"),
    [
        (b"\x80", 1),
        (b"\x80\x80\x80\x80\x80\x80", 1),
        (b"\x02\x09\x00", 1),
        (b"\x00\x00", 0),
        (b"\x02\x00" * 4, 4),
        (b"\x80\x02\x00", 128),
    ],
)
def test_pieces_that_cannot_be_are_refused(code: bytes, symbols: int, predictor: LlamaPredictor) -> None:
    profile = LanguageModel("smollm2", predictor, Bytes(), Shape(3, 24))
    with pytest.raises(BadData, match="container"):
        profile.decode(container.Coded(symbols, code))


@pytest.mark.parametrize("parameters", [b"", bytes(38), b"\0\1\0\x18\xff\xff" + bytes(32)])
def test_parameters_that_say_nothing_are_refused(parameters: bytes, predictor: LlamaPredictor) -> None:
    profile = LanguageModel("smollm2", predictor, Bytes(), Shape(1, 24))
    with pytest.raises(BadData, match="parameters that say nothing"):
        matching(replace(profile.header, parameters=parameters), predictor, Bytes())


def test_a_file_has_as_many_rows_as_pieces_up_to_the_batch() -> None:
    assert [Shape.of(length, 4).rows for length in (0, 1, 2045, 2046, 8180, 10**9)] == [1, 1, 1, 2, 4, 4]
    assert Shape.of(10**9, 256).chunk <= container.CHUNK_LIMIT


@pytest.mark.model
def test_the_real_model_packs_and_unpacks_through_the_command(
    need: Callable[[str], None], tmp_path: Path
) -> None:
    need("smollm2")
    source, wrapped, back = tmp_path / "in", tmp_path / "packed", tmp_path / "out"
    source.write_bytes(b"one, two, three, four, five, six, seven, eight, nine, ten, eleven, twelve")
    for command in (
        ["pack", source, "--model", "smollm2", "--out", wrapped],
        ["unpack", wrapped, "--out", back],
    ):
        done = CliRunner().invoke(cli.lockstep, list(map(str, command)), catch_exceptions=False)
        assert done.exit_code == 0, done.output
    assert back.read_bytes() == source.read_bytes()
    reader = container._Reader(io.BytesIO(wrapped.read_bytes()))
    found = reader.chunk(reader.header().chunk)
    assert found and len(found[0].code) < found[0].symbols  # a model that knows nothing takes twice as many
