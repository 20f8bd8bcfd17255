"""Bytes cut into chunks that a tokenizer gives back exactly, or that stay bytes.

A tokenizer turns text into tokens and back, but not every string of bytes is text, and not every text
comes back as it was. So bytes are cut where characters end, each piece is tokenized and detokenized, and one
that does not come back the same is kept as bytes: the rest of the file is not touched by it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

WIDEST = 4
"""Bytes of the longest character in UTF-8."""


class Tokenizer(Protocol):
    """Text to token ids and back, without special tokens added."""

    @property
    def sha256(self) -> bytes:
        """Digest of what defines it, 32 bytes."""

    def tokens(self, text: str) -> list[int]:
        """Token ids of a text."""

    def text(self, tokens: list[int]) -> str:
        """The text of token ids."""


@dataclass(frozen=True)
class Chunk:
    """A piece of a file: its bytes, and tokens that detokenize to exactly these, or None."""

    data: bytes
    tokens: tuple[int, ...] | None

    @property
    def as_bytes(self) -> Chunk:
        """The same piece without tokens."""
        return Chunk(self.data, None)


def chunks(data: bytes, tokenizer: Tokenizer, size: int) -> Iterator[Chunk]:
    """`data` in order, cut into pieces of at most `size` bytes, each tokenized where that is exact."""
    for piece in pieces(data, size):
        yield Chunk(piece, tokenized(piece, tokenizer))


def tokenized(piece: bytes, tokenizer: Tokenizer) -> tuple[int, ...] | None:
    """Tokens that give the piece back byte for byte, or None where there are none."""
    try:
        tokens = tokenizer.tokens(piece.decode("utf-8"))
        same = untokenized(tokens, tokenizer) == piece
    except UnicodeError:
        return None
    return tuple(tokens) if same and tokens else None


def untokenized(tokens: list[int], tokenizer: Tokenizer) -> bytes:
    """The bytes of tokens."""
    return tokenizer.text(tokens).encode("utf-8")


def pieces(data: bytes, size: int) -> Iterator[bytes]:
    """`data` cut into at most `size` bytes each (four or more), never inside a character of UTF-8.

    What is left of a character that was cut before, at either end, is a piece of its own.
    """
    start = _severed(data)
    whole = _whole(data)
    if start:
        yield data[:start]
    while start < whole:
        end = start + size
        end = _beginning(data, end) if end < whole else whole
        yield data[start:end]
        start = end
    if start < len(data):
        yield data[start:]


def _continues(byte: int) -> bool:
    return byte & 0xC0 == 0x80


def _beginning(data: bytes, at: int) -> int:
    """Where the character begins that holds byte `at`; `at` itself where none does."""
    places = range(at, max(at - WIDEST, -1), -1)
    return next((place for place in places if not _continues(data[place])), at)


def _severed(data: bytes) -> int:
    """How many bytes at the start continue a character that is not there."""
    first = next((at for at, byte in enumerate(data[:WIDEST]) if not _continues(byte)), 0)
    return first if first < len(data) else 0


def _whole(data: bytes) -> int:
    """Where the last character ends that is all there."""
    if not data:
        return 0
    last = _beginning(data, len(data) - 1)
    lead = data[last]
    width = 1 + (lead >= 0xC0) + (lead >= 0xE0) + (lead >= 0xF0)
    return last if last + width > len(data) else len(data)
