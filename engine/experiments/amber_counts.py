"""Counts that the Amber experiment publishes, from readings and codes; whole numbers, no model.

Lengths are in sixteenths of a bit, rounded to the nearest, so that lengths that are no whole bits add up.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import brotli
import pyppmd
import zstandard

from engine.coding import amber_symbols
from engine.coding.amber_format import Record
from engine.coding.amber_ranks import MARGIN_CLASSES

SIXTEENTHS = 16
ZSTD_LEVEL = 19
BROTLI_QUALITY = 11
PPMD_ORDER = 6
PPMD_MEMORY = 1 << 24


def repeats(tokens: Sequence[int], window: int, longest: int) -> bool:
    """Whether the last `window` tokens each equal the one a period before, for a period of 1 … `longest`."""
    if len(tokens) < window + longest:
        return False
    last = range(len(tokens) - window, len(tokens))
    return any(all(tokens[i] == tokens[i - period] for i in last) for period in range(1, longest + 1))


@dataclass(frozen=True)
class Told:
    """What an archive's chunk holds: which tokens by rank, and the margin class of each of those."""

    by_rank: list[bool]
    classes: list[int]

    @classmethod
    def of(cls, record: Record, vocabulary: int) -> Told:
        """Read from the codes, as anybody who has the archive can."""
        corrections = amber_symbols.decode(record.code, record.tokens, vocabulary)
        by_rank = [not each.literal for each in corrections]
        return cls(by_rank, amber_symbols.decode_margins(record.margins, sum(by_rank)))


@dataclass(frozen=True)
class Broken:
    """How the ranks of one text move in another environment, among the tokens told by rank."""

    told: list[int]
    """Tokens of each margin class."""
    moved: list[int]
    """Those of them whose rank is another."""
    first: int | None
    """Where the first of those stands in the text; None where there is none."""

    @property
    def ordered(self) -> tuple[int, int]:
        """Twice the pairs (moved, held) whose moved one has the smaller class, ties once; twice all pairs."""
        held = [all_ - moved for all_, moved in zip(self.told, self.moved, strict=True)]
        right = sum(
            moved * (held[at] + 2 * sum(held[at + 1 :])) for at, moved in enumerate(self.moved) if moved
        )
        return right, 2 * sum(self.moved) * sum(held)


def broken(told: Told, before: Sequence[int], after: Sequence[int]) -> Broken:
    """What happens to the ranks `before` where they are `after`."""
    classes = iter(told.classes)
    totals, moved, first = [0] * MARGIN_CLASSES, [0] * MARGIN_CLASSES, None
    for at, by_rank in enumerate(told.by_rank):
        if not by_rank:
            continue
        margin = next(classes)
        totals[margin] += 1
        if before[at] != after[at]:
            moved[margin] += 1
            first = at if first is None else first
    return Broken(totals, moved, first)


def first_difference(text: Sequence[int], other: Sequence[int]) -> int | None:
    """Where two texts of one length part; None where they do not."""
    return next((at for at, (a, b) in enumerate(zip(text, other, strict=True)) if a != b), None)


def dictionary(samples: Sequence[bytes], size: int) -> bytes:
    """A zstd dictionary of at most `size` bytes trained on `samples`."""
    trained: bytes = zstandard.train_dictionary(size, list(samples), level=ZSTD_LEVEL).as_bytes()
    return trained


def rivals(trained: bytes) -> dict[str, Callable[[bytes], int]]:
    """Compressors that know no model, by name: bytes to length in bytes."""
    plain = zstandard.ZstdCompressor(level=ZSTD_LEVEL)
    knowing = zstandard.ZstdCompressor(
        level=ZSTD_LEVEL, dict_data=zstandard.ZstdCompressionDict(trained), write_dict_id=False
    )
    return {
        "zstd": lambda data: len(plain.compress(data)),
        "zstd_dictionary": lambda data: len(knowing.compress(data)),
        "brotli": lambda data: len(brotli.compress(data, quality=BROTLI_QUALITY, mode=brotli.MODE_TEXT)),
        "ppmd": lambda data: len(pyppmd.compress(data, max_order=PPMD_ORDER, mem_size=PPMD_MEMORY)),
    }


def spread(total: int, parts: int) -> list[int]:
    """A whole number shared out over `parts` as evenly as whole numbers allow."""
    return [total * (part + 1) // parts - total * part // parts for part in range(parts)]


def length(bytes_: int) -> int:
    """Bytes in sixteenths of a bit."""
    return 8 * SIXTEENTHS * bytes_
