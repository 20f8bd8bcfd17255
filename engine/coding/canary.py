"""A canary: does this environment compute what the one that packed did?

A few fixed tokens are run through the model in the shapes that are used afterwards, and every frequency of
every step is digested. A decoder that gets another digest would get other shares, sooner or later, and must
refuse before it gives anything out. An equal digest proves nothing about longer rows: checksums do that.
"""

from __future__ import annotations

import hashlib
import platform
from dataclasses import dataclass

import torch

from engine.coding.frequencies import frequencies
from engine.coding.predictor import Predictor

TOKENS = 32
"""Steps of the canary."""
STRIDE = 7919
"""A prime larger than most: row r reads token (first + (r + 1) · STRIDE · step) mod V at each step."""


@dataclass(frozen=True)
class Environment:
    """What the arithmetic depends on, as far as it can be named."""

    torch: str
    capability: str
    threads: int
    machine: str

    @classmethod
    def here(cls) -> Environment:
        """The one that runs this."""
        capability = torch.backends.cpu.get_cpu_capability()
        return cls(torch.__version__, capability, torch.get_num_threads(), platform.machine())

    def __str__(self) -> str:
        """One line."""
        return f"torch {self.torch}, {self.machine} {self.capability}, {self.threads} threads"


def canary(predictor: Predictor, rows: int, steps: int = TOKENS) -> bytes:
    """sha256 of the frequencies of all `rows` at each of `steps`, as big-endian 32-bit words, 32 bytes."""
    digest = hashlib.sha256()
    running = predictor.begin(rows, steps)
    for step in range(steps):
        tokens = [(predictor.first + (row + 1) * STRIDE * step) % predictor.vocabulary for row in range(rows)]
        for logits in running.step(tokens):
            digest.update(frequencies(logits).astype(">u4").tobytes())
    return digest.digest()
