"""Finds the fields of a new erratum: the old one among those that a statement stands on, and the new one."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

from generator.number import display, erratum
from generator.number.correction import Correction
from generator.number.evaluate import Evaluation
from generator.number.number import Bracketed, Shown
from generator.number.piece import Piece, Printed
from generator.record import pointer
from generator.record.payload import Payload
from generator.record.record import Record

_NAME = re.compile(r"[A-Za-z_]\w*")


class Unfit(ValueError):
    """A request that no erratum can be made of; the message says why."""


@dataclass(frozen=True)
class Request:
    """What is asked for: the statement, the reason, and for a value the fields by payload and pointer."""

    finding: str
    statement: str
    kind: str
    reason: str
    payload: str = ""
    field: str = ""
    old_field: str = ""


def lines(record: Record, current: Correction, finding: Evaluation, request: Request) -> Iterator[str]:
    """The lines of an erratum that name its payloads and both fields; raises Unfit."""
    if request.payload not in record.payloads:
        raise Unfit(f"There is no payload {request.payload or 'named with --payload'} in this record.")
    new = record.payloads[request.payload]
    stands = list(erratum.within(finding.body, request.statement))
    asked = request.old_field or request.field
    keys = _keys(request.field, new)
    path = _payload(stands, current, asked)
    former = _keys(asked, record.payloads[path])
    aliases = {path: "old"} | ({new.path: "new"} if new.path != path else {})
    form = _form(stands, current, (path, asked), _resolves(new, f"{request.field}/low"))
    form = "" if _alike(record.payloads[path], asked, new, request.field, form) else form
    yield "payloads:"
    yield from (f"  {alias}: {file}" for file, alias in aliases.items())
    yield f"old: {_expression('old', former)}{form}"
    yield f"new: {_expression(aliases[new.path], keys)}{form}"


def _payload(stands: list[Piece], current: Correction, asked: str) -> str:
    """The one payload whose field of that pointer the statement stands on today."""
    cited = {place for piece in stands for place in erratum.named(piece)}
    today = {current.fields[place].place if place in current.fields else place for place in cited}
    paths = sorted({path for path, where in today if where == asked or where.startswith(f"{asked}/")})
    if len(paths) == 1:
        return paths[0]
    listed = ", ".join(" ".join(place) for place in sorted(today)) or "nothing"
    which = "more than one payload" if paths else "no payload"
    raise Unfit(f"The statement cites {asked} of {which}. It stands on {listed}; name it with --old-field.")


def _form(stands: list[Piece], current: Correction, old: tuple[str, str], estimate: bool) -> str:
    """The form in which the statement prints the old field, with its interval where the new one has one."""
    for piece in stands:
        number = piece.number if isinstance(piece, Printed) else None
        for part in _parts(number) if isinstance(number, (Shown, Bracketed)) else ():
            place = current.leaf(part.leaf).place
            if place == (old[0], f"{old[1]}/value") and isinstance(number, Bracketed) and estimate:
                return f" | {_interval(part.form)}"
            if place in (old, (old[0], f"{old[1]}/value")):
                return "" if part.form in ("plain", "text") else f" | {part.form}"
    return ""


def _alike(old: Payload, asked: str, new: Payload, field: str, form: str) -> bool:
    """Whether a form that shows one number would show both values alike, or one of them not at all."""
    before, after = (_lexeme(payload, where) for payload, where in ((old, asked), (new, field)))
    if not form or "ci" in form or not before or not after:
        return False
    read = display.named(form.removeprefix(" | "))
    try:
        return display.lexeme(before, read) == display.lexeme(after, read)
    except display.Undisplayable:
        return True


def _lexeme(payload: Payload, where: str) -> str:
    """The number under a pointer, or the value of the quantity there; empty where there is none."""
    for each in (where, f"{where}/value"):
        if _resolves(payload, each) and payload.at(each).kind == "number":
            return payload.at(each).lexeme
    return ""


def _parts(number: Shown | Bracketed) -> tuple[Shown, ...]:
    return (number.value, number.low, number.high) if isinstance(number, Bracketed) else (number,)


def _interval(form: str) -> str:
    """The form ci that prints its parts in a form."""
    name, _, digits = form.rstrip(")").partition("(")
    return f"ci({digits}{', signed=true' if name == 'signed' else ''})"


def _resolves(payload: Payload, where: str) -> bool:
    try:
        payload.at(where)
    except KeyError:
        return False
    return True


def _keys(where: str, payload: Payload) -> tuple[str, ...]:
    """The keys that a pointer names in a payload; raises Unfit."""
    try:
        keys = pointer.parse(where)
        if keys and _resolves(payload, where):
            return keys
    except ValueError as error:
        raise Unfit(f"A field is a JSON pointer such as /results/margin: {error}.") from None
    raise Unfit(f"{payload.path} has no field {where or 'named with --field'}.")


def _expression(alias: str, keys: tuple[str, ...]) -> str:
    """The field as a source names it."""
    parts = (
        f".{key}" if _NAME.fullmatch(key) else f"[{json.dumps(key, ensure_ascii=False)}]" for key in keys
    )
    return alias + "".join(parts)
