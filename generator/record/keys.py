"""The closed list of front matter keys: which a source must have, which it may, and of what type."""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

from generator.record.front_matter import FrontMatter
from generator.report.refusal import Refusal

STATUSES = ("holds", "null", "open", "unrun")
ERRATUM_KINDS = ("value", "wording")

_ALIAS = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_WORDS = frozenset({"min", "max", "abs", "and", "or", "not", "computed", "true", "false"})


def _string(value: Any) -> str:
    return "" if isinstance(value, str) and value.strip() else "is a text that says something"


def _status(value: Any) -> str:
    return "" if value in STATUSES else f"is one of {', '.join(STATUSES)}"


def _erratum_kind(value: Any) -> str:
    return "" if value in ERRATUM_KINDS else f"is one of {', '.join(ERRATUM_KINDS)}"


def _date(value: Any) -> str:
    try:
        good = datetime.date.fromisoformat(value).isoformat() == value
    except (TypeError, ValueError):
        good = False
    return "" if good else "is a date such as 2026-12-01"


def _strings(value: Any) -> str:
    good = isinstance(value, list) and all(isinstance(item, str) and item.strip() for item in value)
    return "" if good else "is a list of texts"


def _rulings(value: Any) -> str:
    good = isinstance(value, list) and all(isinstance(item, dict) for item in value)
    return "" if good else "is a list of rulings, each with its statement and what is ruled"


def _mappings(value: Any) -> str:
    good = isinstance(value, list) and all(isinstance(item, dict) for item in value)
    return "" if good else "is a list of entries, each with its keys"


def _texts_by_name(value: Any) -> str:
    good = isinstance(value, dict) and all(isinstance(item, str) and item.strip() for item in value.values())
    return "" if good else "is a mapping of names to texts"


def _aliases(value: Any) -> str:
    if _texts_by_name(value):
        return "is a mapping of aliases to payload paths"
    bad = [alias for alias in value if not _ALIAS.fullmatch(alias) or alias in _WORDS]
    return f"has an alias that is no name: {bad[0]}" if bad else ""


Check = Callable[[Any], str]


@dataclass(frozen=True)
class Keys:
    """The keys of one kind of source, each with the check of its value; every id matches the pattern."""

    required: dict[str, Check]
    optional: dict[str, Check] = field(default_factory=dict)
    id_pattern: str | None = None
    items: dict[str, Keys] = field(default_factory=dict)
    """The keys of each mapping in the list under a key."""


KEYS: dict[str, Keys] = {
    "finding": Keys(
        {"id": _string, "title": _string, "record": _string, "status": _status, "regime": _string}
        | {"payloads": _aliases},
        {"holds_when": _string, "null_when": _string, "verdict_when": _texts_by_name, "tags": _strings},
        r"F-[0-9]+",
    ),
    "kill": Keys(
        {"id": _string, "title": _string, "fires_when": _string, "payloads": _aliases},
        {"untested_because": _string},
        r"K-[0-9]+",
    ),
    "erratum": Keys(
        {"id": _string, "finding": _string, "statement": _string, "date": _date, "kind": _erratum_kind}
        | {"reason": _string, "payloads": _aliases},
        {"old": _string, "new": _string},
        r"E-[0-9]+",
    ),
    "pass": Keys({"record": _string, "date": _date, "rulings": _rulings}),
    "unrun": Keys({}, {"experiments": _texts_by_name, "payloads": _aliases}),
    "withheld": Keys({}, {"experiments": _texts_by_name, "payloads": _aliases}),
    "deviations": Keys(
        {},
        {"deviations": _mappings, "payloads": _aliases},
        items={
            "deviations": Keys(
                {"date": _date, "rule": _string, "what": _string, "reading": _string}, {"allows": _string}
            )
        },
    ),
    "page": Keys({}, {"title": _string, "description": _string, "payloads": _aliases}),
    "template": Keys({}, {"title": _string, "description": _string, "payloads": _aliases}),
}

NAMES = {kind: kind for kind in KEYS} | {
    "kill": "kill criterion",
    "pass": "pass over errata",
    "unrun": "list of what was not run",
    "withheld": "list of what is withheld",
    "deviations": "list of deviations",
}
"""Kinds of sources in words."""

_ABSENT = {
    "regime": ("no-regime", "A finding says its exact conditions under regime."),
    "payloads": ("no-source", "A finding names the payloads it stands on under payloads."),
}


def faults(path: str, kind: str, front: FrontMatter) -> Iterator[Refusal]:
    """Everything in a front matter that its kind of source does not allow."""
    allowed = KEYS[kind]
    checks = allowed.required | allowed.optional
    for key in allowed.required:
        if front.values.get(key) in (None, "", {}, []) and (key, kind) != ("payloads", "erratum"):
            yield _absent(path, kind, key, front)
    for key, value in front.values.items():
        line, column = front.places[f"{key}:key"]
        if key not in checks:
            message = f'"{key}" is no key of a {NAMES[kind]}. Known: {", ".join(checks)}.'
            yield Refusal(path, line, column, "bad-front-matter", key, message)
        elif value not in (None, "", {}, []) and (fault := checks[key](value)):
            line, column = front.places[key]
            yield Refusal(path, line, column, _code(kind, key), str(value)[:60], f'"{key}" {fault}.')
        elif key in allowed.items and isinstance(value, list):
            for index, item in enumerate(value):
                yield from _item_faults(path, allowed.items[key], f"{key}.{index}", item, front)
    yield from _id_faults(path, allowed.id_pattern, front)


def _item_faults(
    path: str, allowed: Keys, name: str, item: Mapping[str, object], front: FrontMatter
) -> Iterator[Refusal]:
    """Everything that one mapping of a list lacks, or has and may not have."""
    checks = allowed.required | allowed.optional
    for key in allowed.required:
        if not item.get(key):
            place = front.places.get(f"{name}.{key}", front.places[name])
            yield Refusal(path, *place, "bad-front-matter", key, f'The entry needs "{key}".')
    for key, value in item.items():
        if key not in checks:
            message = f'"{key}" is no key of the entry. Known: {", ".join(checks)}.'
            yield Refusal(path, *front.places[f"{name}.{key}:key"], "bad-front-matter", key, message)
        elif value and (fault := checks[key](value)):
            place = front.places[f"{name}.{key}"]
            yield Refusal(path, *place, "bad-front-matter", str(value)[:60], f'"{key}" {fault}.')


def _absent(path: str, kind: str, key: str, front: FrontMatter) -> Refusal:
    line, column = front.places.get(key, (1, 1))
    code, message = _ABSENT.get(key, ("", "")) if kind == "finding" else ("", "")
    message = message or f'A {NAMES[kind]} needs "{key}".'
    return Refusal(path, line, column, code or _code(kind, key), key, message)


def _code(kind: str, key: str) -> str:
    """What makes a correction or a pass over the corrections one is a matter of errata."""
    of_errata = {"erratum": ("finding", "statement", "date", "kind", "reason"), "pass": ("date", "rulings")}
    return "bad-erratum" if key in of_errata.get(kind, ()) else "bad-front-matter"


def _id_faults(path: str, pattern: str | None, front: FrontMatter) -> Iterator[Refusal]:
    """An id has the form of its kind; that it is the file's name is checked where all sources are known."""
    name = front.values.get("id")
    if pattern and isinstance(name, str) and name and not re.fullmatch(pattern, name):
        line, column = front.places["id"]
        shape = pattern.replace("[0-9]+", "1")
        message = f"The id has the form {shape}, as the file {PurePosixPath(path).name} should have."
        yield Refusal(path, line, column, "bad-front-matter", name, message)
