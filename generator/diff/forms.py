"""The forms of a comparison: text, Markdown, JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import asdict

from generator.diff.change import TITLES, Change, counts
from generator.diff.entry import Entry, Side

WIDTH = 72
"""Characters of the longest text that one line of a comparison shows of a value."""


def text(old: Side, new: Side, changes: list[Change]) -> str:
    """One line a change, and how many there are of each kind."""
    return "\n".join([*(line(change) for change in changes), summary(changes)]) + "\n"


def line(change: Change) -> str:
    """`page#part: kind: shown → shown (value → value, place)`."""
    return f"{change.entry.where}: {TITLES[change.kind]}: {_what(change)}"


def summary(changes: list[Change]) -> str:
    """How many changes there are of every kind."""
    if not changes:
        return "No number changed."
    return ", ".join(f"{count} {TITLES[kind]}" for kind, count in counts(changes).items() if count)


def markdown(old: Side, new: Side, changes: list[Change]) -> str:
    """A section a kind of change, each with a table."""
    lines = [f"# Changes from {old.name} to {new.name}", "", f"{summary(changes).removesuffix('.')}."]
    for kind, title in TITLES.items():
        of_kind = [change for change in changes if change.kind == kind]
        if of_kind:
            lines += ["", f"## {title[0].upper()}{title[1:]}", "", "| where | before | after | from |"]
            lines += ["| --- | --- | --- | --- |", *(_row(change) for change in of_kind)]
    return "\n".join(lines) + "\n"


def to_json(old: Side, new: Side, changes: list[Change]) -> str:
    """One document with the two names, the counts and every change with both of its states."""
    rows = [
        {"kind": change.kind, "page": change.entry.page, "part": change.entry.part, "of": change.entry.kind}
        | {"old": _state(change.old), "new": _state(change.new)}
        for change in changes
    ]
    document = {"old": old.name, "new": new.name, "counts": counts(changes), "changes": rows}
    return json.dumps(document, ensure_ascii=False, indent=2) + "\n"


FORMS: dict[str, Callable[[Side, Side, list[Change]], str]] = {
    "text": text,
    "markdown": markdown,
    "json": to_json,
}


def _state(entry: Entry | None) -> dict[str, object] | None:
    if entry is None:
        return None
    keys = ("subject", "shown", "value", "form")
    return {key: getattr(entry, key) for key in keys} | {"places": [asdict(each) for each in entry.places]}


def _what(change: Change) -> str:
    """A change in words and numbers."""
    old, new = change.old, change.new
    if old is None or new is None:
        return f"{_name(change.entry)}{_own(change.entry)}{_from(change.entry)}"
    if change.kind == "moved":
        return f"{_cut(new.shown)}, {', '.join(_moves(old, new))}"
    if new.kind == "claim":
        return f"{_name(new)}, was {old.value}, is {new.value}"
    if new.kind == "judgement":
        return f"{new.subject}: {_cut(old.shown)} → {_cut(new.shown)}"
    exact = _cut(new.value)
    if change.kind == "value":
        plain = (old.shown, new.shown) == (old.value, new.value)
        exact = "" if plain else f"{_cut(old.value)} → {_cut(new.value)}"
    forms = f"{old.form} → {new.form}" if old.form != new.form else ""
    about = ", ".join(each for each in (exact, forms) if each)
    return f"{_shown(old)} → {_shown(new)}{f' ({about})' if about else ''}{_from(new)}"


def _name(entry: Entry) -> str:
    """What a line calls an entry: a number as shown, a claim by its words and condition."""
    if entry.kind == "claim":
        return f'"{_cut(entry.shown)}" ({_cut(entry.subject, 3 * WIDTH)})'
    return f"{entry.subject} {_cut(entry.shown)}" if entry.kind == "judgement" else _shown(entry)


def _shown(entry: Entry) -> str:
    """The shown text, a digest by its start."""
    return f"{entry.shown[:12]}…" if entry.subject.startswith("sha256:") else _cut(entry.shown)


def _own(entry: Entry) -> str:
    """The exact value of a number that stands alone in its change."""
    alike = entry.kind != "number" or entry.value == entry.shown
    return "" if alike else f" ({_cut(entry.value)})"


def _from(entry: Entry) -> str:
    if entry.kind != "number":
        return ""
    one = len(entry.places) == 1
    return f", {entry.places[0] if one else _cut(entry.subject, 3 * WIDTH)}"


def _moves(old: Entry, new: Entry) -> Iterator[str]:
    """What is different about the places of two equal values."""
    if old.part != new.part:
        yield f"from {old.where}"
    if old.subject != new.subject or len(old.places) != len(new.places):
        yield f"{_cut(old.subject, 3 * WIDTH)} → {_cut(new.subject, 3 * WIDTH)}"
        return
    for was, now in dict.fromkeys(zip(old.places, new.places, strict=True)):
        if was.line != now.line:
            yield f"{was.path}:{was.line} → {now.line}"
        if was.sha256 != now.sha256:
            yield f"{now.path} {was.sha256[:12]} → {now.sha256[:12]}"


def _row(change: Change) -> str:
    old, new, entry = change.old, change.new, change.entry
    if change.kind == "moved" and old and new:
        cells = [entry.where, new.shown, new.shown, "; ".join(_moves(old, new))]
    else:
        cells = [entry.where, _cell(old), _cell(new), entry.subject]
    return f"| {' | '.join(_escaped(_cut(cell, 3 * WIDTH)) for cell in cells)} |"


def _cell(entry: Entry | None) -> str:
    """One state of a number in a table."""
    if entry is None:
        return "—"
    if entry.kind == "claim":
        return f"{entry.shown} ({entry.value})"
    return f"{_shown(entry)}{_own(entry)}"


def _escaped(text: str) -> str:
    return "".join(f"\\{each}" if each in "\\|`*_[]<>" else each for each in text)


def _cut(text: str, width: int = WIDTH) -> str:
    text = " ".join(text.split())
    return text if len(text) <= width else f"{text[: width - 1]}…"
