"""Lockstep and coders from PyPI behind one face, for times and sizes on the same static model.

arithmetic-compressor is pure Python, as Lockstep is; range-coder and constriction are compiled. They are
installed with the `dev` extra; what is missing is named when a coder is built.
"""

from __future__ import annotations

import atexit
import random
import shutil
import tempfile
from collections.abc import Sequence
from itertools import accumulate
from math import log2
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from engine.coding import lockstep
from engine.contract.errors import BadData

TOTAL = 4096
"""All counts add up to this, which every coder here can represent exactly."""
MODELS = {
    "6 symbols": [1600, 1200, 640, 400, 192, 64],
    "256 symbols": [1] * 128 + [8] * 64 + [16] * 32 + [32] * 16 + [153] * 15 + [TOTAL - 3959],
}


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
        try:
            from arithmetic_compressor import AECompressor
            from arithmetic_compressor.models import StaticModel
        except ImportError:
            raise _missing("arithmetic-compressor") from None
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
        try:
            import range_coder
        except ImportError:
            raise _missing("range-coder") from None
        self._library = range_coder
        self._sums, self._message = [*accumulate(counts, initial=0)], list(message)
        folder = tempfile.mkdtemp()
        atexit.register(shutil.rmtree, folder)
        self._file = Path(folder) / "code"

    def pack(self) -> object:
        """Code the message."""
        encoder = self._library.RangeEncoder(str(self._file))
        encoder.encode(self._message, self._sums)
        encoder.close()
        return self._file

    def unpack(self) -> list[int]:
        """Decode it."""
        decoder = self._library.RangeDecoder(str(self._file))
        decoded: list[int] = decoder.decode(len(self._message), self._sums)
        decoder.close()
        return decoded

    def bits(self) -> int:
        """Length of the code."""
        return 8 * self._file.stat().st_size


class Constriction:
    """constriction's range coder: Rust, numpy arrays in and out."""

    def __init__(self, counts: Sequence[int], message: Sequence[int]) -> None:
        try:
            import constriction
        except ImportError:
            raise _missing("constriction") from None
        self._stream = constriction.stream
        shares = np.asarray(counts, dtype=np.float64) / TOTAL
        self._model = self._stream.model.Categorical(shares, perfect=True)
        self._message = np.asarray(message, dtype=np.int32)
        self._code: Any = None

    def pack(self) -> object:
        """Code the message."""
        encoder = self._stream.queue.RangeEncoder()
        encoder.encode(self._message, self._model)
        self._code = encoder.get_compressed()
        return self._code

    def unpack(self) -> list[int]:
        """Decode it."""
        decoder = self._stream.queue.RangeDecoder(self._code)
        return list(decoder.decode(self._model, len(self._message)))

    def bits(self) -> int:
        """Length of the code."""
        return int(self._code.size) * 32


PEERS: dict[str, type[Coder]] = {
    "arithmetic-compressor, pure Python": ArithmeticCompressor,
    "range-coder, C++": RangeCoder,
    "constriction, Rust": Constriction,
}


def drawn(counts: Sequence[int], symbols: int, seed: int) -> list[int]:
    """A message as the model expects it, the same in every run."""
    return random.Random(seed).choices(range(len(counts)), counts, k=symbols)


def ideal(counts: Sequence[int], message: Sequence[int]) -> float:
    """The message's ideal length under the model, in bits."""
    return sum(log2(TOTAL / counts[symbol]) for symbol in message)


def built(kind: type[Coder], counts: Sequence[int], message: Sequence[int]) -> Coder:
    """A coder that has packed the message; `BadData` unless it gives it back."""
    coder = kind(counts, message)
    coder.pack()
    if coder.unpack() != list(message):
        raise BadData(kind.__name__, "does not give the message back.", "There is nothing to compare.")
    return coder


def _missing(package: str) -> BadData:
    return BadData(package, "is not installed, and is compared with.", "Install the extra `dev`.")
