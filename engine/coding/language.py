"""The profile of a language model: the symbols are tokens, and the model tells the shares of each.

A container's chunk is cut into pieces, which run through the model side by side. Every piece begins a row
of its own: it knows nothing of the others, so all are coded, and decoded, at the same time. Pieces that the
tokenizer does not give back are bytes under the adaptive model, which goes on from one to the next.

Code of a chunk, for each piece: twice its symbols, plus one if they are bytes; the length of its code; its
code. Numbers are varints. Parameters of the header: rows (2 bytes), piece size (2), threads (2), canary (32),
and the environment in words.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import torch

from engine.coding import varint
from engine.coding.canary import Environment, canary
from engine.coding.chunks import Tokenizer, chunks, untokenized
from engine.coding.container import Coded, Header, same
from engine.coding.frequencies import Shares, frequencies
from engine.coding.llama_predictor import fetched
from engine.coding.lockstep import Adaptive, Decoder, Encoder, decode, encode
from engine.coding.predictor import Predictor
from engine.coding.profiles import INCREMENT, LIMIT, SYMBOLS
from engine.contract.errors import BadData

ROWS = 32
"""Pieces side by side, where the file has as many."""
SIZE = 2048
"""Bytes of a piece: a few hundred tokens, so that most of them have much to look back on."""
CUT = 3
"""Bytes that a piece may be short of its size, so as to end where a character does."""
_PARAMETERS = struct.Struct(">HHH32s")
Tell = Callable[[int], None]


@dataclass(frozen=True)
class Shape:
    """How a file goes through the model; both directions must have the same."""

    rows: int = ROWS
    size: int = SIZE
    threads: int = 1

    @classmethod
    def of(cls, length: int, batch: int) -> Shape:
        """For a file of so many bytes: `batch` rows, or as many as it has pieces."""
        rows = max(1, min(batch, -(-length // (SIZE - CUT))))
        return cls(rows, SIZE, torch.get_num_threads())

    @property
    def chunk(self) -> int:
        """Bytes of a container's chunk: never more pieces than rows."""
        return self.rows * (self.size - CUT)


@dataclass(frozen=True)
class Piece:
    """Symbols of one piece, tokens or bytes, and their code."""

    symbols: int
    is_bytes: bool
    code: bytes


class LanguageModel:
    """A profile backed by a predictor and its tokenizer.

    `tell(n)` hears of n more bytes of the chunk at hand: of text when packing, of code when unpacking.
    """

    def __init__(
        self, name: str, predictor: Predictor, tokenizer: Tokenizer, shape: Shape, tell: Tell | None = None
    ) -> None:
        self._predictor, self._tokenizer, self._shape = predictor, tokenizer, shape
        self._tell = tell or (lambda size: None)
        self._bytes = Adaptive(SYMBOLS, INCREMENT, LIMIT)
        self.canary = canary(predictor, shape.rows)
        parameters = _PARAMETERS.pack(shape.rows, shape.size, shape.threads, self.canary)
        parameters += str(Environment.here()).encode()
        self.header = Header(name, predictor.sha256, tokenizer.sha256, parameters, shape.chunk)

    def encode(self, chunk: bytes) -> Coded:
        """The code of the next chunk."""
        found = [
            piece if piece.tokens is None or len(piece.tokens) <= self._shape.size else piece.as_bytes
            for piece in chunks(chunk, self._tokenizer, self._shape.size)
        ]
        codes = iter(self._encoded([piece.tokens for piece in found if piece.tokens], len(chunk)))
        coded = [
            Piece(len(piece.tokens), False, next(codes))
            if piece.tokens
            else Piece(len(piece.data), True, encode(piece.data, self._bytes))
            for piece in found
        ]
        return Coded(sum(piece.symbols for piece in coded), b"".join(map(_written, coded)))

    def decode(self, coded: Coded) -> bytes:
        """The bytes of the next chunk; `BadData` where the code is nobody's."""
        found = list(_pieces(coded.code))
        rows = [piece for piece in found if not piece.is_bytes]
        if sum(piece.symbols for piece in found) != coded.symbols or len(rows) > self._shape.rows:
            raise _refusal("counts its symbols otherwise")
        texts = iter(self._decoded(rows, len(coded.code)))
        return b"".join(
            bytes(decode(piece.code, self._bytes, piece.symbols))
            if piece.is_bytes
            else untokenized(next(texts), self._tokenizer)
            for piece in found
        )

    def _encoded(self, texts: Sequence[Sequence[int]], size: int) -> list[bytes]:
        encoders = [Encoder() for _ in texts]

        def code(row: int, step: int, shares: Shares) -> int:
            encoders[row].encode(shares.steps(texts[row][step : step + 1]))
            return texts[row][step]

        self._walk([len(text) for text in texts], code, size)
        return [encoder.finish() for encoder in encoders]

    def _decoded(self, rows: Sequence[Piece], size: int) -> list[list[int]]:
        if any(not 1 <= row.symbols <= self._shape.size for row in rows):
            raise _refusal("has a piece with no, or too many, tokens")
        decoders = [Decoder(row.code) for row in rows]
        texts: list[list[int]] = [[] for _ in rows]

        def read(row: int, step: int, shares: Shares) -> int:
            texts[row] += decoders[row].decode(shares, 1)
            return texts[row][-1]

        self._walk([row.symbols for row in rows], read, size)
        for decoder in decoders:
            decoder.finish()
        return texts

    def _walk(self, lengths: Sequence[int], token: Callable[[int, int, Shares], int], size: int) -> None:
        """One token of every row at a time; a row that is done, or that there is not, repeats its last."""
        steps = max(lengths, default=0)
        running = self._predictor.begin(self._shape.rows, max(steps, 1))
        tokens = [self._predictor.first] * self._shape.rows
        for step in range(steps):
            logits = running.step(tokens)
            for row, length in enumerate(lengths):
                if step < length:
                    tokens[row] = token(row, step, Shares(frequencies(logits[row])))
            self._tell(size * (step + 1) // steps - size * step // steps)
        if not steps:
            self._tell(size)


def packing(name: str, length: int, batch: int, tell: Tell | None = None) -> LanguageModel:
    """The profile that packs a file of so many bytes with a fetched model."""
    return LanguageModel(name, *fetched(name), Shape.of(length, batch), tell)


def unpacking(header: Header, tell: Tell | None = None) -> LanguageModel:
    """The profile that unpacks what a header describes, with the fetched model of its name."""
    return matching(header, *fetched(header.name), tell)


def matching(
    header: Header, predictor: Predictor, tokenizer: Tokenizer, tell: Tell | None = None
) -> LanguageModel:
    """The profile of this model and tokenizer for a header's container.

    `BadData` before anything is decoded: for another model or tokenizer, and where the canary's frequencies
    come out otherwise in this environment. Takes as many threads as the packer had.
    """
    same("model", header.model, predictor.sha256)
    same("tokenizer", header.tokenizer, tokenizer.sha256)
    rows, size, threads, stored, environment = _read_parameters(header.parameters)
    shape = Shape(rows, size, threads)
    if not (1 <= threads <= 1024 and rows and size > CUT and shape.chunk == header.chunk):
        raise _refusal("has parameters that say nothing")
    torch.set_num_threads(threads)
    profile = LanguageModel(header.name, predictor, tokenizer, shape, tell)
    if profile.canary != stored:
        problem = f"was packed under {environment}; the model computes otherwise under {Environment.here()}."
        raise BadData("container", problem, "Unpack it with those versions; nothing was given out.")
    return profile


def _read_parameters(parameters: bytes) -> tuple[int, int, int, bytes, str]:
    if len(parameters) < _PARAMETERS.size:
        raise _refusal("has parameters that say nothing")
    rows, size, threads, stored = _PARAMETERS.unpack_from(parameters)
    return rows, size, threads, stored, parameters[_PARAMETERS.size :].decode("utf-8", "replace")


def _written(piece: Piece) -> bytes:
    return varint.written(2 * piece.symbols + piece.is_bytes) + varint.written(len(piece.code)) + piece.code


def _pieces(code: bytes) -> Iterator[Piece]:
    at = 0
    while at < len(code):
        marked, at = varint.read(code, at)
        length, at = varint.read(code, at)
        if at + length > len(code):
            raise _refusal("has a piece that stops before its end")
        yield Piece(marked >> 1, bool(marked & 1), code[at : at + length])
        at += length


def _refusal(problem: str) -> BadData:
    return BadData("container", f"{problem}.", "Get an undamaged copy; nothing wrong was given out.")
