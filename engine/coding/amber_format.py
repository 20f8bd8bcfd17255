"""The bytes of an Amber archive: a header, chunks, and a digest of all before it.

Layout, integers big-endian:

    header    magic (8), version (2), body length (4), body
      body    coder (1), margins (1), rows (2), guard (2), chunks (4), bytes (8), sha256 of the bytes (32),
              model sha256 (32), tokenizer sha256 (32), canary (32), environment in UTF-8
    chunk     kind (1), bytes (4), CRC of the bytes (4), tokens (4), code length (4), margins length (4),
              code, margins
    trailer   sha256 of all before it (32)

Nothing follows the trailer. The digest is checked before anything is believed, so an archive is small enough
to be held whole. Standard library only.
"""

from __future__ import annotations

import hashlib
import struct
from dataclasses import dataclass
from typing import Literal

from engine.contract.errors import BadData

Coder = Literal["ranks", "lockstep"]
CODERS: tuple[Coder, ...] = ("ranks", "lockstep")
MAGIC = b"\x89AMB\r\n\x1a\n"
VERSION = 1
_START = struct.Struct(">8sHI")
_BODY = struct.Struct(">BBHHIQ32s32s32s32s")
_CHUNK = struct.Struct(">BIIIII")
_DIGEST = 32


@dataclass(frozen=True)
class Header:
    """What an archive says before its chunks."""

    coder: Coder
    """Whether tokens are told by rank, or by the model's probabilities."""
    margins: bool
    """Whether the class of each rank's margin is kept."""
    rows: int
    """Chunks that were packed side by side, and are unpacked so."""
    guard: int
    """Margins up to this, in 4096ths of a logit, are not trusted: the token itself is told."""
    size: int
    """Bytes that were packed."""
    content: bytes
    """Their sha256."""
    model: bytes
    """sha256 of the model's weights."""
    tokenizer: bytes
    """sha256 of the tokenizer."""
    canary: bytes
    """What the model said to a fixed text where this was packed."""
    environment: str
    """Versions, threads and processor there, in words."""


@dataclass(frozen=True)
class Record:
    """One chunk: bytes kept as bytes where it has no tokens, else corrections to the model's guesses."""

    size: int
    check: int
    tokens: int
    code: bytes
    margins: bytes = b""


@dataclass(frozen=True)
class Archive:
    """Header and chunks."""

    header: Header
    records: tuple[Record, ...]


def dump(archive: Archive) -> bytes:
    """The bytes of an archive."""
    head = archive.header
    body = _BODY.pack(
        CODERS.index(head.coder),
        head.margins,
        head.rows,
        head.guard,
        len(archive.records),
        head.size,
        head.content,
        head.model,
        head.tokenizer,
        head.canary,
    ) + head.environment.encode("utf-8")
    data = _START.pack(MAGIC, VERSION, len(body)) + body
    data += b"".join(_record(record) for record in archive.records)
    return data + hashlib.sha256(data).digest()


def _record(record: Record) -> bytes:
    fields = (record.size, record.check, record.tokens, len(record.code), len(record.margins))
    return _CHUNK.pack(record.tokens > 0, *fields) + record.code + record.margins


def parse(data: bytes) -> Archive:
    """The archive whose bytes these are, all of it checked; `BadData` otherwise."""
    if data[: len(MAGIC)] != MAGIC:
        raise _refusal("does not begin as an Amber archive.", "Give a file that was packed here.")
    if len(data) < _START.size + _DIGEST:
        raise _refusal("stops before its end.")
    version = _START.unpack_from(data)[1]
    if version != VERSION:
        raise _refusal(f"has version {version}, and {VERSION} is known.", "Use the release that made it.")
    if hashlib.sha256(data[:-_DIGEST]).digest() != data[-_DIGEST:]:
        raise _refusal("is damaged, or not all of it is here.")
    try:
        return _parsed(data[:-_DIGEST])
    except (struct.error, IndexError, UnicodeDecodeError):
        raise _refusal("is whole, and says what no archive says.") from None


def _parsed(data: bytes) -> Archive:
    length = _START.unpack_from(data)[2]
    body, at = data[_START.size : _START.size + length], _START.size + length
    coder, margins, rows, guard, chunks, size, content, model, tokenizer, canary = _BODY.unpack_from(body)
    records = []
    for _ in range(chunks):
        record, at = _next(data, at)
        records.append(record)
    header = Header(
        coder=CODERS[coder],
        margins=bool(margins),
        rows=rows,
        guard=guard,
        size=size,
        content=content,
        model=model,
        tokenizer=tokenizer,
        canary=canary,
        environment=body[_BODY.size :].decode("utf-8"),
    )
    if at != len(data) or sum(record.size for record in records) != header.size or rows < 1:
        raise IndexError
    return Archive(header, tuple(records))


def _next(data: bytes, at: int) -> tuple[Record, int]:
    kind, size, check, tokens, code, margins = _CHUNK.unpack_from(data, at)
    at += _CHUNK.size
    middle, end = at + code, at + code + margins
    if kind != (tokens > 0) or tokens > size or end > len(data):
        raise IndexError
    return Record(size, check, tokens, data[at:middle], data[middle:end]), end


def _refusal(problem: str, remedy: str = "Get an undamaged copy; nothing was given out.") -> BadData:
    return BadData("archive", problem, remedy)
