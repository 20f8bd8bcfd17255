"""How a character reads to a person: as a digit, as an ASCII letter, as itself, or not at all."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

BLANK = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u20e3\u3164\uffa0")
"""Characters outside category Cf that show nothing of their own."""

COUNTING_SIGNS = frozenset("٪٫٬؉؊")
"""Arabic percent, decimal and thousands signs, which normalisation leaves alone."""

_PICTURES = re.compile(
    r"KEYCAP|HUNDRED POINTS|(FIRST|SECOND|THIRD) PLACE|DIE FACE|INPUT SYMBOL FOR NUMBERS"
    r"|CLOCK FACE|PLAYING CARD (ACE|TWO|THREE|FOUR|FIVE|SIX|SEVEN|EIGHT|NINE|TEN)|DOMINO TILE"
    r"|MAHJONG TILE (ONE|TWO|THREE|FOUR|FIVE|SIX|SEVEN|EIGHT|NINE)|DINGBAT .* DIGIT"
    r"|KANGXI RADICAL (ONE|TWO|EIGHT|TEN)$"
    r"|NO ONE UNDER EIGHTEEN"
)
"""Names of pictures that show a number and that normalisation leaves alone."""

_LOOKALIKE_PAIRS = (
    "АA ВB ЕE ЅS ІI ЈJ КK МM НH ОO РP СC ТT ХX УY аa еe ѕs іi јj оo рp сc хx уy һh ԁd ԝw ѵv "
    "ΑA ΒB ΕE ΖZ ΗH ΙI ΚK ΜM ΝN ΟO ΡP ΤT ΥY ΧX οo ιi νv ɡg ɩi ıi"
)
_LOOKALIKES = {pair[0]: pair[1] for pair in _LOOKALIKE_PAIRS.split()}
"""Cyrillic and Greek letters that cannot be told from Latin ones in print."""

DIGIT = "0"
"""Stands for any character that counts, so that one expression over ASCII finds all of them."""


@lru_cache(maxsize=4096)
def read(char: str) -> str:
    """What a reader sees: "" for nothing, DIGIT for a digit of any script, ASCII for its copies."""
    if char.isascii():
        return char
    if char in COUNTING_SIGNS or char.isnumeric() or _is_picture(char):
        return DIGIT
    if char in BLANK or unicodedata.category(char) == "Cf" or _is_variation(char):
        return ""
    if char in _LOOKALIKES:
        return _LOOKALIKES[char]
    plain = unicodedata.normalize("NFKC", char)
    if plain != char and any(each.isnumeric() or (each.isascii() and each.isalnum()) for each in plain):
        return "".join(DIGIT if each.isnumeric() else each for each in plain)
    return char


def fold(text: str) -> tuple[str, Sequence[int]]:
    """The text as it reads, and the position in the given text of each of its characters and its end."""
    if text.isascii():
        return text, range(len(text) + 1)
    changed = {char for char in set(text) if read(char) != char}
    if not changed:
        return text, range(len(text) + 1)
    folded: list[str] = []
    places: list[int] = []
    for place, char in enumerate(text):
        seen = read(char) if char in changed else char
        folded.append(seen)
        places.extend([place] * len(seen))
    places.append(len(text))
    return "".join(folded), places


def lower(text: str) -> str:
    """Lower case, one character for one."""
    lowered = text.lower()
    if len(lowered) == len(text):
        return lowered
    return "".join(char.lower() if len(char.lower()) == 1 else char for char in text)


def _is_variation(char: str) -> bool:
    return "\ufe00" <= char <= "\ufe0f" or "\U000e0100" <= char <= "\U000e01ef"


def _is_picture(char: str) -> bool:
    return unicodedata.category(char) == "So" and bool(_PICTURES.match(unicodedata.name(char, "")))
