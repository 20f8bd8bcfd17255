"""Finds what a stylesheet prints: the strings and counters of its content declarations."""

from __future__ import annotations

import re
from collections.abc import Iterator

_CONTENT = re.compile(
    r"(?<![\w-])content\s*:\s*((?:\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'|[^;{}\"'])*)", re.DOTALL
)
_STRING = re.compile(r"\"((?:[^\"\\]|\\.)*)\"|'((?:[^'\\]|\\.)*)'", re.DOTALL)
_ESCAPE = re.compile(r"\\([0-9a-fA-F]{1,6})[ \t\r\n]?|\\(.)", re.DOTALL)
_COMMENT = re.compile(r"(\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*')|/\*.*?\*/", re.DOTALL)
_MADE = re.compile(r"\b(?:counters?|attr)\s*\(\s*([\w-]*)")

PROVED = frozenset(
    {"data-src", "data-ptr", "data-line", "data-span", "data-sha256", "data-expression", "data-claim"}
)
"""Attributes that a stylesheet may print: on marks they are proved, elsewhere they are judged as text."""


def printed(css: str) -> Iterator[tuple[int, str, bool]]:
    """Offset and text of every content string; True where a counter or an attribute prints instead."""
    plain = _COMMENT.sub(lambda match: match[1] or " " * len(match[0]), css)
    for declaration in _CONTENT.finditer(plain):
        for string in _STRING.finditer(plain, *declaration.span(1)):
            yield string.start(), _ESCAPE.sub(_character, string[1] or string[2] or ""), False
        bare = _STRING.sub("", declaration[1])
        for made in _MADE.finditer(bare):
            if not (made[0].startswith("attr") and made[1] in PROVED):
                yield declaration.start(1), made[0], True


def _character(match: re.Match[str]) -> str:
    if match[2] is not None:
        return "" if match[2] == "\n" else match[2]
    code = int(match[1], 16)
    return chr(code) if 0 < code < 0x110000 and not 0xD800 <= code < 0xE000 else "\ufffd"
