"""Errata as their sources say them, and which of them change what a field should read."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

from generator.audit.evidence import Evidence
from generator.audit.fault import Fault
from generator.audit.rounding import exact

Field = tuple[str, str]
"""A payload by its path, and a pointer into it."""

_ALIAS = re.compile(r"(?:^|[{,])\s*[\"']?(\w+)[\"']?\s*:\s*[\"']?(payloads/[^\s\"',}#]+\.json)", re.MULTILINE)
_FIELD = re.compile(r"\s*([A-Za-z_]\w*)((?:\s*(?:\.\s*\w+|\[\s*(?:\"[^\"]*\"|'[^']*')\s*\]))+)")
_KEY = re.compile(r"\.\s*(\w+)|\[\s*[\"']([^\"']*)[\"']\s*\]")


@dataclass(frozen=True)
class Erratum:
    """One erratum: what it corrects, why, and the field that should read otherwise, with the one to read."""

    name: str
    finding: str
    statement: str
    reason: str
    date: str = ""
    worded: bool = True
    old: Field | None = None
    new: Field | None = None

    def leads(self, field: Field) -> Iterator[Field]:
        """Where the value of a field should be read instead: the first of these places that there is."""
        if self.old is None or self.new is None or field[0] != self.old[0]:
            return
        below = field[1].removeprefix(self.old[1])
        if below == field[1] or (below and not below.startswith("/")):
            return
        path, pointer = self.new
        yield path, pointer + below
        if below in ("", "/value"):
            yield path, pointer + ("" if below else "/value")


def read(front: Mapping[str, str], payloads: str) -> Erratum:
    """An erratum from the scalars of its front matter and the lines of its payloads."""
    paths = aliases(payloads)
    old, new = (_field(front.get(key, ""), paths) for key in ("old", "new"))
    plain = front.get("reason", "") if not re.search(r"\\|''", front.get("reason", "")) else ""
    name, finding, statement, date = (front.get(key, "") for key in ("id", "finding", "statement", "date"))
    return Erratum(name, finding, statement, plain, date, front.get("kind") != "value", old, new)


def aliases(payloads: str) -> dict[str, str]:
    """Paths by alias, from the lines below the payloads of a front matter."""
    return dict(_ALIAS.findall(payloads))


def _field(written: str, paths: Mapping[str, str]) -> Field | None:
    """The field that an expression begins with."""
    named = _FIELD.match(written)
    if named is None or named[1] not in paths:
        return None
    keys = (key or quoted for key, quoted in _KEY.findall(named[2]))
    return paths[named[1]], "".join("/" + key.replace("~", "~0").replace("/", "~1") for key in keys)


class Corrections:
    """All errata of a record by date, followed from field to field."""

    def __init__(self, errata: Iterable[Erratum], evidence: Evidence) -> None:
        self._order = sorted(errata, key=lambda each: (each.date, _number(each.name)))
        self._evidence = evidence
        self._found: dict[Field, tuple[str, ...]] = {}
        self.paths = frozenset(each.old[0] for each in self._order if each.old)

    def of(self, field: Field) -> tuple[str, ...]:
        """The errata with which a field has another value than without them, each by its name."""
        if field[0] not in self.paths:
            return ()
        if field not in self._found:
            self._found[field] = tuple(self._changing(field))
        return self._found[field]

    def _changing(self, field: Field) -> Iterator[str]:
        before = self._value(field)
        for count, each in enumerate(self._order, 1):
            after = self._value(self._followed(field, count))
            if after != before:
                yield each.name
            before = after

    def _followed(self, field: Field, count: int) -> Field:
        """Where a field is read with the first errata; a chain has no more links than there are of them."""
        for _ in range(count):
            led = (place for each in self._order[:count] for place in each.leads(field))
            field = next((place for place in led if self._value(place) is not None), field)
        return field

    def _value(self, field: Field) -> Fraction | str | None:
        """The number or the text in a field, None where it holds neither."""
        path, pointer = field
        try:
            found = self._evidence.value(path, pointer, self._evidence.read(path).sha256)
            if found.kind == "number":
                return exact(found.written.decode())
            return found.text if found.kind == "string" else None
        except Fault:
            return None


def _number(name: str) -> int:
    written = name.rpartition("-")[2]
    return int(written) if written.isdecimal() and len(written) < 10 else 0
