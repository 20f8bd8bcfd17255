"""Containers come back as they were, or are refused before a wrong byte is given out."""

from __future__ import annotations

import io
import random
import struct
import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from zlib import crc32

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.coding import container
from engine.coding.container import Coded, Counts, Header, Profile, read_header, unpack
from engine.coding.profiles import SYMBOLS, AdaptiveBytes, StaticBytes, profile_of, scaled
from engine.contract.errors import BadData

TEXT = b"A draft guesses, a target judges; what is right is kept. " * 3
GOLDEN = {
    "static": (
        "894c4b530d0a1a0a000100000055000000400673746174696366a2304ced804032da9079953cec9c69a2c707"
        "88b3796fe3268cabe85ca2efb695cc8e8ec552664096b998c62dfd5dfd0a41c96154de6814d918d1ca34bfc2"
        "2561050002000100010d02677deaf70000000b0000000b17eaf9b700000003475eb2976b3762000000000000"
        "000000000001000000000000000b000000000000000b045babdcd2118960e8c8b8e0ecf65b734686e1b18f58"
        "710c9646779f49e942ae6f1d5a00"
    ),
    "adaptive": (
        "894c4b530d0a1a0a00010000005500000040086164617074697665feed31e9c9343a4fa34aeea7773ffe9eb9"
        "7fca0812c1f14b9a3a0fdb0da87acf95cc8e8ec552664096b998c62dfd5dfd0a41c96154de6814d918d1ca34"
        "bfc22500000018000020001821b4350000000b0000000b17eaf9b700000008617007f49bcd0a052776d38c00"
        "0000000000000000000001000000000000000b000000000000000b045babdcd2118960e8c8b8e0ecf65b7346"
        "86e1b18f58710c9646779f49e942ae437c2eb7"
    ),
}


def profile(name: str, data: bytes, chunk: int) -> Profile:
    made = StaticBytes.of(io.BytesIO(data)) if name == "static" else AdaptiveBytes()
    made.header = replace(made.header, chunk=chunk)
    return made


def packed(data: bytes, name: str = "adaptive", chunk: int = 64) -> bytes:
    sink = io.BytesIO()
    container.pack(io.BytesIO(data), sink, profile(name, data, chunk))
    return sink.getvalue()


def unpacked(data: bytes) -> bytes:
    sink = io.BytesIO()
    unpack(io.BytesIO(data), sink, profile_of)
    return sink.getvalue()


def given_out(data: bytes, match: str | None = None) -> bytes:
    """What a container that must be refused gives out before it is."""
    sink = io.BytesIO()
    with pytest.raises(BadData, match=match):
        unpack(io.BytesIO(data), sink, profile_of)
    return sink.getvalue()


MODELS = pytest.mark.parametrize("name", ["static", "adaptive"])


@MODELS
@given(data=st.binary(max_size=300), chunk=st.sampled_from([1, 7, 64, 1 << 18]))
@settings(max_examples=60, deadline=None, derandomize=True)
def test_any_bytes_come_back(name: str, data: bytes, chunk: int) -> None:
    assert unpacked(packed(data, name, chunk)) == data


@MODELS
def test_every_flipped_bit_is_refused_before_a_wrong_byte(name: str) -> None:
    whole = packed(TEXT, name)
    for bit in range(8 * len(whole)):
        spoilt = bytearray(whole)
        spoilt[bit // 8] ^= 1 << bit % 8
        assert TEXT.startswith(given_out(bytes(spoilt))), bit


@MODELS
def test_every_truncation_is_refused_before_a_wrong_byte(name: str) -> None:
    whole = packed(TEXT, name)
    for end in range(len(whole)):
        assert TEXT.startswith(given_out(whole[:end], "stops before its end")), end


def test_every_dropped_doubled_or_inserted_byte_is_refused_before_a_wrong_byte() -> None:
    whole = packed(TEXT)
    for at in range(len(whole)):
        for spoilt in (
            whole[:at] + whole[at + 1 :],
            whole[: at + 1] + whole[at:],
            whole[:at] + b"\0" + whole[at:],
        ):
            if spoilt != whole:
                assert TEXT.startswith(given_out(spoilt)), at


def records(whole: bytes) -> list[bytes]:
    """Header, chunks and trailer, cut by their lengths."""
    start = 14 + struct.unpack_from(">I", whole, 10)[0] + 4
    found = [whole[:start]]
    while struct.unpack_from(">I", whole, start)[0]:
        end = start + 16 + struct.unpack_from(">I", whole, start + 12)[0] + 4
        found.append(whole[start:end])
        start = end
    return [*found, whole[start:]]


def test_chunks_cannot_be_swapped_dropped_or_doubled() -> None:
    head, one, two, three, tail = records(packed(bytes(192), chunk=64))
    assert one[16:-4] != two[16:-4]
    for order in ((two, one, three), (one, three), (one, one, two, three), (one, two), ()):
        assert bytes(192).startswith(given_out(head + b"".join(order) + tail))


def test_a_chunk_of_another_container_is_refused() -> None:
    head, one, *rest = records(packed(b"x" * 100, "static"))
    other = records(packed(b"x" * 101, "static"))[1]
    assert one[:-4] == other[:-4]
    assert given_out(head + other + b"".join(rest), "damaged") == b""


def test_nothing_may_follow_the_trailer() -> None:
    assert given_out(packed(TEXT) + b"\0", "goes on after its trailer") == TEXT


def test_a_trailer_that_counts_something_else_is_refused_though_its_crc_is_right() -> None:
    *head, tail = records(packed(TEXT))
    kept = b"".join(record[:-4] for record in head)
    for field in (4, 12, 20, 40):
        spoilt = bytearray(tail[:-4])
        spoilt[field + 7] ^= 1
        crc = struct.pack(">I", crc32(kept + bytes(spoilt)))
        assert given_out(b"".join(head) + bytes(spoilt) + crc, "counts or digests") == TEXT


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"", "stops before its end"),
        (b"hello, this is no container", "does not begin as a Lockstep container"),
        (packed(TEXT).replace(b"\r\n", b"\n"), "does not begin as a Lockstep container"),
        (container.MAGIC + b"\x00\x02" + bytes(40), "has version 2, and 1 is known"),
        (container.MAGIC + b"\x00\x01" + b"\xff" * 40, "header that is damaged: 4294967295 is more than"),
    ],
)
def test_what_is_no_container_is_named(data: bytes, problem: str) -> None:
    assert given_out(data, problem) == b""


def test_a_profile_that_is_not_here_is_named() -> None:
    data = packed(TEXT)
    spoilt = bytearray(data[: records(data)[0].__len__() - 4].replace(b"adaptive", b"smollm99"))
    whole = bytes(spoilt) + struct.pack(">I", crc32(bytes(spoilt)))
    assert given_out(whole, "profile 'smollm99'") == b""


@pytest.mark.parametrize("body", [b"", b"\0", bytes(4) + b"\xff" + bytes(90), bytes(80)])
def test_a_header_that_says_nothing_is_refused_though_its_crc_is_right(body: bytes) -> None:
    start = container.MAGIC + struct.pack(">HI", container.VERSION, len(body)) + body
    assert given_out(start + struct.pack(">I", crc32(start)), "header that says nothing") == b""


@pytest.mark.parametrize("field", ["model", "tokenizer"])
def test_another_model_or_tokenizer_is_refused_before_any_byte(field: str) -> None:
    def other(header: Header) -> Profile:
        made = AdaptiveBytes()
        made.header = replace(made.header, **{field: b"\x11" * 32})  # type: ignore[arg-type]
        return made

    sink = io.BytesIO()
    with pytest.raises(BadData, match=f"was packed with the {field} "):
        unpack(io.BytesIO(packed(TEXT)), sink, other)
    assert sink.getvalue() == b""


class Drifting(AdaptiveBytes):
    """The same digest, and another result: a model that does not reproduce."""

    def decode(self, coded: Coded) -> bytes:
        return super().decode(coded)[:-1] + b"?"


def test_a_model_that_decodes_otherwise_is_refused_before_any_byte() -> None:
    sink = io.BytesIO()
    with pytest.raises(BadData, match="number 1, that decodes to something else"):
        unpack(io.BytesIO(packed(TEXT)), sink, lambda header: Drifting())
    assert sink.getvalue() == b""


def test_the_header_says_what_is_needed() -> None:
    header = read_header(io.BytesIO(packed(TEXT, "static")))
    made = StaticBytes.of(io.BytesIO(TEXT)).header
    assert (header.name, header.model, header.tokenizer) == ("static", made.model, made.tokenizer)
    assert header.chunk == 64 and len(header.model) == len(header.tokenizer) == 32


def test_counts_are_returned_both_ways() -> None:
    sink = io.BytesIO()
    counts = container.pack(io.BytesIO(TEXT), sink, profile("adaptive", TEXT, 64))
    assert counts == Counts(chunks=3, symbols=len(TEXT), size=len(TEXT))
    assert unpack(io.BytesIO(sink.getvalue()), io.BytesIO(), profile_of) == counts


class Slow(io.BytesIO):
    """A source that gives one byte at a time, as a pipe may."""

    def read(self, size: int | None = -1, /) -> bytes:
        return super().read(min(size or 0, 1))


def test_sources_that_give_little_at_a_time_make_the_same_container() -> None:
    sink = io.BytesIO()
    container.pack(Slow(TEXT), sink, profile("adaptive", TEXT, 64))
    assert sink.getvalue() == packed(TEXT)
    again = io.BytesIO()
    unpack(Slow(sink.getvalue()), again, profile_of)
    assert again.getvalue() == TEXT


class Endless:
    """Bytes without a file."""

    def __init__(self, size: int) -> None:
        self._left, self._rng = size, random.Random(3)

    def read(self, size: int, /) -> bytes:
        size = min(size, self._left)
        self._left -= size
        return self._rng.randbytes(size)


class Kept:
    """A sink that keeps nothing in Python's memory that grows with each write, only a list of pieces."""

    def __init__(self) -> None:
        self.size = 0

    def write(self, data: bytes, /) -> None:
        self.size += len(data)


def peak(work: Callable[[], object]) -> int:
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_memory_does_not_grow_with_the_file_either_way(tmp_path: Path) -> None:
    packing, unpacking = [], []
    for chunks in (1, 3, 12):
        file = tmp_path / str(chunks)
        source = Endless(2048 * chunks)
        with file.open("wb") as sink:
            made = profile("adaptive", b"", 2048)
            packing.append(peak(lambda: container.pack(source, sink, made)))  # noqa: B023
        with file.open("rb") as packed_file:
            unpacking.append(peak(lambda: unpack(packed_file, Kept(), profile_of)))
    assert packing[2] < 1.1 * packing[1] and unpacking[2] < 1.1 * unpacking[1]


def test_scaled_counts_keep_every_byte_that_occurs_and_fit_the_table() -> None:
    counts = [0] * SYMBOLS
    counts[0], counts[7] = 10**12, 1
    small = scaled(counts)
    assert small[7] == 1 and small[1] == 0 and sum(small) <= 1 << 16
    assert scaled([3] * SYMBOLS) == [3] * SYMBOLS
    assert scaled([0] * SYMBOLS) == [1] * SYMBOLS
    assert sum(scaled([10**9] + [1] * (SYMBOLS - 1))) <= 1 << 16


def test_a_static_profile_needs_a_count_for_every_byte() -> None:
    with pytest.raises(BadData, match="has 3 counts"):
        StaticBytes([1, 2, 3])


@MODELS
def test_the_bytes_of_a_container_stay_what_they_are(name: str) -> None:
    assert packed(b"abracadabra", name).hex() == GOLDEN[name]
