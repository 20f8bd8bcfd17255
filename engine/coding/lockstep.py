"""Lockstep: a range coder in integers only, the same bytes on every machine.

A message is a sequence of symbols; a model gives each symbol a share of a total. `encode` turns a message
into bytes, `decode` turns them back and accepts exactly what `encode` makes: every proper beginning and
every continuation of a code is refused. A code of n symbols takes fewer than 9 bits above the ideal
length, and n times a loss that the total bounds. What is stated here is proved in `docs/lockstep.md`;
the words in brackets name its clauses. Standard library only, and one file, so that it can be copied out.
"""

from __future__ import annotations

import struct
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate, repeat
from typing import Protocol

from engine.contract.errors import BadData

WORD = 16
"""Bits that leave the window at a time."""
WINDOW = 56
"""Bits of the window: wide enough for 24-bit totals, narrow enough for 64-bit registers with the carry."""
FULL = 1 << WINDOW
"""Width of the interval before the first symbol; the window holds low ends modulo this."""
LEAST = 1 << WINDOW - WORD
"""The interval is never narrower than this when a symbol comes."""
TOP = (1 << WORD) - 1
"""The word that a carry runs through."""
TOTAL_LIMIT = 1 << 24
"""No model's total may be larger: a share of one still gets 65,536 units of the narrowest interval."""
TABLE_LIMIT = 1 << 16
"""Static models up to this total look symbols up in a table, one entry a slot; larger ones search."""
TAIL = WINDOW // 8
"""Bytes of the window; the decoder reads so many zeros after the end, and no symbol depends on them."""

Step = tuple[int, int, int]
"""Start, count and total of one symbol: 0 <= start, 1 <= count, start + count <= total <= TOTAL_LIMIT."""
Found = tuple[int, int, int, int]
"""Symbol, its start and count, and the total for the symbol after it."""


class Model(Protocol):
    """How the interval is divided, symbol after symbol; both sides must ask in the same order."""

    total: int

    def steps(self, message: Iterable[int]) -> Iterable[Step]:
        """The step of each symbol; `BadData` for a symbol without a share."""

    def find(self, slot: int) -> Found:
        """The symbol whose share holds `slot`, 0 <= slot < total."""


class Static:
    """Fixed shares.

    Args:
        counts: one share a symbol, symbols being 0, 1, …; a symbol of count 0 cannot be coded.

    Invariants: 1 <= total <= TOTAL_LIMIT; the shares of codable symbols tile [0, total) in symbol order.
    """

    def __init__(self, counts: Sequence[int]) -> None:
        if not all(isinstance(count, int) and count >= 0 for count in counts):
            remedy = "Round the counts."  # [counts]
            raise BadData("static model", "has a count that is no integer from 0 up.", remedy)
        self.total = sum(counts)
        if not 1 <= self.total <= TOTAL_LIMIT:
            remedy = f"Scale it to 1 … {TOTAL_LIMIT}."  # [total]
            raise BadData("static model", f"has total {self.total}.", remedy)
        self._found: list[Found] = []
        start = 0
        for symbol, count in enumerate(counts):
            if count:
                self._found.append((symbol, start, count, self.total))
            start += count
        self._steps = _Shares((found[0], found[1:]) for found in self._found)
        self._starts = [start for _, start, _, _ in self._found]
        self.find: Callable[[int], Found] = self._search
        if self.total <= TABLE_LIMIT:
            table = [found for found in self._found for _ in repeat(None, found[2])]  # [table]
            self.find = table.__getitem__

    def _search(self, slot: int) -> Found:
        return self._found[bisect_right(self._starts, slot) - 1]  # [search]

    def steps(self, message: Iterable[int]) -> Iterable[Step]:
        """The step of each symbol; `BadData` for one without a share."""
        return map(self._steps.__getitem__, message)


class _Shares(dict[int, Step]):
    def __missing__(self, symbol: int) -> Step:
        remedy = "Give it a count."  # [no-share]
        raise BadData(f"symbol {symbol}", "has no share in the static model.", remedy)


class Adaptive:
    """Shares that follow the message.

    Args:
        symbols: how many there are; each starts with a count of one.
        increment: added to a symbol's count after it is coded.
        limit: when the total passes it, every count c becomes c - c // 2, once [rescale].

    Invariants: every count >= 1; total = sum(counts) <= limit <= TOTAL_LIMIT between symbols;
    `_sums[i]` is the sum of the counts of the i-th block of `_block` symbols.
    """

    def __init__(self, symbols: int, increment: int, limit: int) -> None:
        if min(symbols, increment) < 1 or not symbols + increment <= limit <= TOTAL_LIMIT:
            problem = f"cannot have {symbols} symbols, increment {increment} and limit {limit}."  # [limits]
            remedy = f"Keep both at least 1 and their sum within the limit, and that within {TOTAL_LIMIT}."
            raise BadData("adaptive model", problem, remedy)
        self._increment, self._limit = increment, limit
        self._shift = (symbols - 1).bit_length() + 1 >> 1
        self._block = 1 << self._shift
        self._set([1] * symbols)

    def _set(self, counts: list[int]) -> None:
        self._counts = counts
        self._sums = [sum(counts[at : at + self._block]) for at in range(0, len(counts), self._block)]
        self.total = sum(counts)

    def steps(self, message: Iterable[int]) -> Iterator[Step]:
        """The step of each symbol; `BadData` for one outside 0 … symbols - 1."""
        for symbol in message:
            if not 0 <= symbol < len(self._counts):
                remedy = "Widen the model."  # [no-share]
                raise BadData(f"symbol {symbol}", "is unknown to the adaptive model.", remedy)
            block = symbol >> self._shift
            start = sum(self._sums[:block]) + sum(self._counts[block << self._shift : symbol])
            step = start, self._counts[symbol], self.total
            self._learn(symbol)
            yield step

    def find(self, slot: int) -> Found:
        """The symbol whose share holds `slot`, and then its count goes up."""
        ends = list(accumulate(self._sums))
        block = bisect_right(ends, slot)
        start = ends[block] - self._sums[block]
        first = block << self._shift
        ends = list(accumulate(self._counts[first : first + self._block], initial=start))
        symbol = first + bisect_right(ends, slot) - 1
        start, count = ends[symbol - first], self._counts[symbol]
        self._learn(symbol)
        return symbol, start, count, self.total

    def _learn(self, symbol: int) -> None:
        self._counts[symbol] += self._increment  # [learn]
        self._sums[symbol >> self._shift] += self._increment
        self.total += self._increment
        if self.total > self._limit:
            halved = [count - (count >> 1) for count in self._counts]
            self._set(halved)  # [rescale]


def checked(steps: Iterable[Step]) -> Iterator[Step]:
    """Steps that come from elsewhere, each refused with `BadData` unless it is one."""
    for start, count, total in steps:
        if not 0 <= start < start + count <= total <= TOTAL_LIMIT:
            raise BadData(
                f"step ({start}, {count}, {total})",
                "is no share of a total.",
                f"Keep 0 <= start < start + count <= total <= {TOTAL_LIMIT}.",
            )
        yield start, count, total


def ending(low: int, width: int) -> tuple[int, int]:
    """The shortest ending of a code: bytes of the window to write, and the point they name.

    All numbers that begin with those bytes lie in [low, low + width); of the points with so few bytes
    this is the lowest. At most three bytes, since width >= LEAST.
    """
    for length in range(TAIL):
        unit = FULL >> 8 * length
        point = -(-low // unit) * unit
        if point + unit <= low + width:
            break
    return length, point  # [ending]


class Encoder:
    """Symbols in, bytes out.

    The code so far is the number `out held run low`: settled bytes, one word that a carry may still raise
    by one, `run` words equal to TOP that a carry would turn to zero, and the window.

    Invariants between symbols: 0 <= low; LEAST <= width <= FULL; low + width <= 2 * FULL;
    held <= TOP, and a carry never comes while held = TOP. The first held word is the number's integer
    part, always zero in the end, and is not part of the code.
    """

    def __init__(self) -> None:
        self._low, self._width = 0, FULL
        self._held, self._run = 0, 0
        self._out = bytearray()

    def encode(self, steps: Iterable[Step]) -> None:
        """Narrow the interval to each step in turn; steps must be valid (see `checked`)."""
        low, width = self._low, self._width
        try:
            for start, count, total in steps:
                unit = width // total  # [narrow]
                low += unit * start
                width = unit * count
                while width < LEAST:
                    self._settle(low >> WINDOW - WORD)  # [shift]
                    low = (low & LEAST - 1) << WORD
                    width <<= WORD
        finally:
            self._low, self._width = low, width

    def _settle(self, word: int) -> None:
        if word == TOP:
            self._run += 1  # [run]
        else:
            self._out += self._settled(word >> WORD)
            self._held, self._run = word & TOP, 0  # [hold]

    def _settled(self, carry: int) -> bytes:
        if carry:
            return (self._held + 1).to_bytes(2, "big") + bytes(2 * self._run)  # [carry]
        return self._held.to_bytes(2, "big") + b"\xff" * (2 * self._run)  # [release]

    def finish(self) -> bytes:
        """The code: what is settled, and the shortest ending."""
        length, point = ending(self._low, self._width)
        tail = (point & FULL - 1).to_bytes(TAIL, "big")[:length]
        return (bytes(self._out) + self._settled(point >> WINDOW) + tail)[2:]


class Decoder:
    """Bytes in, symbols out.

    Invariants between symbols: 0 <= value < width, LEAST <= width <= FULL, value being the code minus the
    encoder's low end; 2 * shifts <= length of the code.
    """

    def __init__(self, code: bytes) -> None:
        self._code = code + bytes(TAIL)
        self._length = len(code)
        self._value, self._width, self._shifts = int.from_bytes(self._code[:TAIL], "big"), FULL, 0
        words = self._length // 2
        self._words: Iterator[int] = iter(struct.unpack_from(f">{words}H", self._code, TAIL))

    def decode(self, model: Model, count: int, end: int | None = None) -> list[int]:
        """The next `count` symbols, or fewer where `end` comes; `BadData` where the code is nobody's."""
        value, width, total = self._value, self._width, model.total
        message: list[int] = []
        for _ in repeat(None, count):
            unit = width // total  # [narrow]
            slot = value // unit
            if slot >= total:
                raise _refusal("lies in no symbol's share")  # [slack]
            symbol, start, share, total = model.find(slot)
            value -= unit * start
            width = unit * share
            while width < LEAST:
                value = value << WORD | self._word()  # [shift]
                width <<= WORD
            message.append(symbol)
            if symbol == end:
                break  # [end]
        self._value, self._width = value, width
        return message

    def _word(self) -> int:
        self._shifts += 1
        word = next(self._words, None)
        if word is None:
            raise _refusal("stops before its message")  # [truncated]
        return word

    def finish(self) -> None:
        """Refuse with `BadData` unless the code is, byte for byte, the one the symbols read so far have."""
        at = self._shifts * WORD // 8
        low = int.from_bytes(self._code[at : at + TAIL], "big") - self._value & FULL - 1
        length, point = ending(low, self._width)
        if self._length < at + length:
            raise _refusal("stops before its message")  # [truncated]
        if self._length > at + length:
            raise _refusal("goes on after its message")  # [trailing]
        if self._value != point - low:
            raise _refusal("is not the shortest that its message has")  # [canonical]


def encode(message: Iterable[int], model: Model) -> bytes:
    """The code of a whole message; an adaptive model has learnt it afterwards."""
    encoder = Encoder()
    encoder.encode(model.steps(message))
    return encoder.finish()


def decode(code: bytes, model: Model, count: int, end: int | None = None) -> list[int]:
    """The message of `count` symbols, or of at most `count` and ending with `end`, whose code this is.

    `BadData` for bytes that `encode` never makes from such a message; a model that has adapted meanwhile
    is spoilt then.
    """
    decoder = Decoder(code)
    message = decoder.decode(model, count, end)
    if end is not None and message[-1:] != [end]:
        raise _refusal("has no end in as many symbols as were allowed")  # [endless]
    decoder.finish()
    return message


def _refusal(problem: str) -> BadData:
    return BadData("lockstep code", f"{problem}.", "It is damaged, or was made with another model or count.")
