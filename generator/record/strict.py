"""Strict JSON: what Python's reader lets through and a record may not hold is refused at its place."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from decimal import Decimal
from typing import NoReturn

from generator.record.encoding import HIDDEN, UNPRINTABLE
from generator.record.tree import Node, Text, grow
from generator.report.refusal import Refusal, Refused

DEPTH_LIMIT = 100
"""Levels of nesting; the envelope needs fewer than ten."""

LEXEME_LIMIT = 400
"""Characters of the longest number, enough for any double written out in full."""

_STRING = rb'"(?:[^"\\]|\\.)*+"'
_BRACKETS = re.compile(_STRING + rb"|[\[{}\]]", re.DOTALL)
_CONSTANTS = re.compile(_STRING + rb"|(-?(?:NaN|Infinity))", re.DOTALL)
_ESCAPED = re.compile(r"\\u([0-9a-fA-F]{4})")
_SURROGATE = re.compile("[\ud800-\udfff]")


class _Forbidden(Exception):
    """Something that is JSON to Python and not to us: a constant, a number, a repeated key."""


def load(path: str, data: bytes, text: str) -> object:
    """The document as Python objects, decimals exact; raises Refused at the place of what is forbidden."""
    try:
        document: object = json.loads(
            text,
            object_pairs_hook=_unique,
            parse_constant=_constant,
            parse_float=_decimal,
            parse_int=_integer,
        )
    except json.JSONDecodeError as error:
        _refuse(path, error.lineno, error.colno, "bad-payload", "", f"Not JSON: {error.msg}.")
    except RecursionError:
        document = None
    except _Forbidden:
        _check_constants(path, data)
        _check_nodes(path, _tree(path, data, text))
        raise
    _check_depth(path, data)
    escaped = (chr(int(code, 16)) for code in _ESCAPED.findall(text))
    if (not text.isascii() and _unfit(text)) or any(map(_unfit, escaped)):
        _check_characters(path, grow(data))
    return document


def _refuse(path: str, line: int, column: int, code: str, text: str, message: str) -> NoReturn:
    raise Refused([Refusal(path, line, column, code, text, message)])


def _tree(path: str, data: bytes, text: str) -> Node:
    """The tree of a document that was not read to its end; raises Refused where the rest of it is no JSON."""
    try:
        json.loads(text, parse_float=str, parse_int=str)
    except json.JSONDecodeError as error:
        _refuse(path, error.lineno, error.colno, "bad-payload", "", f"Not JSON: {error.msg}.")
    except RecursionError:
        _check_depth(path, data)
    return grow(data)


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise _Forbidden("a key written twice")
    return members


def _constant(name: str) -> NoReturn:
    raise _Forbidden(name)


def _integer(lexeme: str) -> int:
    if not in_range(lexeme):
        raise _Forbidden(lexeme[:40])
    return int(lexeme)


def _decimal(lexeme: str) -> Decimal:
    if not in_range(lexeme):
        raise _Forbidden(lexeme[:40])
    return Decimal(lexeme)


def in_range(lexeme: str) -> bool:
    """Whether a number has an exact value that fits in memory: neither overflow nor underflow."""
    if len(lexeme) > LEXEME_LIMIT:
        return False
    value = float(lexeme)
    nonzero = any(digit in "123456789" for digit in lexeme.lower().partition("e")[0])
    return not math.isinf(value) and (value != 0 or not nonzero)


def _check_constants(path: str, data: bytes) -> None:
    """Refuse the first NaN or infinity."""
    for match in _CONSTANTS.finditer(data):
        if match[1]:
            place, name = Text(data), match[1].decode()
            line, column = place.line(match.start()), place.column(match.start())
            _refuse(path, line, column, "bad-payload", name, f"{name} is no JSON number.")


def _check_nodes(path: str, root: Node) -> None:
    """Refuse the first key that is written twice, and the first number out of range."""
    for node in root.walk():
        seen: set[str] = set()
        for key, _ in node.pairs():
            if key.text in seen:
                message = f"The key {key.lexeme} is written twice in one object."
                _refuse(path, key.line, key.column, "bad-payload", key.text, message)
            seen.add(key.text)
        if node.kind == "number" and not in_range(node.lexeme):
            message = "The number is beyond the range of a double, or too long."
            _refuse(path, node.line, node.column, "bad-payload", node.lexeme[:40], message)


def _check_depth(path: str, data: bytes) -> None:
    """Refuse at the bracket that opens one level too many."""
    depth = 0
    for match in _BRACKETS.finditer(data):
        if match[0] in b"[{":
            depth += 1
            if depth > DEPTH_LIMIT:
                place = Text(data)
                line, column = place.line(match.start()), place.column(match.start())
                _refuse(path, line, column, "bad-payload", "", f"Nested deeper than {DEPTH_LIMIT} levels.")
        elif match[0] in b"]}":
            depth -= 1


def _unfit(text: str) -> str:
    """What is wrong with the first character that no page can show as it is; empty where there is none."""
    if _SURROGATE.search(text):
        return "The string holds half of a surrogate pair, which is no character."
    found = HIDDEN.search(text) or UNPRINTABLE.search(text)
    return f"U+{ord(found[0]):04X} shows nothing and can hide a number. Take it out." if found else ""


def _check_characters(path: str, root: Node) -> None:
    """Refuse the first string, key or value, with a character that no page can show as it is."""
    for node in root.walk():
        for string in _strings(node):
            if message := _unfit(string.text):
                _refuse(path, string.line, string.column, "bad-encoding", "", message)


def _strings(node: Node) -> Iterator[Node]:
    if node.kind == "string":
        yield node
    yield from (key for key, _ in node.pairs())
