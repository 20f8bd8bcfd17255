"""Literals put into expressions, and claims and rules made false, in the sources and on the pages."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import partial
from html import escape

from generator.record.source import Source
from generator.selftest import exact
from generator.selftest.fault import Fault, made
from generator.selftest.mark import Mark
from generator.selftest.sources import front_key
from generator.selftest.traces import on_page
from generator.selftest.workplace import Workplace

_EXPRESSION = re.compile(r"\{\{-?")
_CLAIM = re.compile(r"(?<=\{% claim )(.*?)(?=-?%\})", re.DOTALL)
_STATUS = re.compile(r'<span class="badge status status-([a-z]+)">\1<')
_RULES = ("holds_when", "null_when")
_FIELDS = ("old", "new")


def literals(workplace: Workplace) -> Iterator[Fault]:
    """A literal in every expression of a source, and in the mark of every number."""
    kind = "a source: literal in an expression"
    for each in workplace.record.sources:
        for found in _EXPRESSION.finditer(each.text):
            text = f"{each.text[: found.end()]} 1 * {each.text[found.end() :]}"
            yield _fault(kind, each, found.start(), "literal-in-expression", text)
        for key in _FIELDS:
            if each.string(key):
                text = front_key(each.text, key, f"1 * {each.string(key)}")
                yield _fault(kind, each, 0, "literal-in-expression", text)
    for mark in workplace.marks:
        if tree := _as_expression(mark):
            page = partial(_derived, mark, ["*", "1", tree])
            yield on_page("a page: literal in an expression", mark, mark.text, "literal-in-expression", page)
    for mark in workplace.marks:
        tree = json.loads(mark.attributes.get("data-expression", "[]"))
        for path, pointer, _ in list(exact.leaves(tree)):
            page = partial(mark.changed, "data-expression", json.dumps(_without(tree, pointer)))
            what = f"1 in place of {path}{pointer}"
            yield on_page("a page: literal in place of a field", mark, what, "literal-in-expression", page)


def claims(workplace: Workplace) -> Iterator[Fault]:
    """Every claim and every rule turned into its opposite."""
    for each in workplace.record.sources:
        for found in _CLAIM.finditer(each.text):
            text = f"{each.text[: found.start()]}not ({found[1].strip()}) {each.text[found.end() :]}"
            yield _fault("a source: claim made false", each, found.start(), "claim-false", text)
    for each in workplace.record.findings:
        for key in _RULES:
            if each.string(key):
                text = front_key(each.text, key, f"not ({each.string(key)})")
                yield _fault("a source: rule made false", each, 0, "verdict-mismatch", text)
    for mark in workplace.marks:
        if condition := mark.attributes.get("data-claim"):
            page = partial(mark.changed, "data-claim", json.dumps(["not", json.loads(condition)]))
            yield on_page("a page: claim made false", mark, condition[:80], "claim-false", page)
    yield from _statuses(workplace)


def _statuses(workplace: Workplace) -> Iterator[Fault]:
    """Every badge that is bound to no condition on its page, saying something else."""
    for path in workplace.pages:
        page = workplace.text(path)
        for found in _STATUS.finditer(page):
            other = "holds" if found[1] != "holds" else "null"
            badge = found[0].replace(found[1], other)
            line = page.count("\n", 0, found.start()) + 1
            changed = made({path: page[: found.start()] + badge + page[found.end() :]})
            yield Fault("a page: another status", path, line, found[1], {"verdict-mismatch": 1}, changed)


def _fault(kind: str, source: Source, offset: int, code: str, text: str) -> Fault:
    line = source.text.count("\n", 0, offset) + 1
    what = source.text[offset : offset + 60].partition("\n")[0]
    return Fault(kind, source.path, line, what, {code: 1}, lambda: {source.path: text})


def _as_expression(mark: Mark) -> object:
    """What the mark of a number comes from, in the grammar of expressions."""
    if "data-expression" in mark.attributes:
        return json.loads(mark.attributes["data-expression"])
    if mark.is_leaf and not mark.is_text:
        return [mark.attributes[name] for name in ("data-src", "data-ptr", "data-sha256")]
    return None


def _derived(mark: Mark, tree: object) -> str:
    """The page with the number as the result of an expression."""
    form = mark.attributes["data-format"]
    tag = (
        f'<data class="num derived" value="1/1" data-expression="{escape(json.dumps(tree))}"'
        f' data-format="{escape(form)}">'
    )
    return mark.page[: mark.start] + tag + mark.page[mark.opened :]


def _without(tree: object, pointer: str) -> object:
    """An expression with a literal in place of a field."""
    if not isinstance(tree, list):
        return tree
    if tree[1:2] == [pointer]:
        return "1"
    return [_without(each, pointer) for each in tree]
