"""Ranks, literal tokens and margins as bytes, by Lockstep alone: integers in, integers out.

A rank below `LITERAL` is coded as a class, which is its length in bits, under a model that adapts to the
text, and then its lower bits as they are. A token that is told outright is the class after the last, and its
id. Which model a class is coded under depends on whether the two classes before it were zero.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from engine.coding.amber_ranks import MARGIN_CLASSES
from engine.coding.lockstep import Adaptive, Decoder, Encoder, Found, Step
from engine.contract.errors import BadData

LITERAL = 255
"""Ranks from here on are not used: the token itself is told."""
LITERAL_CLASS = 9
CLASSES = 10
INCREMENT = 8
LIMIT = 4096


@dataclass(frozen=True)
class Correction:
    """One token: its rank, or the token itself where `literal`."""

    number: int
    literal: bool


@dataclass
class Uniform:
    """Every symbol alike; a model of Lockstep."""

    total: int

    def steps(self, message: Iterable[int]) -> Iterator[Step]:
        """The step of each symbol; `BadData` for one outside 0 … total - 1."""
        for symbol in message:
            if not 0 <= symbol < self.total:
                raise BadData(f"symbol {symbol}", f"is not below {self.total}.", "Widen the model.")
            yield symbol, 1, self.total

    def find(self, slot: int) -> Found:
        """The symbol whose share is `slot`."""
        return slot, slot, 1, self.total


class _Classes:
    """The adaptive models of a chunk, one for what the two classes before were."""

    def __init__(self) -> None:
        self._models = [Adaptive(CLASSES, INCREMENT, LIMIT) for _ in range(4)]
        self._before = 0

    def model(self) -> Adaptive:
        return self._models[self._before]

    def coded(self, found: int) -> None:
        self._before = (self._before << 1 | (found > 0)) & 3


def encode(corrections: Sequence[Correction], vocabulary: int) -> bytes:
    """The code of a chunk's corrections."""
    encoder, classes, tokens = Encoder(), _Classes(), Uniform(vocabulary)
    for each in corrections:
        length = LITERAL_CLASS if each.literal else each.number.bit_length()
        encoder.encode(classes.model().steps([length]))
        classes.coded(length)
        if each.literal:
            encoder.encode(tokens.steps([each.number]))
        elif length > 1:
            width = 1 << length - 1
            encoder.encode(Uniform(width).steps([each.number - width]))
    return encoder.finish()


def decode(code: bytes, count: int, vocabulary: int) -> list[Correction]:
    """The `count` corrections whose code this is; `BadData` where it is nobody's."""
    decoder, classes, tokens = Decoder(code), _Classes(), Uniform(vocabulary)
    corrections = []
    for _ in range(count):
        length = decoder.decode(classes.model(), 1)[0]
        classes.coded(length)
        if length == LITERAL_CLASS:
            corrections.append(Correction(decoder.decode(tokens, 1)[0], True))
            continue
        width = 1 << length - 1 if length else 0
        below = decoder.decode(Uniform(width), 1)[0] if length > 1 else 0
        corrections.append(Correction(width + below, False))
    decoder.finish()
    return corrections


def encode_margins(classes: Sequence[int]) -> bytes:
    """The code of margin classes."""
    encoder = Encoder()
    encoder.encode(Adaptive(MARGIN_CLASSES, INCREMENT, LIMIT).steps(classes))
    return encoder.finish()


def decode_margins(code: bytes, count: int) -> list[int]:
    """The `count` margin classes whose code this is; `BadData` where it is nobody's."""
    decoder = Decoder(code)
    classes = decoder.decode(Adaptive(MARGIN_CLASSES, INCREMENT, LIMIT), count)
    decoder.finish()
    return classes
