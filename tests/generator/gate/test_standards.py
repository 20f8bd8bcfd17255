"""Names of standards pass as whole names, and hold nothing that could be a result."""

from __future__ import annotations

import pytest

from generator.gate.numerals import Names, judge, standards
from generator.gate.numerals.standards import DIGESTS, ENCODINGS, LICENCES, NUMBERS, PROTOCOLS, SHORTENED

EVERY = [*ENCODINGS, *DIGESTS, *PROTOCOLS, *NUMBERS, *LICENCES, *SHORTENED]
NOBODY = Names([])


@pytest.mark.parametrize("name", EVERY)
def test_a_name_passes_alone_and_in_a_sentence_and_no_longer_when_a_digit_follows(name: str) -> None:
    assert judge(name, NOBODY).refused == ()
    assert judge(f"It reads ({name}), as said.", NOBODY).refused == ()
    assert judge(f"{name}7", NOBODY).refused
    assert judge(f"7{name}", NOBODY).refused


def test_every_name_holds_a_digit_and_a_letter_so_that_none_is_a_mere_number() -> None:
    assert [name for name in EVERY if name.isalpha() or not any(char.isalpha() for char in name)] == []


def test_a_stretch_longer_than_the_name_is_not_covered() -> None:
    assert standards.covers("UTF-8", 4, 5)
    assert not standards.covers("UTF-8.5", 4, 7)
    assert not standards.covers("of 8", 3, 4)
