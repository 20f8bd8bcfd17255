"""Where what stands at a place of a source comes from: in words for a reader, and as a file and a line."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from generator.lsp import spot
from generator.lsp.spot import Spot
from generator.number import exact, expression, printing
from generator.number.evaluate import REFERENCE
from generator.number.exact import Scope
from generator.number.fragment import Fragment
from generator.number.number import Leaf, Made
from generator.record.payload import Payload
from generator.record.source import Source
from generator.record.terms import PATH as TERMS
from generator.record.tree import Node
from generator.render.desk import Desk
from generator.report.refusal import Refused
from generator.trace import explanation


@dataclass(frozen=True)
class Place:
    """A stretch of a file: line and column from 1, in characters, and how long it is."""

    path: str
    line: int = 1
    column: int = 1
    length: int = 0


@dataclass(frozen=True)
class Told:
    """What is said of a stretch of a text."""

    start: int
    end: int
    lines: tuple[str, ...]


def scope(desk: Desk, source: Source) -> Scope:
    """The payloads that a source names."""
    return Scope(source.payloads, desk.record.payloads)


def node(desk: Desk, source: Source, name: str) -> tuple[Payload, Node] | None:
    """The payload and the value that a field's name leads to, as far as it goes."""
    alias, keys = spot.keys(name)
    payload = desk.record.payloads.get(source.payloads.get(alias, ""))
    if payload is None:
        return None
    found = payload.root
    for key in keys:
        if key not in found.members:
            return None
        found = found.members[key]
    return payload, found


def tell(desk: Desk, source: Source, text: str, offset: int) -> Told | None:
    """What is known of what stands at an offset, None where nothing is."""
    here = spot.at(text, offset)
    if here.kind in ("print", "condition"):
        return _expression(desk, source, text, here)
    if here.kind == "payload" and (payload := desk.record.payloads.get(_value(text, here))):
        return Told(
            here.start, here.end, (payload.path, f"sha256 {payload.sha256}", f"schema {payload.schema}")
        )
    return _reference(desk, text, here, offset) or _term(desk, text, here, offset)


def place(desk: Desk, source: Source, text: str, offset: int) -> Place | None:
    """Where what stands at an offset is written, None where that is nowhere else."""
    here = spot.at(text, offset)
    if here.kind in ("print", "condition"):
        named = spot.field(text, here, offset)
        return _field(desk, source, named[0][: _upto(named[0], offset - named.start())]) if named else None
    if here.kind == "payload" and _value(text, here) in desk.record.payloads:
        return Place(_value(text, here))
    for found in _within(REFERENCE, text, here, offset):
        stands = _by_id(desk, found[0])
        return Place(stands.path, *stands.place("id")) if stands else None
    term = next((each for each in desk.record.terms if _covers(text, here, offset, each.text)), None)
    return Place(TERMS, term.line) if term else None


def _upto(name: str, offset: int) -> int:
    """How much of a field's name is meant where an offset points into it: up to the key there."""
    ends = [each.end() for each in spot.KEY.finditer(name)]
    alias = re.match(r"\w*", name)
    return next((end for end in [alias.end() if alias else 0, *ends] if offset <= end), len(name))


def _field(desk: Desk, source: Source, name: str) -> Place | None:
    found = node(desk, source, name)
    if found is None:
        return None
    payload, value = found
    value = value.members.get("value", value)
    return Place(payload.path, value.line, value.column, len(value.lexeme) if value.kind != "object" else 1)


def _expression(desk: Desk, source: Source, text: str, here: Spot) -> Told | None:
    """The value of an expression and everything behind it, or why it has none."""
    whole = Fragment(source.path, text, 1, 1)
    try:
        lines = tuple(_value_lines(desk, scope(desk, source), whole, here))
    except Refused as refused:
        lines = tuple(f"{each.code}: {each.message}" for each in refused.refusals)
    return Told(here.start, here.end, lines)


def _value_lines(desk: Desk, names: Scope, whole: Fragment, here: Spot) -> Iterator[str]:
    if here.kind == "condition":
        judged = exact.judge(names, whole, expression.condition(whole, here.start, here.end))
        yield from explanation.condition(desk.record, "the condition", judged.prefix)
        yield from _digests(judged.leaves)
        return
    number = printing.number(names, whole, expression.output(whole, here.start, here.end))
    yield from explanation.number(desk.record, desk.tally, number)
    if not isinstance(number, Made):
        yield from _digests(number.leaves)


def _digests(leaves: Iterable[Leaf]) -> Iterator[str]:
    """The digest of every payload behind a number, once."""
    digests = {leaf.payload.path: leaf.payload.sha256 for leaf in leaves}
    yield from (f"sha256 {digest}  {path}" for path, digest in digests.items())


def _reference(desk: Desk, text: str, here: Spot, offset: int) -> Told | None:
    """What a finding, a kill criterion or an erratum is called, and how it stands."""
    for found in _within(REFERENCE, text, here, offset):
        stands = _by_id(desk, found[0])
        if stands:
            status = desk.evaluations[stands.path].status
            judged = (f"judged: {status.words}",) if status else ()
            return Told(*found.span(), (f"{found[0]}  {stands.path}", stands.title, *judged))
    return None


def _term(desk: Desk, text: str, here: Spot, offset: int) -> Told | None:
    """Why a name may hold a numeral."""
    for each in desk.record.terms:
        if _covers(text, here, offset, each.text):
            return Told(here.start, here.end, (f"{each.text}  {TERMS}:{each.line}", each.reason))
    return None


def _by_id(desk: Desk, name: str) -> Source | None:
    record = desk.record
    return next((each for each in (*record.findings, *record.kills, *record.errata) if each.id == name), None)


def _within(pattern: re.Pattern[str], text: str, here: Spot, offset: int) -> Iterator[re.Match[str]]:
    """Matches of a pattern that an offset points into."""
    for found in pattern.finditer(text, here.start, here.end):
        if found.start() <= offset <= found.end():
            yield found


def _covers(text: str, here: Spot, offset: int, name: str) -> bool:
    return any(True for _ in _within(re.compile(re.escape(name)), text, here, offset))


def _value(text: str, here: Spot) -> str:
    return text[here.start : here.end].strip().strip("\"'")
