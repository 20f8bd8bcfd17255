"""A unit for every number: what the file states, and what the command line says, the nearest name first."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from shlex import quote

from generator.importing.found import Found
from generator.importing.names import identifier
from generator.report.refusal import Refusal, Refused

ALL = "*"
"""Stands for every number that nothing else names."""


def given(path: str, numbers: Iterable[Found], units: Mapping[str, str]) -> dict[tuple[str, ...], str]:
    """The unit of each number by its identifiers; raises Refused with every one that has none."""
    used: set[str] = set()
    found: dict[tuple[str, ...], str] = {}
    missing: list[Refusal] = []
    for each in numbers:
        name = tuple(map(identifier, each.tokens))
        key = _nearest(name, units)
        if key is not None:
            used.add(key)
        unit = units[key] if key is not None else each.unit
        if unit:
            found[name] = unit
        else:
            message = f"{'.'.join(name)} has no unit. Add --unit {quote(f'{name[-1]}=UNIT')}."
            missing.append(Refusal(path, each.line, each.column, "bad-payload", each.lexeme, message))
    for key in units.keys() - used:
        message = f"No number is called {key}, which was given the unit {units[key]}."
        missing.append(Refusal(path, 1, 1, "bad-payload", key, message))
    if missing:
        raise Refused(missing)
    return found


def _nearest(name: tuple[str, ...], units: Mapping[str, str]) -> str | None:
    """The key that names most of a path from its end; the one for everything where none does."""
    keys = (".".join(name[at:]) for at in range(len(name)))
    return next((key for key in (*keys, ALL) if key in units), None)
