"""Bytes are cut without loss, where characters end, and tokenized only where that is exact."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.coding.chunks import chunks, pieces, untokenized


class Letters:
    """A tokenizer of single characters that loses one of them, and has no token for another."""

    sha256 = bytes(32)

    def tokens(self, text: str) -> list[int]:
        return [ord(letter) for letter in text if letter != "\N{SOFT HYPHEN}"]

    def text(self, tokens: list[int]) -> str:
        return "".join(map(chr, tokens)).replace("\N{NO-BREAK SPACE}", " ")


@given(st.binary(max_size=200) | st.text(max_size=80).map(str.encode), st.integers(4, 40))
@settings(max_examples=400, deadline=None, derandomize=True)
def test_any_bytes_are_their_chunks_in_order_and_tokens_are_exact(data: bytes, size: int) -> None:
    found = list(chunks(data, Letters(), size))
    assert b"".join(chunk.data for chunk in found) == data
    for chunk in found:
        assert 1 <= len(chunk.data) <= size
        assert chunk.tokens is None or untokenized(list(chunk.tokens), Letters()) == chunk.data


@given(st.text(min_size=1, max_size=80), st.integers(4, 9), st.integers(0, 3), st.integers(0, 3))
@settings(max_examples=300, deadline=None, derandomize=True)
def test_text_cut_anywhere_is_tokenized_but_for_the_characters_that_were_cut(
    text: str, size: int, before: int, after: int
) -> None:
    whole = text.encode()
    data = whole[before : max(before, len(whole) - after)]
    kept = [piece for piece in pieces(data, size) if _is_text(piece)]
    assert b"".join(kept).decode() in text
    assert len(data) - sum(map(len, kept)) <= 6


def _is_text(piece: bytes) -> bool:
    try:
        piece.decode()
    except UnicodeDecodeError:
        return False
    return True


@pytest.mark.parametrize(
    ("data", "spoilt"),
    [
        (b"abcd\xffbcdabcd", [1]),
        ("abcdab\N{SOFT HYPHEN}abcd".encode(), [1]),
        ("abc \N{NO-BREAK SPACE}ab".encode(), [1]),
        (b"\x80\x80abcd", [0]),
        (b"\x80\x80\x80\x80abcd", [0]),
        (b"abcd\xf0\x9f", [1]),
        (b"\xc3", [0]),
        (b"\xa9", [0]),
    ],
)
def test_what_does_not_come_back_stays_bytes_and_spoils_no_other_chunk(
    data: bytes, spoilt: list[int]
) -> None:
    found = list(chunks(data, Letters(), 4))
    assert [index for index, chunk in enumerate(found) if chunk.tokens is None] == spoilt


def test_nothing_has_no_chunks() -> None:
    assert list(chunks(b"", Letters(), 8)) == []
