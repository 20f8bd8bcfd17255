"""Masks template markup character for character, so that what is left keeps its places."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

VALUE = "\ue000"
"""Stands for each character of an expression that prints."""

NOTHING = "\ue001"
"""Stands for each character of markup that prints nothing of its own."""

_STRING = r"\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'"
_MARKUP = re.compile(
    rf"\{{\{{(?:{_STRING}|[^'\"}}]|\}}(?!\}}))*\}}\}}"
    rf"|\{{%(?:{_STRING}|[^'\"%]|%(?!\}}))*%\}}"
    r"|\{#.*?#\}|(?P<open>\{[{%#])",
    re.DOTALL,
)
_OPENING = re.compile(r"\{%-?\s*claim\s(.*?)-?%\}", re.DOTALL)
_CLOSING = re.compile(r"\{%-?\s*endclaim\s*-?%\}")
_CONSTANT = re.compile(r"(?<![\w.])[0-9]+(?:/[0-9]+)?(?![\w.])")
_LABEL = re.compile(r"\[\^([^\]\s]+)\](:?)")
_ATTRIBUTES = re.compile(
    r"(?<![`~])(?<![`~] )\{:?[ ]*(?:[#.][\w-]+|[\w-]+=(?:\"[^\"\n]*\"|'[^'\n]*'|[\w-]+))(?:[ ][^{}\n]*)?\}"
)


@dataclass(frozen=True)
class Claim:
    """The stretch of text that a claim binds, and the constants that its comparison names."""

    start: int
    end: int
    constants: frozenset[str]


@dataclass(frozen=True)
class Masked:
    """Text as long as its source, in which markup is replaced; and its claims."""

    text: str
    claims: tuple[Claim, ...]


def mask(text: str) -> Masked:
    """Replace expressions, tags, comments, footnote labels and attribute lists; keep every line feed."""
    claims: list[Claim] = []
    opened: list[tuple[int, frozenset[str]]] = []

    def replace(match: re.Match[str]) -> str:
        markup = match[0]
        if opening := _OPENING.fullmatch(markup):
            opened.append((match.end(), constants_in(opening[1])))
        elif opened and _CLOSING.fullmatch(markup):
            start, constants = opened.pop()
            claims.append(Claim(start, match.start(), constants))
        return _blank(markup, VALUE if markup.startswith("{{") else NOTHING)

    text = text.replace("\r", " ").replace("\t", " ").replace("\0", " ")
    masked = "".join(_replaced(text, replace))
    return Masked(_attributes(_labels(masked)), tuple(claims))


def _replaced(text: str, replace: Callable[[re.Match[str]], str]) -> Iterator[str]:
    """The text with its markup replaced, up to markup that nothing closes: what follows stays as it is."""
    at = 0
    for match in _MARKUP.finditer(text):
        if match["open"]:
            break
        yield text[at : match.start()]
        yield replace(match)
        at = match.end()
    yield text[at:]


def constants_in(condition: str) -> frozenset[str]:
    """The constants that a comparison names, as they are written in it."""
    return frozenset(_CONSTANT.findall(condition))


def _blank(markup: str, char: str) -> str:
    return "\n".join(char * len(line) for line in markup.split("\n"))


def _labels(text: str) -> str:
    """Footnote labels print as numbers that the renderer counts, where the footnote exists."""
    defined = {match[1] for match in _LABEL.finditer(text) if match[2]}
    if not defined:
        return text
    return _LABEL.sub(lambda match: _blank(match[0], NOTHING) if match[1] in defined else match[0], text)


def _attributes(text: str) -> str:
    """Attribute lists print nothing; the text inside a title or label stays to be judged."""
    return _ATTRIBUTES.sub(_attribute_list, text)


_SPOKEN = re.compile(r"(?:title|alt|aria-[a-z]+|data-title)=(\"[^\"]*\"|'[^']*'|\S+)")


def _attribute_list(match: re.Match[str]) -> str:
    kept = [spoken.span(1) for spoken in _SPOKEN.finditer(match[0])]
    return "".join(
        char if any(start <= place < end for start, end in kept) else NOTHING
        for place, char in enumerate(match[0])
    )
