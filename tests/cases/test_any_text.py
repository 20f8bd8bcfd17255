"""Text that holds no numeral and no number word passes both sides; one numeral put into it does not."""

from __future__ import annotations

import re
import unicodedata
from html import escape
from pathlib import Path

from case_table import audited, judged
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from generator.gate.numerals import characters
from generator.gate.numerals import vocabulary as words

SETTINGS = settings(
    derandomize=True,
    max_examples=80,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.filter_too_much],
)

MARKUP = "\\`*_{}[]<>()#+-.!|&~^$=:%\"'/@"
"""What Markdown, HTML and the template language read otherwise than as text."""

COUNTS = {*words.CARDINALS, *words.ORDINALS, *words.MULTIPLES, "first", "second", "couple", "pair", "quarter"}
COUNTS |= {"scores", "fold"}
NUMERALS = [*"7٣२７½Ⅷ⑦❼三〇", "𝟕", "XIV"]
"""One of each kind of numeral: decimal digits, letters and others that count, Chinese ones, Roman ones."""


def _silent(char: str) -> bool:
    """Whether neither a character nor anything that it stands for counts."""
    return not any(each.isnumeric() for each in unicodedata.normalize("NFKD", char) + characters.read(char))


TEXTS = st.text(
    st.characters(
        codec="utf-8",
        exclude_categories=("Nd", "Nl", "No", "Cs", "Co", "Cn", "Cc", "Cf", "Zl", "Zp"),
        exclude_characters=MARKUP,
    ).filter(_silent),
    min_size=1,
    max_size=60,
).filter(str.strip)


def _plain(text: str) -> str:
    return unicodedata.normalize("NFKC", "".join(characters.read(char) for char in text))


@SETTINGS
@given(TEXTS)
def test_text_that_counts_nothing_passes_both_sides(tmp_path: Path, text: str) -> None:
    plain = _plain(text)
    assume(not any(word in plain.lower() for word in COUNTS) and not re.search("[IVX]{2}", plain))
    assert judged(f"Words {text} words.\n").refusals == []
    assert audited(tmp_path, f"<p>Words {escape(text)} words.</p>").refusals == []


@SETTINGS
@given(TEXTS, st.sampled_from(NUMERALS), TEXTS)
def test_a_numeral_in_any_text_is_refused_by_both_sides(
    tmp_path: Path, before: str, numeral: str, after: str
) -> None:
    text = f"{before} {numeral} {after}"
    assert {each.code for each in judged(f"Words {text} words.\n").refusals} >= {"untraced-number"}
    page = f"<p>Words {escape(text)} words.</p>"
    assert {each.code for each in audited(tmp_path, page).refusals} >= {"untraced-number"}
