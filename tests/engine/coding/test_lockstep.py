"""Lockstep against exact fractions, and against everything it must refuse."""

from __future__ import annotations

import ast
import itertools
import random
import shutil
import subprocess
import sys
from collections.abc import Iterator
from fractions import Fraction
from math import log2
from pathlib import Path

import lockstep_oracle as oracle
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.coding import lockstep
from engine.coding.lockstep import (
    FULL,
    LEAST,
    TOP,
    Adaptive,
    Decoder,
    Encoder,
    Static,
    checked,
    decode,
    encode,
)
from engine.contract.errors import BadData

SOURCE = Path(lockstep.__file__)
MODELS = 3000


def trees() -> Iterator[ast.AST]:
    yield from ast.walk(ast.parse(SOURCE.read_text(encoding="utf-8")))


def test_the_source_has_no_float_and_no_true_division() -> None:
    for node in trees():
        assert not isinstance(node, ast.Div), "true division"
        assert not (isinstance(node, ast.Constant) and isinstance(node.value, float | complex))
        assert not (isinstance(node, ast.Name) and node.id in {"float", "complex", "round", "pow", "divmod"})
        assert not isinstance(node, ast.Pow)


def test_the_source_imports_little_of_the_standard_library_and_our_errors() -> None:
    imported = {node.module for node in trees() if isinstance(node, ast.ImportFrom)}
    imported |= {alias.name for node in trees() if isinstance(node, ast.Import) for alias in node.names}
    assert imported == {
        "__future__",
        "bisect",
        "collections.abc",
        "engine.contract.errors",
        "itertools",
        "struct",
        "typing",
    }


class Case:
    """A random static or adaptive model with a message, from a seed."""

    def __init__(self, seed: int) -> None:
        rng = random.Random(seed)
        size = rng.choice([1, 2, 3, 5, 9, 40])
        if rng.random() < 0.3:
            increment = rng.randint(1, 40)
            self.adaptive = size, increment, size + increment + rng.choice([0, 1, 7, 90, 1 << 20])
            self.message = rng.choices(range(size), k=rng.randint(0, 50))
            self.steps = list(oracle.adaptive(*self.adaptive, self.message))
            return
        self.adaptive = (0, 0, 0)
        widest = rng.choice([1, 2, 16, 255, 65536 // size, lockstep.TOTAL_LIMIT // size])
        self.counts = [rng.choice([rng.randint(0, max(1, widest)), 1, widest]) for _ in range(size - 1)]
        rest = rng.choice([1, rng.randint(1, widest), lockstep.TOTAL_LIMIT - sum(self.counts)])
        self.counts.append(max(1, min(rest, lockstep.TOTAL_LIMIT - sum(self.counts))))
        codable = [symbol for symbol, count in enumerate(self.counts) if count]
        weights = [self.counts[symbol] for symbol in codable]
        by_share = rng.random() < 0.5
        self.message = rng.choices(codable, weights if by_share else None, k=rng.randint(0, 50))
        self.steps = list(oracle.static(self.counts, self.message))

    def model(self) -> lockstep.Model:
        return Adaptive(*self.adaptive) if self.adaptive[0] else Static(self.counts)


def test_every_code_is_the_shortest_inside_its_exact_interval_and_decodes_to_its_message() -> None:
    for seed in range(MODELS):
        case = Case(seed)
        code = encode(case.message, case.model())
        inside = oracle.interval(case.steps)
        number = Fraction(int.from_bytes(code, "big"), 256 ** len(code))
        assert inside.low <= number < inside.low + inside.width, seed
        assert code == oracle.shortest(inside), seed
        assert decode(code, case.model(), len(case.message)) == case.message, seed


def test_no_code_is_longer_than_its_ideal_length_plus_the_stated_bound() -> None:
    for seed in range(MODELS // 3):
        case = Case(seed)
        code = encode(case.message, case.model())
        ideal, real = oracle.ideal(case.steps).width, oracle.interval(case.steps).width
        loss = Fraction(1)
        for _, _, total in case.steps:
            loss *= 1 - Fraction(total - 1, LEAST)
        assert ideal * loss <= real <= ideal, seed
        assert 256 ** len(code) * ideal >= 1, seed  # no prefix code could be shorter than the ideal
        assert 256 ** len(code) * ideal * loss < 2**9, seed


def test_the_invariants_hold_after_every_symbol() -> None:
    for seed in range(300):
        case = Case(seed)
        encoder = Encoder()
        for step in case.steps:
            encoder.encode([step])
            assert encoder._low >= 0 and LEAST <= encoder._width <= FULL
            assert encoder._low + encoder._width <= 2 * FULL
            assert encoder._held < TOP or encoder._low + encoder._width <= FULL
        decoder, model = Decoder(encoder.finish()), case.model()
        for symbol in case.message:
            assert decoder.decode(model, 1) == [symbol]
            assert 0 <= decoder._value < decoder._width and LEAST <= decoder._width <= FULL
            assert 2 * decoder._shifts <= decoder._length
        decoder.finish()


def test_a_code_is_whole_only_as_it_is_every_beginning_and_continuation_is_refused() -> None:
    for seed in range(400):
        case = Case(seed)
        code, count = encode(case.message, case.model()), len(case.message)
        for spoilt in [*(code[:end] for end in range(len(code))), code + b"\0", code + b"\xff", code + code]:
            if spoilt != code:
                with pytest.raises(BadData, match="lockstep code"):
                    decode(spoilt, case.model(), count)


@pytest.mark.parametrize("counts", [[1, 1], [1, 2, 3], [5, 0, 250], [1, 65535], [1 << 23, 1 << 23]])
def test_exactly_the_codes_of_messages_are_accepted(counts: list[int]) -> None:
    model = Static(counts)
    for length in range(3):
        symbols = [symbol for symbol, count in enumerate(counts) if count]
        messages = [list(message) for message in itertools.product(symbols, repeat=length)]
        codes = {encode(message, model): message for message in messages}
        assert len(codes) == len(messages)
        strings = [b"", *(bytes(s) for size in (1, 2) for s in itertools.product(range(256), repeat=size))]
        for string in strings:
            try:
                read = decode(string, model, length)
            except BadData:
                assert string not in codes
            else:
                assert codes[string] == read


def test_what_follows_a_code_does_not_change_its_symbols() -> None:
    for seed in range(200):
        case = Case(seed)
        code = encode(case.message, case.model())
        for junk in (b"", b"\xff" * 9, bytes(9)):
            assert Decoder(code + junk).decode(case.model(), len(case.message)) == case.message


def test_a_flipped_bit_may_give_another_message_so_containers_need_checksums() -> None:
    assert decode(b"\x80", Static([1, 1]), 1) == [1]
    assert decode(b"\x00", Static([1, 1]), 1) == [0]


@given(st.binary(max_size=400), st.integers(1, 64), st.integers(0, 2000))
@settings(max_examples=150, deadline=None, derandomize=True)
def test_any_bytes_come_back(data: bytes, increment: int, room: int) -> None:
    limits = 256, increment, 256 + increment + room
    assert bytes(decode(encode(data, Adaptive(*limits)), Adaptive(*limits), len(data))) == data


@given(st.binary(max_size=40), st.lists(st.integers(0, 9), min_size=1, max_size=6), st.integers(0, 30))
@settings(max_examples=300, deadline=None, derandomize=True)
def test_any_bytes_are_refused_or_are_the_code_of_what_they_decode_to(
    data: bytes, counts: list[int], length: int
) -> None:
    try:
        message = decode(data, Static(counts), length)
    except BadData:
        return
    assert encode(message, Static(counts)) == data


def test_an_adaptive_model_goes_on_where_it_stopped() -> None:
    message = [0, 1, 2, 2, 2, 1, 0, 2] * 9
    writer, reader = Adaptive(3, 8, 64), Adaptive(3, 8, 64)
    for part in (message[:30], message[30:]):
        assert decode(encode(part, writer), reader, len(part)) == part
    assert writer.total == reader.total <= 64


def test_rescaling_is_the_stated_rule() -> None:
    model = Adaptive(3, 4, 8)
    list(model.steps([1, 1]))  # 1 5 1, then 1 9 1 passes 8
    assert model._counts == [1, 5, 1] and model.total == 7


def test_long_messages_cost_at_most_one_part_in_ten_thousand() -> None:
    rng = random.Random(5)
    for counts in ([5, 3, 2, 1, 1, 4], [1] * 256, [900, 60, 40], [1 << 22, 3 << 22]):
        message = rng.choices(range(len(counts)), counts, k=200_000)
        ideal = sum(log2(sum(counts) / counts[symbol]) for symbol in message)
        assert 8 * len(encode(message, Static(counts))) <= ideal * 1.0001


@pytest.mark.parametrize("step", [(-1, 2, 4), (0, 0, 4), (3, 2, 4), (0, 1, (1 << 24) + 1), (2, -1, 4)])
def test_steps_from_elsewhere_are_checked(step: tuple[int, int, int]) -> None:
    with pytest.raises(BadData, match="no share of a total"):
        Encoder().encode(checked([(0, 1, 2), step]))


def test_good_steps_from_elsewhere_pass() -> None:
    steps = [(0, 1, 2), (1, 1, 1 << 24), ((1 << 24) - 1, 1, 1 << 24)]
    assert list(checked(steps)) == steps


def test_an_encoder_refused_half_way_still_has_the_code_of_what_came_before() -> None:
    encoder = Encoder()
    with pytest.raises(BadData, match="symbol 7: has no share in the static model"):
        encoder.encode(Static([1, 2, 3]).steps([0, 2, 1, 7, 0]))
    assert encoder.finish() == encoder.finish() == encode([0, 2, 1], Static([1, 2, 3]))


def test_counts_that_are_no_integers_are_refused() -> None:
    with pytest.raises(BadData, match="no integer from 0 up"):
        Static([1, 1.5])  # type: ignore[list-item]


def test_an_end_symbol_stops_the_message_and_what_follows_is_refused() -> None:
    code = encode([0, 2, 1], Static([3, 1, 4]))
    assert decode(code, Static([3, 1, 4]), 1000, end=1) == [0, 2, 1]
    with pytest.raises(BadData, match="goes on after"):
        decode(encode([0, 1, 2, 2, 2, 2, 2, 2, 2, 2], Static([3, 1, 4])), Static([3, 1, 4]), 1000, end=1)


def test_it_works_alone_with_its_error_in_an_empty_folder(tmp_path: Path) -> None:
    for name in ("engine/coding/lockstep.py", "engine/contract/errors.py"):
        (tmp_path / name).parent.mkdir(parents=True)
        shutil.copy(SOURCE.parents[2] / name, tmp_path / name)
    program = (
        "from engine.coding.lockstep import Static, decode, encode\n"
        "code = encode([0, 1, 2, 2], Static([1, 2, 5]))\n"
        "print(decode(code, Static([1, 2, 5]), 4))"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True)
    assert done.stdout == "[0, 1, 2, 2]\n", done.stderr
