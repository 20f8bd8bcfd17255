"""Whole numbers in few bytes: seven bits a byte, lowest first, the top bit set while more follow."""

from __future__ import annotations

from engine.contract.errors import BadData

LONGEST = 5
"""Bytes of a number; longer ones are refused."""


def written(number: int) -> bytes:
    """The bytes of a number from 0 up, below 2**35."""
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*out, number])


def read(data: bytes, at: int) -> tuple[int, int]:
    """The number that begins at byte `at`, and where the next one does; `BadData` where none is whole."""
    number = 0
    for place, byte in enumerate(data[at : at + LONGEST]):
        number |= (byte & 0x7F) << 7 * place
        if byte < 0x80:
            return number, at + place + 1
    raise BadData("container", "holds a number that does not end.", "Get an undamaged copy.")
