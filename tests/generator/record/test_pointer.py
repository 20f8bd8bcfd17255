"""JSON pointers follow RFC 6901."""

from __future__ import annotations

import pytest

from generator.record import pointer

CASES = {
    "": (),
    "/": ("",),
    "/foo/0": ("foo", "0"),
    "/a~1b": ("a/b",),
    "/m~0n": ("m~n",),
    "/~01": ("~1",),
    "/ ": (" ",),
    "/é//x": ("é", "", "x"),
}


@pytest.mark.parametrize("text", CASES)
def test_a_pointer_splits_into_its_tokens_and_joins_again(text: str) -> None:
    assert pointer.parse(text) == CASES[text]
    assert pointer.unparse(CASES[text]) == text


@pytest.mark.parametrize("text", ["a", "#/a", "/~2", "/~"])
def test_what_is_no_pointer_is_a_value_error(text: str) -> None:
    with pytest.raises(ValueError, match="JSON pointer"):
        pointer.parse(text)
