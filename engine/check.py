"""Recompute published numbers from committed state: standard library and numpy, nothing else.

    python -m engine.check F-01                      every number that finding cites
    python -m engine.check F-01#tokens               those of one statement
    python -m engine.check acceptance/lookup-greedy  every number of that payload
    python -m engine.check <address>                 a number's address, pasted from the site

Each estimate states how it follows from the payload's `state`; it is made again from there and must
come out with the same digits, all of them. `engine.address` tells what is understood.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine import address
from engine.address import Pointer, Wanted
from engine.contract.errors import BadData, UnknownName

if TYPE_CHECKING:  # numpy is loaded within the seconds that are told
    from engine.stats.statistic import Table

ROOT = Path(__file__).resolve().parents[1]
COMPARED = (
    "value",
    "low",
    "high",
    "level",
    "method",
    "resamples",
    "clusters",
    "observations",
    "bootstrap_t",
    "bca",
    "cluster_t",
)
SUMS_ALONE = {"resamples": 1, "level": 0.95}
"""What stands in for settings that no sum needs, where neither the settings nor an interval states them."""


class Digits(str):
    """A decimal number as it is written."""

    __slots__ = ()


@dataclass(frozen=True)
class Line:
    """One number, committed and recomputed. `recomputed` is None where the payload gives no way to."""

    payload: str
    name: str
    committed: dict[str, Any]
    recomputed: dict[str, Any] | None
    reason: str = "not stated how it follows from whole numbers; re-run its command"

    @property
    def agrees(self) -> bool:
        """Equal digits in every field, or nothing to compare."""
        return self.recomputed is None or self.committed == self.recomputed

    def __str__(self) -> str:
        shown = _shown(self.committed)
        if self.recomputed is None:
            return f"-      {self.payload} {self.name}: {shown} ({self.reason})"
        verdict = "equal " if self.agrees else "DIFFER"
        again = f"committed {shown}, recomputed {_shown(self.recomputed)}"
        return f"{verdict} {self.payload} {self.name}: {again}{self._elsewhere()}"

    def _elsewhere(self) -> str:
        """Fields beside the value and its interval that differ."""
        other = [key for key in self.committed if key not in ("value", "low", "high")]
        made = self.recomputed or {}
        differing = [key for key in other if self.committed[key] != made.get(key)]
        return "".join(f"; {key} {self.committed[key]} against {made.get(key)}" for key in differing)


def check(wanted: Wanted) -> Iterator[Line]:
    """The numbers asked for, made again from state; `BadData` for a file that is no payload."""
    path = wanted.path
    try:
        document = json.loads(path.read_bytes(), parse_float=Digits)
        numbers = {tuple(pointer.split(".")): leaf for pointer, leaf in leaves(document["results"], "")}
        stated = any("statistic" in leaf for leaf in numbers.values())
        name, table = document["name"], _table(document) if stated else None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise BadData(str(path), f"is no payload: {error!r}.", "Write it again with the engine.") from None
    if not wanted.pointers:
        for pointer, leaf in numbers.items():
            yield _line(name, pointer, leaf, table)
    done: set[Pointer] = set()
    for asked in wanted.pointers:
        around = next((p for p in numbers if asked[: len(p) + 1] == ("results", *p)), None)
        field = asked[len(around) + 1 :] if around is not None and wanted.exact else ()
        if around is None:
            yield from _unmade(name, document, asked, wanted)
        elif (*around, *field) not in done:
            done.add((*around, *field))
            line = _line(name, around, numbers[around], table)
            yield _part(line, numbers[around], field) if field and field != ("value",) else line


def _line(payload: str, pointer: Pointer, leaf: dict[str, Any], table: Table | None) -> Line:
    committed = {key: leaf[key] for key in COMPARED if key in leaf}
    statistic = leaf.get("statistic")
    again = _again(statistic, table) if statistic and table else None
    return Line(payload, ".".join(pointer), committed, again)


def _part(line: Line, leaf: dict[str, Any], field: Pointer) -> Line:
    """One field of a number."""
    name, committed = f"{line.name}.{'.'.join(field)}", _at(leaf, field, line.name)
    if field[0] not in COMPARED or line.recomputed is None:
        reason = line.reason if field[0] in COMPARED else "as committed; not a number that is made"
        return Line(line.payload, name, {"value": committed}, None, reason)
    made: Any = line.recomputed
    for key in field:
        made = made.get(key) if isinstance(made, dict) else None
    return Line(line.payload, name, {"value": committed}, {"value": made})


def _unmade(payload: str, document: Any, asked: Pointer, wanted: Wanted) -> Iterator[Line]:
    """What is no result: a setting, a row of state; of what a source cites, only if it is a number."""
    found = _at(document, asked, payload)
    if asked[0] == "results" and isinstance(found, dict):
        raise UnknownName("/".join(asked), f"of {payload} is no number.", f"It holds {', '.join(found)}.")
    if wanted.exact or isinstance(found, (int, Digits)):
        shown = found if isinstance(found, (str, int)) else json.dumps(found)
        yield Line(payload, ".".join(asked), {"value": shown}, None, "as committed; it follows from nothing")


def _at(place: Any, keys: Pointer, name: str) -> Any:
    for key in keys:
        if isinstance(place, list) and key.isdecimal() and int(key) < len(place):
            place = place[int(key)]
        elif isinstance(place, dict) and key in place:
            place = place[key]
        else:
            known = ", ".join(place) if isinstance(place, dict) else "no fields"
            raise UnknownName("/".join(keys), f"is no field of {name}: {key!r}.", f"There: {known}.")
    return place


def _table(document: dict[str, Any]) -> Table | None:
    from engine.stats.statistic import Table

    state = document.get("state")
    if not state:
        return None
    intervals = (leaf for _, leaf in leaves(document["results"], "") if "resamples" in leaf)
    stated = next(intervals, SUMS_ALONE) | document.get("config", {})
    return Table.from_rows(
        state["columns"],
        state["rows"],
        root=document["seeds"]["root"],
        resamples=stated["resamples"],
        level=float(stated["level"]),
    )


def leaves(results: dict[str, Any], at: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every leaf of `results` with its name."""
    for key, inner in results.items():
        if isinstance(inner, dict) and "value" in inner and "unit" in inner:
            yield f"{at}{key}", inner
        else:
            yield from leaves(inner, f"{at}{key}.")


def _again(statistic: dict[str, Any], table: Table) -> dict[str, Any]:
    from engine.stats.statistic import compute

    try:
        made = compute(statistic, table)
    except (BadData, KeyError) as error:
        return {"value": f"nothing: {error}"}
    return {key: _lexemes(made[key]) for key in COMPARED if made.get(key) is not None}


def _lexemes(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _lexemes(inner) for key, inner in value.items()}
    return repr(value) if isinstance(value, float) else value


def _shown(fields: dict[str, Any]) -> str:
    interval = f" [{fields['low']}, {fields['high']}]" if "low" in fields else ""
    return f"{fields['value']}{interval}"


def main(names: Sequence[str]) -> int:
    """Print one line a number; 0 where all agree, 1 where one does not, 2 for a name that is not there."""
    started = time.perf_counter()
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # products this small only wait for each other
    try:
        asked = names or address.all_payloads(ROOT)
        wanted = dict.fromkeys(each for name in asked for each in address.resolve(ROOT, name))
        found = {(line.payload, line.name): line for each in wanted for line in check(each)}
    except (UnknownName, BadData) as error:
        print(f"engine check: {error}", file=sys.stderr)
        return 2 if isinstance(error, UnknownName) else 1
    lines = list(found.values())
    for line in lines:
        print(line)
    differing = sum(not line.agrees for line in lines)
    compared = sum(line.recomputed is not None for line in lines)
    seconds = time.perf_counter() - started
    print(
        f"{compared - differing} of {compared} recomputed numbers equal, {len(lines)} in all, {seconds:.2f} s"
    )
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
