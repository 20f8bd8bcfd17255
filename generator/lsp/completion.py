"""What can be written next: fields, forms, tags, aliases, payloads, names and ids."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from generator.lsp import origin, spot
from generator.lsp.spot import Spot
from generator.number.display import ROUNDED, WHOLE
from generator.number.expression import FUNCTIONS
from generator.number.printing import COUNTS, OUTCOME_COUNTS, STATUS_COUNTS
from generator.record.keys import KEYS, STATUSES
from generator.record.record import Record
from generator.record.source import Source
from generator.record.tree import Node
from generator.render.desk import Desk
from generator.trace.origin import about

TAGS = ("statement", "claim", "figure", "bar", "verbatim", "listing")
_PAIRED = TAGS[:4]
_NAME = re.compile(r"[\w.:/\"'\[\]-]*$")


@dataclass(frozen=True)
class Offer:
    """A text to write in place of what was begun, of a kind, with what it is."""

    kind: Literal["field", "form", "function", "tag", "alias", "payload", "key", "value", "name", "id"]
    label: str
    detail: str
    start: int
    written: str = ""

    @property
    def text(self) -> str:
        """What is inserted."""
        return self.written or self.label


def offers(desk: Desk, source: Source, text: str, offset: int) -> list[Offer]:
    """Everything that can stand at an offset of a text."""
    here = spot.at(text, offset)
    begun = _NAME.search(text, here.start, offset)
    start = begun.start() if begun else offset
    if here.kind in ("print", "condition"):
        return list(_in_expression(desk, source, text, here, start, offset))
    if here.kind == "tag":
        return [Offer("tag", each, "", start) for each in (*TAGS, *(f"end{each}" for each in _PAIRED))]
    if here.kind == "payload":
        return [Offer("payload", path, _question(desk, path), here.start) for path in desk.record.payloads]
    if here.kind == "key":
        return list(_in_front(source, text, here, offset))
    return list(_in_prose(desk.record, start))


def _in_expression(
    desk: Desk, source: Source, text: str, here: Spot, start: int, offset: int
) -> Iterator[Offer]:
    written = text[here.start : offset]
    if here.kind == "print" and "|" in written:
        yield from (
            Offer("form", name, "digits in brackets", start, f"{name}(2)") for name in (*ROUNDED, "ci")
        )
        yield from (Offer("form", name, "whole numbers", start) for name in WHOLE)
        return
    owner, dot, _ = text[start:offset].rpartition(".")
    if dot:
        found = origin.node(desk, source, owner)
        yield from _fields(found[1], start + len(owner) + 1) if found else ()
        return
    yield from (Offer("alias", name, path, start) for name, path in source.payloads.items())
    yield from (Offer("function", name, "", start, f"{name}(") for name in FUNCTIONS)
    rules = (*COUNTS, *STATUS_COUNTS, *OUTCOME_COUNTS)
    yield from (Offer("function", rule, "computed", start, f'computed("{rule}")') for rule in rules)


def _fields(node: Node, start: int) -> Iterator[Offer]:
    """The members of an object, by keys that a dot can lead to."""
    for key, value in node.members.items():
        if key.isidentifier():
            yield Offer("field", key, _described(value), start)


def _described(value: Node) -> str:
    if value.kind == "object":
        return f"{value.members['value'].lexeme} {about(value)}".strip() if "value" in value.members else "…"
    return value.lexeme[:60] if value.kind in ("number", "string") else value.kind


def _question(desk: Desk, path: str) -> str:
    asked = desk.record.payloads[path].root.members.get("question")
    return asked.text if asked is not None and asked.kind == "string" else ""


def _in_front(source: Source, text: str, here: Spot, offset: int) -> Iterator[Offer]:
    key, colon, _ = text[here.start : offset].partition(":")
    if colon and key == "status":
        at = here.start + len("status:") + 1
        yield from (Offer("value", each, "", min(at, offset)) for each in STATUSES)
    elif not colon:
        allowed = KEYS[source.kind]
        there = source.front
        for name in (*allowed.required, *allowed.optional):
            if name not in there:
                need = "required" if name in allowed.required else "optional"
                yield Offer("key", name, need, here.start, f"{name}: ")


def _in_prose(record: Record, start: int) -> Iterator[Offer]:
    for each in (*record.findings, *record.kills, *record.errata):
        yield Offer("id", each.id, each.title or each.string("reason"), start)
    yield from (Offer("name", each.text, each.reason, start) for each in record.terms)
