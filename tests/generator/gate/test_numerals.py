"""What counts as a number in plain text."""

from __future__ import annotations

import sys
import unicodedata

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from generator.gate.numerals import Names, characters, find, judge
from generator.gate.numerals import vocabulary as words

COUNTING = ("Nd", "Nl", "No")

RELATIONS = {
    "half": "1/2",
    "twice": "2",
    "tenfold": "10",
    "a third": "1/3",
    "two thirds": "2/3",
    "three-quarters": "3/4",
    "none": "0",
    "a hundredfold gain": "100",
}


def _refused(text: str) -> list[str]:
    return [hit.text for hit in find(text) if hit.refused]


@pytest.mark.parametrize("exemption", words.EXEMPTIONS, ids=lambda exemption: exemption.name)
def test_each_exempt_phrase_passes_and_what_stands_beside_it_does_not(exemption: words.Exemption) -> None:
    assert _refused(exemption.passes) == []
    assert _refused(exemption.refused) != []


def test_every_character_of_a_number_category_counts() -> None:
    missed = [
        hex(code)
        for code in range(sys.maxunicode + 1)
        if unicodedata.category(chr(code)) in COUNTING and not find(chr(code))
    ]
    assert missed == []


@pytest.mark.parametrize("word", [*words.CARDINALS, *words.ORDINALS, *words.MULTIPLES])
def test_every_word_of_the_lists_is_found_alone_and_in_capitals(word: str) -> None:
    assert _refused(f"There are {word} here.")
    assert _refused(f"There are {word.upper()} here.")


@pytest.mark.parametrize(("text", "constant"), RELATIONS.items())
def test_words_that_relate_name_the_constant_that_a_claim_needs(text: str, constant: str) -> None:
    assert [hit.relation for hit in find(text) if hit.refused] == [constant]


def test_positions_are_those_of_the_text_that_was_given() -> None:
    text = "ein Maß: th\u00adree, ½, １２ and 1\u200b2"
    assert [text[hit.start : hit.end] for hit in find(text)] == ["th\u00adree", "½", "１２", "1\u200b2"]


def test_a_name_covers_the_whole_numeral_or_nothing_of_it() -> None:
    names = Names(["GPT-4", "GPT-4-turbo", "top-1"])
    assert judge("GPT-4 and GPT-4-turbo at top-1.", names).refused == ()
    assert [hit.text for hit in judge("GPT-4.5 at top-10", names).refused] == ["4.5", "10"]
    assert set(judge("GPT-4-turbo", names).names) == {"GPT-4-turbo"}


def test_a_numeral_in_a_word_is_no_first_group_of_the_next_one() -> None:
    names = Names(["fp16"])
    assert [hit.text for hit in judge("in fp16 188 fail", names).refused] == ["188"]
    assert [hit.text for hit in judge("of 16 188 fail", names).refused] == ["16 188"]


def test_a_name_may_be_wrapped_over_two_lines() -> None:
    assert judge("Llama\n3 is used", Names(["Llama 3"])).refused == ()


def test_an_id_passes_only_where_it_is_known() -> None:
    judged = judge("F-22 and F-23", Names([]), {"F-22"})
    assert (judged.refused, [hit.text for hit in judged.unknown]) == ((), ["F-23"])


_LETTERS = st.characters(
    codec="utf-8",
    exclude_categories=("Nd", "Nl", "No", "Lo", "So", "Cs", "Co", "Cn"),
    exclude_characters="٪٫٬",
)


_STEMS = {*words.CARDINALS, *words.ORDINALS, *words.MULTIPLES, "first", "second", "couple", "pair", "quarter"}


@given(st.text(_LETTERS, max_size=60))
def test_text_without_numerals_and_number_words_passes(text: str) -> None:
    plain = unicodedata.normalize("NFKC", "".join(characters.read(char) for char in text)).lower()
    assume(not any(stem in plain for stem in _STEMS) and not any(char.isnumeric() for char in plain))
    assert [hit for hit in find(text, claims=False) if hit.refused and hit.kind != "roman"] == []


@given(st.text(max_size=40), st.sampled_from("0123456789½Ⅷ③٣九"), st.text(max_size=40))
def test_a_digit_is_found_whatever_stands_around_it(before: str, digit: str, after: str) -> None:
    text = before + digit + after
    assert any(hit.start <= len(before) < hit.end for hit in find(text))


@given(st.text(max_size=80))
def test_no_text_breaks_the_finder_and_hits_stay_inside_it(text: str) -> None:
    for hit in find(text):
        assert 0 <= hit.start < hit.end <= len(text)
        assert hit.text == text[hit.start : hit.end]
