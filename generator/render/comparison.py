"""Figures of others beside those measured here, row by row as findings/comparison.toml pairs them.

A row names a figure that is reported and either the field here that is the same quantity, or why there is
none. A field whose payload is not here yet is not run here, with the reason that the record gives. Two units
that are not the same are refused, so what is not the same quantity cannot stand side by side.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from generator.disclosure import reconciliation
from generator.number import display, exact
from generator.number.number import Bracketed, Leaf, Shown
from generator.record.payload import Payload
from generator.record.record import Record
from generator.report.refusal import Refusal

PATH = "findings/comparison.toml"
FIELDS = {"group", "what", "reported", "form", "ours", "our_form", "because", "differs"}
WANTED = {"group", "what", "reported"}


@dataclass(frozen=True)
class Row:
    """A pair: what is compared, the figures of others, ours, or why there is none, and what else differs."""

    group: str
    what: str
    reported: tuple[str, ...]
    form: str = "plain"
    ours: tuple[str, ...] = ()
    our_form: str = ""
    because: str = ""
    differs: str = ""
    line: int = 1


def rows(record: Record) -> Iterator[Row]:
    """The rows as they are written, those that are none left out; none where the file is not there."""
    for given, line in _entries(record):
        if _is_row(given):
            lists = {key: tuple(_listed(given.get(key, ()))) for key in ("reported", "ours")}
            fields: dict[str, Any] = {**given, **lists, "line": line}
            yield Row(**fields)


def faults(record: Record) -> Iterator[Refusal]:
    """Everything that keeps a row from being shown."""
    try:
        entries = list(_entries(record))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        yield Refusal(PATH, 1, 1, "bad-front-matter", "", f"Not TOML: {error}.")
        return
    for given, line in entries:
        if not _is_row(given):
            message = (
                "A row has group, what and reported, and either ours or because; reported and ours are lists "
                "of a path, a number sign and a pointer."
            )
            yield Refusal(PATH, line, 1, "bad-front-matter", str(given.get("what", ""))[:60], message)
    for row in rows(record):
        yield from _judged(record, row)


def _entries(record: Record) -> list[tuple[dict[str, object], int]]:
    file = record.root / PATH
    if not file.is_file():
        return []
    text = file.read_bytes().decode("utf-8")
    lines = [number for number, each in enumerate(text.split("\n"), 1) if each.strip() == "[[row]]"]
    return list(zip(tomllib.loads(text).get("row", []), lines, strict=False))


def _is_row(given: dict[str, object]) -> bool:
    places = [*_listed(given.get("reported")), *_listed(given.get("ours", ()))]
    return (
        given.keys() >= WANTED
        and given.keys() <= FIELDS
        and ("ours" in given) != ("because" in given)
        and bool(places)
        and all(isinstance(each, str) and "#/" in each for each in places)
    )


def _listed(value: object) -> list[object]:
    return list(value) if isinstance(value, list | tuple) else [None]


def _judged(record: Record, row: Row) -> Iterator[Refusal]:
    """What is wrong with a row: a field that is not there, units that are not the same."""
    for place in row.reported:
        yield from _placed(record, row, place, others=True)
    for place in row.ours:
        yield from _placed(record, row, place, others=False)
    told = {_unit(record, each, row.form) for each in row.reported} - {None}
    own = {_unit(record, each, row.our_form or row.form) for each in row.ours} - {None}
    if own and own != told:
        units = " and ".join(sorted(str(each) for each in own | told))
        yield _refusal(row, "unit-mismatch", row.what[:60], f"These are not the same quantity: {units}.")


def _placed(record: Record, row: Row, place: str, *, others: bool) -> Iterator[Refusal]:
    """What is wrong with one field of a side."""
    path = place.partition("#")[0]
    payload = record.payloads.get(path)
    if payload is None:
        if others or not _planned(record, path):
            yield _refusal(row, "unknown-payload", place, "No payload, and no experiment for one.")
    elif not _found(payload, place):
        yield _refusal(row, "unknown-field", place, f"{path} has no such field.")
    elif (payload.kind == "reported") != others:
        message = "A figure of others stands under reported, one that was measured under ours."
        yield _refusal(row, "bad-payload", place, message)


def _refusal(row: Row, code: str, text: str, message: str) -> Refusal:
    return Refusal(PATH, row.line, 1, code, text, message)


def _planned(record: Record, path: str) -> bool:
    """Whether an experiment of the list is to make a payload."""
    return any(path in each.payloads for each in (record.experiments.rows if record.experiments else ()))


def _found(payload: Payload, place: str) -> bool:
    try:
        return payload.at(f"{place.partition('#')[2]}/value").kind == "number"
    except KeyError:
        return False


def _unit(record: Record, place: str, form: str) -> str | None:
    """What a field counts; a share that is shown as percent counts as the percent of others does."""
    path, _, pointer = place.partition("#")
    payload = record.payloads.get(path)
    if payload is None or not _found(payload, place):
        return None
    written = payload.at(f"{pointer}/unit").text
    if form.startswith("percent"):
        return (
            f"percent of {written.removeprefix('share of ')}"
            if "share of " in written
            else f"percent {written}"
        )
    return written


@dataclass(frozen=True)
class Cell:
    """What stands in a row: the figures of others, then ours or the reason why there is none."""

    row: Row
    reported: tuple[Shown | Bracketed, ...]
    ours: tuple[Shown | Bracketed, ...]
    reason: str


def cells(record: Record) -> Iterator[Cell]:
    """Every row with its numbers."""
    for row in rows(record):
        missing = [each for each in row.ours if each.partition("#")[0] not in record.payloads]
        reason = row.because or (_reason(record, missing[0]) if missing else "")
        ours = () if reason else tuple(_number(record, each, row.our_form or row.form) for each in row.ours)
        yield Cell(row, tuple(_number(record, each, row.form) for each in row.reported), ours, reason)


def _reason(record: Record, place: str) -> str:
    """Why the payload of a field is not here, in the words of the record."""
    path = place.partition("#")[0]
    names = (
        [each.name for each in record.experiments.rows if path in each.payloads] if record.experiments else []
    )
    said = {
        each.name: each.reason
        for kind in reconciliation.KINDS
        for each in reconciliation.entries(record, kind)
    }
    return " ".join(said.get(name, "") for name in names)


def _number(record: Record, place: str, form: str) -> Shown | Bracketed:
    """A figure in a form, with its interval where it has one."""
    path, _, pointer = place.partition("#")
    payload, keys = record.payloads[path], tuple(pointer.strip("/").split("/"))
    whole = payload.root
    for key in keys:
        whole = whole.child(key)
    if form.startswith(("places", "signed")) and "low" in whole.members:
        return Bracketed(*(_shown(exact.at(payload, (*keys, key)), form) for key in ("value", "low", "high")))
    return _shown(exact.at(payload, (*keys, "value")), form)


def _shown(leaf: Leaf, form: str) -> Shown:
    return Shown(leaf, form, display.lexeme(leaf.node.lexeme, display.named(form)))
