"""Byte profiles: the symbols are the bytes themselves, under a static or an adaptive model."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Sequence

from engine.coding import varint
from engine.coding.container import Coded, Header, Source
from engine.coding.lockstep import TABLE_LIMIT, Adaptive, Model, Static, decode, encode
from engine.contract.errors import BadData

SYMBOLS = 256
INCREMENT = 24
LIMIT = 1 << 13
"""Of the adaptive profile: halved every few hundred bytes, so that it follows the text."""
TOKENIZER = hashlib.sha256(b"bytes\n").digest()
"""Every byte a symbol, every symbol a byte."""
_ADAPTIVE = struct.Struct(">II")
_BLOCK = 1 << 20


class _Bytes:
    """What both profiles do; an adaptive model goes on from chunk to chunk."""

    def __init__(self, name: str, parameters: bytes, model: Model) -> None:
        digest = hashlib.sha256(b"lockstep bytes 1 " + name.encode("ascii") + b"\n" + parameters)
        self.header = Header(name, digest.digest(), TOKENIZER, parameters)
        self._model = model

    def encode(self, chunk: bytes) -> Coded:
        """The code of the next chunk, one symbol a byte."""
        return Coded(len(chunk), encode(chunk, self._model))

    def decode(self, coded: Coded) -> bytes:
        """The bytes of the next chunk; `BadData` where the code is nobody's."""
        return bytes(decode(coded.code, self._model, coded.symbols))


class StaticBytes(_Bytes):
    """Counts of the bytes, carried in the header.

    Args:
        counts: 256 of them, at least one positive unless nothing is to be coded.
    """

    def __init__(self, counts: Sequence[int]) -> None:
        if len(counts) != SYMBOLS:
            raise BadData("static profile", f"has {len(counts)} counts.", f"Give {SYMBOLS}, one a byte.")
        super().__init__("static", _listed(counts), Static(counts))

    @classmethod
    def of(cls, source: Source) -> StaticBytes:
        """The profile of what `source` holds, read once in blocks, scaled to a total of at most 65,536."""
        counts = [0] * SYMBOLS
        while block := source.read(_BLOCK):
            for byte in range(SYMBOLS):
                counts[byte] += block.count(byte)
        return cls(scaled(counts))


class AdaptiveBytes(_Bytes):
    """Counts that follow the bytes; nothing to carry but two numbers."""

    def __init__(self, increment: int = INCREMENT, limit: int = LIMIT) -> None:
        model = Adaptive(SYMBOLS, increment, limit)
        super().__init__("adaptive", _ADAPTIVE.pack(increment, limit), model)


def scaled(counts: Sequence[int]) -> list[int]:
    """Counts in proportion, rounded down, at least one where there was one; all ones for no bytes at all."""
    total = sum(counts)
    if not total:
        return [1] * len(counts)
    if total <= TABLE_LIMIT:
        return list(counts)
    room = TABLE_LIMIT - len(counts)
    return [max(1, count * room // total) if count else 0 for count in counts]


def profile_of(header: Header) -> _Bytes:
    """The profile that a container's header asks for; `BadData` where it is none of these."""
    if header.name == "static":
        return StaticBytes(_unlisted(header.parameters))
    if header.name == "adaptive" and len(header.parameters) == _ADAPTIVE.size:
        return AdaptiveBytes(*_ADAPTIVE.unpack(header.parameters))
    raise BadData(
        "container",
        f"was packed with the profile {header.name!r}, which bytes alone do not unpack.",
        "Known here: static, adaptive.",
    )


def _listed(counts: Sequence[int]) -> bytes:
    """For each byte that has a count: how many bytes without one came before it, and the count."""
    out, gap = bytearray(), 0
    for count in counts:
        if count:
            out += varint.written(gap) + varint.written(count)
        gap = 0 if count else gap + 1
    return bytes(out)


def _unlisted(data: bytes) -> list[int]:
    counts: list[int] = []
    at = 0
    while at < len(data) and len(counts) <= SYMBOLS:
        gap, at = varint.read(data, at)
        count, at = varint.read(data, at)
        counts += [0] * min(gap, SYMBOLS) + [count]
    return counts + [0] * (SYMBOLS - len(counts))
