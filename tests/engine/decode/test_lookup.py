"""Prompt lookup copies what followed the latest earlier occurrence of the longest suffix that has one."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.decode.drafts.lookup import Lookup

CASES: dict[str, tuple[list[int], int, tuple[int, ...]]] = {
    "the latest of two occurrences": ([1, 2, 8, 1, 2, 9, 7, 1, 2], 2, (9, 7)),
    "a longer suffix before a later shorter one": ([1, 2, 3, 8, 5, 3, 9, 1, 2, 3], 1, (8,)),
    "a shorter suffix where the longer never occurred": ([3, 8, 6, 3], 1, (8,)),
    "no longer suffix than three": ([9, 1, 2, 3, 8, 7, 1, 2, 3, 5, 9, 1, 2, 3], 1, (5,)),
    "an occurrence that overlaps the suffix": ([4, 4], 3, (4,)),
    "a run that overlaps itself": ([4, 4, 4, 4], 3, (4,)),
    "a pattern of two": ([1, 2, 1, 2], 8, (1, 2)),
    "fewer than asked for where the text ends": ([1, 2, 3, 1], 8, (2, 3, 1)),
    "no match": ([1, 2, 3, 4], 4, ()),
    "one token": ([1], 4, ()),
    "nothing": ([], 4, ()),
    "no room": ([1, 2, 1], 0, ()),
}


@pytest.mark.parametrize("name", CASES)
def test_lookup_copies(name: str) -> None:
    text, length, expected = CASES[name]
    assert Lookup().propose(text, length).tokens == expected


def test_what_is_copied_was_not_drawn() -> None:
    assert Lookup().propose([1, 2, 1], 4).probability is None


def test_a_lookup_whose_shortest_suffix_is_two_ignores_a_single_token() -> None:
    assert Lookup(3, 2).propose([1, 2, 3, 1], 4).tokens == ()
    assert Lookup(3, 2).propose([1, 2, 3, 1, 2], 4).tokens == (3, 1, 2)


def naive(text: Sequence[int], length: int, longest: int, shortest: int) -> tuple[int, ...]:
    """The same by searching backwards for every suffix."""
    for size in range(longest, shortest - 1, -1):
        for end in range(len(text) - 1, size - 1, -1):
            if text[end - size : end] == text[len(text) - size :]:
                return tuple(text[end : end + length])
    return ()


Make = Callable[[int, int], Lookup]
TEXTS = st.lists(st.integers(0, 3), max_size=30)


def agrees(make: Make, texts: list[list[int]], length: int, sizes: tuple[int, int]) -> None:
    """One instance, asked about one text after another, says what the naive search says."""
    lookup = make(*sizes)
    for text in texts:
        assert lookup.propose(text, length).tokens == naive(text, length, *sizes)


SIZES = st.sampled_from([(3, 1), (1, 1), (2, 2), (5, 2)])


@given(texts=st.lists(TEXTS, max_size=4), length=st.integers(0, 6), sizes=SIZES)
@settings(max_examples=150, deadline=None, derandomize=True)
def test_any_texts_one_after_another_are_looked_up_as_by_naive_search(
    texts: list[list[int]], length: int, sizes: tuple[int, int]
) -> None:
    agrees(Lookup, texts, length, sizes)


@given(text=TEXTS, cuts=st.lists(st.integers(0, 30), max_size=8), sizes=SIZES)
@settings(max_examples=150, deadline=None, derandomize=True)
def test_a_text_that_grows_and_shrinks_is_looked_up_as_by_naive_search(
    text: list[int], cuts: list[int], sizes: tuple[int, int]
) -> None:
    agrees(Lookup, [text[:cut] for cut in cuts], 4, sizes)


class Earliest(Lookup):
    """Keeps the first occurrence."""

    def _read(self, text: Sequence[int]) -> None:
        for end in range(1, len(text)):
            for size in range(self.shortest, min(self.longest, end) + 1):
                self._ends.setdefault(tuple(text[end - size : end]), end)
        self._text = list(text)


class Forgetful(Lookup):
    """Takes every text for a continuation of the one before."""

    def _read(self, text: Sequence[int]) -> None:
        self._text = list(text[: len(self._text)])
        super()._read(text)


class Itself(Lookup):
    """Finds the suffix at its own place."""

    def _read(self, text: Sequence[int]) -> None:
        super()._read([*text, -1])
        self._text = list(text)


@pytest.mark.parametrize("mutant", [Earliest, Forgetful, Itself])
def test_a_lookup_that_gets_it_wrong_is_found_out(mutant: Make) -> None:
    texts = [[1, 2, 8, 1, 2, 9, 1, 2], [1, 2, 7, 3, 1, 2], [1, 2, 7, 3, 1]]
    agrees(Lookup, texts, 2, (3, 1))
    with pytest.raises(AssertionError):
        agrees(mutant, texts, 2, (3, 1))
