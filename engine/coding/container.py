"""A container for coded bytes: everything is checked before a byte of it is given out.

Layout, integers big-endian, CRC-32 as in zlib, each CRC taken over its record and all records before it
(CRCs left out), so that no record can be changed, dropped, swapped or come from another container unseen:

    header    magic (8), version (2), body length (4), body, CRC (4)
      body    chunk size (4), name length (1), name, model sha256 (32), tokenizer sha256 (32), parameters
    chunk     symbols (4, not 0), bytes (4), CRC of the bytes (4), code length (4), code, CRC (4)
    …
    trailer   zero (4), chunks (8), symbols (8), bytes (8), sha256 of all bytes (32), CRC (4)

Nothing follows the trailer. Both directions hold one chunk at a time. Standard library only.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, Protocol
from zlib import crc32

from engine.contract.errors import BadData

MAGIC = b"\x89LKS\r\n\x1a\n"
"""As PNG's: broken by transfers that drop the eighth bit or rewrite line ends."""
VERSION = 1
CHUNK = 1 << 18
"""Bytes coded at a time; the 20 bytes around a code are then less than one part in ten thousand."""
CHUNK_LIMIT = 1 << 20
BODY_LIMIT = 1 << 20
"""Larger sizes are refused before memory is taken for them."""

_START = struct.Struct(">8sHI")
_BODY = struct.Struct(">IB")
_CHUNK = struct.Struct(">IIII")
_TRAILER = struct.Struct(">QQQ32s")
_WORD = struct.Struct(">I")


class Coded(NamedTuple):
    """The code of one chunk and how many symbols it has."""

    symbols: int
    code: bytes


@dataclass(frozen=True)
class Header:
    """What a container says before its chunks."""

    name: str
    """Which profile coded it."""
    model: bytes
    """sha256 of the model, 32 bytes."""
    tokenizer: bytes
    """sha256 of what turns bytes into symbols, 32 bytes."""
    parameters: bytes
    """What the profile needs besides, in its own form."""
    chunk: int = CHUNK
    """The most bytes a chunk may hold."""


@dataclass(frozen=True)
class Counts:
    """What a container holds."""

    chunks: int = 0
    symbols: int = 0
    size: int = 0
    """Bytes before packing."""

    def with_chunk(self, symbols: int, size: int) -> Counts:
        """The counts after one more chunk."""
        return Counts(self.chunks + 1, self.symbols + symbols, self.size + size)


class Source(Protocol):
    """Where bytes come from."""

    def read(self, size: int, /) -> bytes:
        """At most `size` bytes, none only at the end."""


class Sink(Protocol):
    """Where bytes go."""

    def write(self, data: bytes, /) -> object:
        """Take all of them."""


class Profile(Protocol):
    """A model with its tokenizer; chunks are coded, and decoded, in order."""

    @property
    def header(self) -> Header:
        """How the profile is named and told from others."""

    def encode(self, chunk: bytes) -> Coded:
        """The code of the next chunk."""

    def decode(self, coded: Coded) -> bytes:
        """The bytes of the next chunk; `BadData` where there are none."""


def pack(source: Source, sink: Sink, profile: Profile) -> Counts:
    """Write the container of all that `source` holds."""
    writer, counts, digest = _Writer(sink), Counts(), hashlib.sha256()
    writer.record(_header(profile.header))
    while chunk := _read(source, profile.header.chunk):
        coded = profile.encode(chunk)
        fields = _CHUNK.pack(coded.symbols, len(chunk), crc32(chunk), len(coded.code))
        writer.record(fields + coded.code)
        counts = counts.with_chunk(coded.symbols, len(chunk))
        digest.update(chunk)
    trailer = _TRAILER.pack(counts.chunks, counts.symbols, counts.size, digest.digest())
    writer.record(_WORD.pack(0) + trailer)
    return counts


def unpack(source: Source, sink: Sink, profile_of: Callable[[Header], Profile]) -> Counts:
    """Write what was packed; `BadData` before any byte that was not.

    Right bytes of earlier chunks may be written by then: write to a file that takes its name at the end.
    """
    reader, counts, digest = _Reader(source), Counts(), hashlib.sha256()
    header = reader.header()
    profile = profile_of(header)
    same("model", header.model, profile.header.model)
    same("tokenizer", header.tokenizer, profile.header.tokenizer)
    while found := reader.chunk(header.chunk):
        coded, size, check = found
        chunk = profile.decode(coded)
        if len(chunk) != size or crc32(chunk) != check:
            raise _refusal(f"has a chunk, number {counts.chunks + 1}, that decodes to something else")
        counts = counts.with_chunk(coded.symbols, size)
        digest.update(chunk)
        sink.write(chunk)
    if reader.trailer() != (counts, digest.digest()):
        raise _refusal("has a trailer that counts or digests something else")
    return counts


def read_header(source: Source) -> Header:
    """The header alone, checked."""
    return _Reader(source).header()


def _header(header: Header) -> bytes:
    name = header.name.encode("ascii")
    body = _BODY.pack(header.chunk, len(name)) + name + header.model + header.tokenizer + header.parameters
    return _START.pack(MAGIC, VERSION, len(body)) + body


class _Writer:
    """Records, each followed by the CRC of all records so far."""

    def __init__(self, sink: Sink) -> None:
        self._sink, self._crc = sink, 0

    def record(self, data: bytes) -> None:
        self._crc = crc32(data, self._crc)
        self._sink.write(data + _WORD.pack(self._crc))


class _Reader:
    """Records in the same order, each checked as a whole before it is believed."""

    def __init__(self, source: Source) -> None:
        self._source, self._crc = source, 0

    def header(self) -> Header:
        start = self._take(_START.size)
        magic, version, length = _START.unpack(start)
        if magic != MAGIC:
            raise _refusal("does not begin as a Lockstep container", "Give a file that was packed here.")
        if version != VERSION:
            raise _refusal(f"has version {version}, and {VERSION} is known", "Use the release that made it.")
        self._within(length, BODY_LIMIT, "header")
        body = self._take(length)
        self._check("header")
        return _body(body)

    def chunk(self, most: int) -> tuple[Coded, int, int] | None:
        """The next chunk's code, its size and the CRC of its bytes; None at the trailer."""
        first = self._take(_WORD.size)
        if first == bytes(_WORD.size):
            return None
        symbols, size, check, length = _CHUNK.unpack(first + self._take(_CHUNK.size - _WORD.size))
        self._within(size, most, "chunk")
        self._within(symbols, 2 * size, "chunk")
        self._within(length, 8 * symbols + 8, "chunk")
        code = self._take(length)
        self._check("chunk")
        return Coded(symbols, code), size, check

    def trailer(self) -> tuple[Counts, bytes]:
        chunks, symbols, size, digest = _TRAILER.unpack(self._take(_TRAILER.size))
        self._check("trailer")
        if self._source.read(1):
            raise _refusal("goes on after its trailer")
        return Counts(chunks, symbols, size), digest

    def _take(self, size: int) -> bytes:
        data = self._whole(size)
        self._crc = crc32(data, self._crc)
        return data

    def _whole(self, size: int) -> bytes:
        data = _read(self._source, size)
        if len(data) < size:
            raise _refusal("stops before its end")
        return data

    def _check(self, record: str) -> None:
        if self._whole(_WORD.size) != _WORD.pack(self._crc):
            raise _refusal(f"has a {record} that is damaged")

    def _within(self, size: int, most: int, record: str) -> None:
        if size > most:
            raise _refusal(f"has a {record} that is damaged: {size} is more than {most}")


def _body(body: bytes) -> Header:
    chunk, length = _BODY.unpack(body[: _BODY.size].ljust(_BODY.size, b"\0"))
    rest = body[_BODY.size :]
    name, digests, parameters = rest[:length], rest[length : length + 64], rest[length + 64 :]
    if len(digests) < 64 or not 1 <= chunk <= CHUNK_LIMIT or not name.isascii():
        raise _refusal("has a header that says nothing")
    return Header(name.decode("ascii"), digests[:32], digests[32:], parameters, chunk)


def _read(source: Source, size: int) -> bytes:
    """Up to `size` bytes, fewer only at the end, also from sources that give a little at a time."""
    parts = []
    while size and (part := source.read(size)):
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def same(what: str, packed: bytes, here: bytes) -> None:
    """Refuse with `BadData` a container that was packed with another digest of `what`."""
    if packed != here:
        raise _refusal(
            f"was packed with the {what} {packed.hex()[:16]}…, and here is {here.hex()[:16]}…",
            f"Unpack it with the {what} that packed it.",
        )


def _refusal(problem: str, remedy: str = "Get an undamaged copy; nothing wrong was given out.") -> BadData:
    return BadData("container", f"{problem}.", remedy)
