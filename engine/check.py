"""Recompute published numbers from committed state: standard library and numpy, nothing else.

    python -m engine.check F-01                      every number that finding cites
    python -m engine.check acceptance/lookup-greedy  every number of that payload

Each estimate states how it follows from the payload's `state`; it is made again from there and must
come out with the same digits, all of them.
"""

from __future__ import annotations

import json
import re
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.contract.errors import BadData, UnknownName
from engine.stats.statistic import Table, compute

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
    "cluster_t",
)


@dataclass(frozen=True)
class Line:
    """One number, committed and recomputed. `recomputed` is None where the payload gives no way to."""

    payload: str
    name: str
    committed: dict[str, Any]
    recomputed: dict[str, Any] | None

    @property
    def agrees(self) -> bool:
        """Equal digits in every field, or nothing to compare."""
        return self.recomputed is None or self.committed == self.recomputed

    def __str__(self) -> str:
        shown = _shown(self.committed)
        if self.recomputed is None:
            return f"-      {self.payload} {self.name}: {shown} (no state; re-run its command)"
        verdict = "equal " if self.agrees else "DIFFER"
        again = "" if self.agrees else f", recomputed {_shown(self.recomputed)}"
        return f"{verdict} {self.payload} {self.name}: {shown}{again}"


def payload_path(name: str) -> Path:
    """The file of a payload given as `record/name` or as a path."""
    path = ROOT / name if name.endswith(".json") else ROOT / "payloads" / f"{name}.json"
    if not path.is_file():
        raise UnknownName(name, "is no payload.", "Known: " + ", ".join(all_payloads()) + ".")
    return path


def all_payloads() -> list[str]:
    """Every committed payload, by name."""
    folder = ROOT / "payloads"
    return sorted(path.relative_to(folder).with_suffix("").as_posix() for path in folder.glob("*/*.json"))


def cited_by(finding: str) -> list[str]:
    """The payload paths that a finding's front matter names."""
    path = ROOT / "findings" / f"{finding}.md"
    if not path.is_file():
        raise UnknownName(finding, "is no finding.", "See findings/.")
    front = re.match(r"---\n(.*?)^---$", path.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    cited = re.findall(r"\bpayloads/[\w./-]+\.json\b", front[1]) if front else []
    if not cited:
        raise UnknownName(finding, "names no payload.", "There is nothing to recompute.")
    return cited


def check(path: Path) -> Iterator[Line]:
    """Every number of one payload, made again from its state; `BadData` for a file that is no payload."""
    try:
        document = json.loads(path.read_bytes(), parse_float=str)
        name, results, table = document["name"], document["results"], _table(document)
    except (ValueError, KeyError, TypeError) as error:
        raise BadData(str(path), f"is no payload: {error!r}.", "Write it again with the engine.") from None
    for pointer, leaf in leaves(results, ""):
        committed = {key: leaf[key] for key in COMPARED if key in leaf}
        statistic = leaf.get("statistic")
        yield Line(name, pointer, committed, _again(statistic, table) if statistic and table else None)


def _table(document: dict[str, Any]) -> Table | None:
    state, config = document.get("state"), document.get("config", {})
    if not state:
        return None
    return Table.from_rows(
        state["columns"],
        state["rows"],
        root=document["seeds"]["root"],
        resamples=config["resamples"],
        level=float(config["level"]),
    )


def leaves(results: dict[str, Any], at: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every leaf of `results` with its name."""
    for key, inner in results.items():
        if isinstance(inner, dict) and "value" in inner and "unit" in inner:
            yield f"{at}{key}", inner
        else:
            yield from leaves(inner, f"{at}{key}.")


def _again(statistic: dict[str, Any], table: Table) -> dict[str, Any]:
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
    try:
        paths = [payload_path(p) for name in names or all_payloads() for p in _payloads_of(name)]
        lines = [line for path in dict.fromkeys(paths) for line in check(path)]
    except (UnknownName, BadData) as error:
        print(f"engine check: {error}", file=sys.stderr)
        return 2 if isinstance(error, UnknownName) else 1
    for line in lines:
        print(line)
    differing = sum(not line.agrees for line in lines)
    compared = sum(line.recomputed is not None for line in lines)
    seconds = time.perf_counter() - started
    print(
        f"{compared - differing} of {compared} recomputed numbers equal, {len(lines)} in all, {seconds:.2f} s"
    )
    return 1 if differing else 0


def _payloads_of(name: str) -> list[str]:
    return cited_by(name) if re.fullmatch(r"F-\d+", name) else [name]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
