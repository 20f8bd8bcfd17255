"""Gives each number of a finished page an address: its fields, never its value, so that it stays."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import cache
from html import unescape
from pathlib import PurePosixPath

from generator.number.number import Derived, Made, Number
from generator.number.prefix import leaves
from generator.render.page import Page

_MARK = re.compile(r'<data class="num(?: text| derived)?" [^>]*>')
_LEAF = re.compile(r' data-src="([^"]*)" data-ptr="([^"]*)"')
_EXPRESSION = re.compile(r' data-expression="([^"]*)"')


def addressed(pages: Iterable[Page]) -> Iterator[Page]:
    """Pages whose numbers carry an id once they are finished."""
    for page in pages:
        yield replace(page, finish=_then(page.finish))


def _then(finish: Callable[[str], str]) -> Callable[[str], str]:
    return lambda html: numbered(finish(html))


def numbered(html: str) -> str:
    """A page with an id on each number; where fields repeat, they are counted."""
    seen: Counter[str] = Counter()

    def place(match: re.Match[str]) -> str:
        name = _name(match[0])
        if not name:
            return match[0]
        seen[name] += 1
        count = f"-{seen[name]}" if seen[name] > 1 else ""
        return f'{match[0][:-1]} id="n-{name}{count}">'

    return _MARK.sub(place, html)


def _name(mark: str) -> str:
    """What the fields of a number are called."""
    if leaf := _LEAF.search(mark):
        return _field(leaf[1], leaf[2])
    if expression := _EXPRESSION.search(mark):
        return _expression(expression[1])
    return ""


def names(number: Number) -> Iterator[str]:
    """What the addresses of a number begin with, one for each of its parts."""
    if isinstance(number, Derived):
        yield f"n-{_expression(json.dumps(number.prefix))}"
    elif not isinstance(number, Made):
        yield from (f"n-{_field(leaf.payload.path, leaf.pointer)}" for leaf in number.leaves)


@cache
def _field(path: str, pointer: str) -> str:
    """A field by its payload's name and its pointer, without what every pointer has."""
    tokens = [unescape(token) for token in pointer.split("/")[1:]]
    tokens = tokens[tokens[:1] == ["results"] :]
    tokens = tokens[:-1] if tokens[-1:] == ["value"] else tokens
    return _plain(".".join([PurePosixPath(path).stem, *tokens]))


@cache
def _expression(written: str) -> str:
    fields = [pointer.removesuffix("/value") for _, pointer, _ in leaves(json.loads(unescape(written)))]
    return _plain("-".join(["derived", *(pointer.rpartition("/")[2] for pointer in fields)]))


def _plain(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9_.-]+", "-", text)
