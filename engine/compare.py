"""Compare payloads made again with the committed ones, number by number."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.check import ROOT, leaves


@dataclass(frozen=True)
class Outcome:
    """How a payload made again relates to the committed one."""

    name: str
    exact: int
    within: int
    outside: int
    machine: int
    same_origin: bool

    @property
    def reproduced(self) -> bool:
        """Exact where weights and versions are the same, else inside the committed intervals."""
        return self.outside == 0 and (not self.same_origin or self.within == 0)

    def __str__(self) -> str:
        rule = "same weights and versions, exact wanted" if self.same_origin else "other weights or versions"
        verdict = "reproduced    " if self.reproduced else "NOT reproduced"
        return (
            f"{verdict} {self.name}: {self.exact} exact, {self.within} within the committed interval, "
            f"{self.outside} outside, {self.machine} of the machine left out ({rule})"
        )


def compare(made: Path, committed: Path, name: str) -> Outcome:
    """Judge one payload against its committed namesake."""
    new, old = (json.loads(path.read_bytes(), parse_float=str) for path in (made, committed))
    counts = {"exact": 0, "within": 0, "outside": 0, "machine": 0}
    again = dict(leaves(new["results"], ""))
    for pointer, leaf in leaves(old["results"], ""):
        counts[_judge(leaf, again.pop(pointer, None))] += 1
    counts["outside"] += len(again)
    return Outcome(name, same_origin=_origin(new) == _origin(old), **counts)


def _judge(old: dict[str, Any], new: dict[str, Any] | None) -> str:
    if old.get("machine"):
        return "machine"
    if new is None:
        return "outside"
    if old == new:
        return "exact"
    if "low" in old and float(old["low"]) <= float(new["value"]) <= float(old["high"]):
        return "within"
    return "outside"


def _origin(document: dict[str, Any]) -> Any:
    provenance = document["provenance"]
    return provenance["versions"], provenance["models"], provenance["inputs"], document["config"]


def main(made: Path) -> int:
    """Print one line a payload found under `made`; 1 where one is not reproduced, 2 where there is none."""
    outcomes = []
    for path in sorted(made.glob("*/*.json")):
        name = path.relative_to(made).with_suffix("").as_posix()
        committed = ROOT / "payloads" / f"{name}.json"
        if committed.is_file():
            outcomes.append(compare(path, committed, name))
    for outcome in outcomes:
        print(outcome)
    if not outcomes:
        print(f"{made} holds no payload that is also committed.")
        return 2
    return 0 if all(outcome.reproduced for outcome in outcomes) else 1
