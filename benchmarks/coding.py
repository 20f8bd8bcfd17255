"""Lockstep against coders from PyPI on the same static model: times by turns, and sizes.

    python -m benchmarks.coding

arithmetic-compressor is pure Python, as Lockstep is; range-coder and constriction are compiled, and far
ahead. A pair packs and unpacks the same message of random symbols; both sides give it back or nothing is
timed. Overhead is the size over the ideal length of that very message under the model.
"""

from __future__ import annotations

import atexit
import random
import shutil
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import log2
from pathlib import Path
from typing import Any, Protocol

import constriction
import numpy as np
import range_coder
from arithmetic_compressor import AECompressor
from arithmetic_compressor.models import StaticModel

from benchmarks.measure import HEADER, Ratio, paired
from engine.coding import lockstep

TOTAL = 4096
"""All counts add up to this, which every coder here can represent exactly."""
MODELS = {
    "6 symbols": [1600, 1200, 640, 400, 192, 64],
    "256 symbols": [1] * 128 + [8] * 64 + [16] * 32 + [32] * 16 + [153] * 15 + [TOTAL - 3959],
}
SYMBOLS = 20_000
LONG = 200_000
"""Symbols of the message whose size is taken, so that the ending counts for little."""
PAIRS = 5


class Coder(Protocol):
    """One side: built for a model and a message, then timed."""

    def __init__(self, counts: Sequence[int], message: Sequence[int]) -> None: ...

    def pack(self) -> object:
        """Code the message and keep the code."""

    def unpack(self) -> object:
        """Decode what `pack` kept."""

    def bits(self) -> int:
        """Length of the code."""


class Lockstep:
    """Ours."""

    def __init__(self, counts: Sequence[int], message: Sequence[int]) -> None:
        self._model, self._message = lockstep.Static(counts), message
        self._code = b""

    def pack(self) -> object:
        """Code the message."""
        self._code = lockstep.encode(self._message, self._model)
        return self._code

    def unpack(self) -> list[int]:
        """Decode it."""
        return lockstep.decode(self._code, self._model, len(self._message))

    def bits(self) -> int:
        """Length of the code."""
        return 8 * len(self._code)


class ArithmeticCompressor:
    """arithmetic-compressor: pure Python, bit by bit."""

    def __init__(self, counts: Sequence[int], message: Sequence[int]) -> None:
        model = StaticModel({symbol: count / TOTAL for symbol, count in enumerate(counts)})
        self._coder, self._message = AECompressor(model, adapt=False), message
        self._code: list[int] = []

    def pack(self) -> object:
        """Code the message."""
        self._code = self._coder.compress(self._message)
        return self._code

    def unpack(self) -> list[int]:
        """Decode it."""
        return list(self._coder.decompress(self._code, len(self._message)))

    def bits(self) -> int:
        """Length of the code; the peer keeps one list entry a bit."""
        return len(self._code)


class RangeCoder:
    """range-coder: C++, through a file."""

    def __init__(self, counts: Sequence[int], message: Sequence[int]) -> None:
        self._sums, self._message = [*accumulate(counts, initial=0)], list(message)
        folder = tempfile.mkdtemp()
        atexit.register(shutil.rmtree, folder)
        self._file = Path(folder) / "code"

    def pack(self) -> object:
        """Code the message."""
        encoder = range_coder.RangeEncoder(str(self._file))
        encoder.encode(self._message, self._sums)
        encoder.close()
        return self._file

    def unpack(self) -> list[int]:
        """Decode it."""
        decoder = range_coder.RangeDecoder(str(self._file))
        decoded: list[int] = decoder.decode(len(self._message), self._sums)
        decoder.close()
        return decoded

    def bits(self) -> int:
        """Length of the code."""
        return 8 * self._file.stat().st_size


class Constriction:
    """constriction's range coder: Rust, numpy arrays in and out."""

    def __init__(self, counts: Sequence[int], message: Sequence[int]) -> None:
        shares = np.asarray(counts, dtype=np.float64) / TOTAL
        self._model = constriction.stream.model.Categorical(shares, perfect=True)
        self._message = np.asarray(message, dtype=np.int32)
        self._code: Any = None

    def pack(self) -> object:
        """Code the message."""
        encoder = constriction.stream.queue.RangeEncoder()
        encoder.encode(self._message, self._model)
        self._code = encoder.get_compressed()
        return self._code

    def unpack(self) -> list[int]:
        """Decode it."""
        decoder = constriction.stream.queue.RangeDecoder(self._code)
        return list(decoder.decode(self._model, len(self._message)))

    def bits(self) -> int:
        """Length of the code."""
        return int(self._code.size) * 32


PEERS: dict[str, type[Coder]] = {
    "arithmetic-compressor, pure Python": ArithmeticCompressor,
    "range-coder, C++": RangeCoder,
    "constriction, Rust": Constriction,
}


@dataclass(frozen=True)
class Size:
    """How much longer a code is than the message's ideal length."""

    coder: str
    model: str
    bits: int
    ideal: float

    def row(self) -> str:
        """One row of the Markdown table."""
        over = 100 * (self.bits / self.ideal - 1)
        return f"| {self.coder} | {self.model} | {self.bits} | {self.ideal:.1f} | {over:.4f} % |"


SIZES = "| coder | model | bits | ideal | over |\n|---|---|---|---|---|"


def drawn(counts: Sequence[int], symbols: int) -> list[int]:
    """A message as the model expects it, the same in every run."""
    return random.Random(20261130).choices(range(len(counts)), counts, k=symbols)


def built(kind: type[Coder], counts: Sequence[int], message: Sequence[int]) -> Coder:
    """A coder that has packed the message and gives it back."""
    coder = kind(counts, message)
    coder.pack()
    if coder.unpack() != list(message):
        raise SystemExit(f"{kind.__name__} does not give the message back; nothing to compare")
    return coder


def rows() -> list[Ratio]:
    """Packing and unpacking under each model against each peer."""
    out = []
    for name, counts in MODELS.items():
        message = drawn(counts, SYMBOLS)
        ours = built(Lockstep, counts, message)
        for peer, kind in PEERS.items():
            theirs = built(kind, counts, message)
            out += [_row("packing", name, peer, ours.pack, theirs.pack)]
            out += [_row("unpacking", name, peer, ours.unpack, theirs.unpack)]
    return out


def _row(what: str, name: str, peer: str, ours: Callable[[], object], theirs: Callable[[], object]) -> Ratio:
    return paired(f"{what} {SYMBOLS} symbols, static, {name}", peer, [(ours, theirs)] * PAIRS)


def sizes() -> list[Size]:
    """Overhead over the ideal length, every coder under each model."""
    out = []
    for name, counts in MODELS.items():
        message = drawn(counts, LONG)
        ideal = sum(log2(TOTAL / counts[symbol]) for symbol in message)
        coders: list[tuple[str, type[Coder]]] = [("Lockstep", Lockstep), *PEERS.items()]
        for coder, kind in coders:
            packed = kind(counts, message)
            packed.pack()
            out.append(Size(coder, name, packed.bits(), ideal))
    return out


def main() -> None:
    """Print both tables, and symbols a second."""
    print(HEADER)
    measured = rows()
    for row in measured:
        print(row.row())
    print("\n| what | coder | symbols a second |\n|---|---|---|")
    for row in measured:
        for coder, seconds in (("Lockstep", row.ours_seconds), (row.peer, row.peer_seconds)):
            print(f"| {row.what} | {coder} | {SYMBOLS / seconds:,.0f} |")
    print(f"\n{SIZES}")
    for size in sizes():
        print(size.row())


if __name__ == "__main__":
    main()
