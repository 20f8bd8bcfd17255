"""`engine bootstrap FILE.csv`: intervals of a column of a table, clustered, from the command line.

A table has a header and a row an observation or a cluster; rows of one cluster are added up first. Decimals
are scaled to whole numbers exactly. Standard library and numpy alone.
"""

from __future__ import annotations

import argparse
import csv
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from pathlib import Path

import numpy as np

from engine.contract.errors import BadData, UnknownName
from engine.contract.seeds import Stream
from engine.stats.bootstrap import Estimate, Integers, Interval, difference, ratio, resample_weights

FEW = 40
"""Below so many clusters percentile intervals run narrow, and a line says so."""


@dataclass(frozen=True)
class Column:
    """One column added up by cluster, (G,), as whole numbers of 10**-places."""

    values: Integers
    places: int


def parser() -> argparse.ArgumentParser:
    """The options, with what each is."""
    made = argparse.ArgumentParser(prog="engine bootstrap", description=(__doc__ or "").splitlines()[0])
    made.add_argument("file", type=Path, help="CSV file with a header")
    made.add_argument("--value", required=True, metavar="COLUMN", help="what is added up above the line")
    made.add_argument(
        "--over", metavar="COLUMN", help="what is added up below it; without it, the mean over clusters"
    )
    made.add_argument("--minus", metavar="COLUMN", help="a second column above the line, paired, taken away")
    made.add_argument("--cluster", metavar="COLUMN", help="names the cluster; without it, each row is one")
    made.add_argument("--resamples", type=int, default=10_000)
    made.add_argument("--level", type=float, default=0.95)
    made.add_argument("--seed", type=int, default=1, help="root of the random stream")
    made.add_argument("--json", action="store_true", help="print one JSON object")
    return made


def main(arguments: Sequence[str]) -> int:
    """Print value and intervals; 0 done, 1 for a table that is refused, 2 for misuse."""
    options = parser().parse_args(arguments)
    if not 0.0 < options.level < 1.0 or options.resamples < 100:
        print("engine bootstrap: give a level in (0, 1) and 100 resamples or more.", file=sys.stderr)
        return 2
    try:
        made, places = judge(options)
    except (BadData, UnknownName) as error:
        print(f"engine bootstrap: {error}", file=sys.stderr)
        return 2 if isinstance(error, UnknownName) else 1
    print(_json(made, places) if options.json else _lines(made, places, options))
    return 0


def judge(options: argparse.Namespace) -> tuple[Estimate, int]:
    """The estimate asked for, and the power of ten that its numbers are to be divided by."""
    wanted = [name for name in (options.value, options.over, options.minus) if name is not None]
    columns = read(options.file, wanted, options.cluster)
    above = columns[options.value]
    clusters = len(above.values)
    below = columns[options.over] if options.over else Column(np.ones(clusters, dtype=np.int64), 0)
    weights = resample_weights(clusters, options.resamples, Stream(options.seed, "bootstrap"), fewest=2)
    if options.minus is None:
        return ratio(above.values, below.values, weights, options.level), above.places - below.places
    first, second = _alike(above, columns[options.minus])
    made = difference((first.values, below.values), (second.values, below.values), weights, options.level)
    return made, first.places - below.places


def read(path: Path, wanted: Sequence[str], cluster: str | None) -> dict[str, Column]:
    """The wanted columns, added up by cluster in the order of first appearance.

    Raises `BadData` with line and column for what is no finite number, `UnknownName` for a column that is
    not there.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = csv.DictReader(file, strict=True)
            known = list(rows.fieldnames or [])
            for name in [*wanted, *([cluster] if cluster else [])]:
                if name not in known:
                    raise UnknownName(f"{path}:1", f"has no column {name!r}.", f"There: {', '.join(known)}.")
            sums: dict[str, list[Decimal]] = {}
            for row in rows:
                key = (row[cluster] or "") if cluster else str(rows.line_num)
                if not key:
                    raise BadData(f"{path}:{rows.line_num}", "names no cluster.", "Fill it in.")
                own = sums.setdefault(key, [Decimal(0)] * len(wanted))
                for at, name in enumerate(wanted):
                    own[at] += _number(row[name], f"{path}:{rows.line_num}, column {name!r}")
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise BadData(str(path), f"cannot be read: {error}.", "Give a CSV file in UTF-8.") from None
    return {name: _scaled([own[at] for own in sums.values()]) for at, name in enumerate(wanted)}


def _number(text: str | None, place: str) -> Decimal:
    try:
        number = Decimal((text or "").strip())
    except InvalidOperation:
        number = Decimal("nan")
    if not number.is_finite() or number.adjusted() > 15:
        raise BadData(
            place, f"{text!r} is no finite number below 10**16.", "Fill it in, or leave the row out."
        )
    return number


def _scaled(values: list[Decimal]) -> Column:
    """Whole numbers of the smallest decimal place that any value has."""
    places = max((max(0, -int(value.normalize().as_tuple().exponent)) for value in values), default=0)
    scaled = [int(value.scaleb(places)) for value in values]
    if scaled and max(map(abs, scaled)) >= 2**62:
        raise BadData("the table", f"has {places} decimals, too many to be summed exactly.", "Round it.")
    return Column(np.array(scaled, dtype=np.int64), places)


def _alike(first: Column, second: Column) -> tuple[Column, Column]:
    places = max(first.places, second.places)
    one, two = (Column(each.values * 10 ** (places - each.places), places) for each in (first, second))
    return one, two


def _intervals(made: Estimate) -> dict[str, Interval | None]:
    return {
        "percentile": made.percentile,
        "bootstrap-t": made.bootstrap_t,
        "BCa": made.bca,
        "cluster-robust t": made.cluster_t,
    }


ABSENT = {
    "bootstrap-t": "not given: the clusters of a resample do not differ",
    "BCa": "not given: all resamples lie on one side of the value, or one cluster holds all below the line",
}


def _json(made: Estimate, places: int) -> str:
    scale = 10.0**places
    ends = {
        name: {"low": found.low / scale, "high": found.high / scale} if found else {"absent": ABSENT[name]}
        for name, found in _intervals(made).items()
    }
    return json.dumps({"value": made.value / scale, "clusters": made.clusters, "intervals": ends}, indent=2)


def _lines(made: Estimate, places: int, options: argparse.Namespace) -> str:
    scale = 10.0**places
    lines = [
        f"value             {made.value / scale:.6g}",
        f"clusters          {made.clusters}; {options.resamples} resamples, level {options.level}, "
        f"seed {options.seed}",
    ]
    for name, found in _intervals(made).items():
        ends = f"{found.low / scale:.6g} … {found.high / scale:.6g}" if found else ABSENT[name]
        lines.append(f"{name:<17} {ends}")
    if made.clusters < FEW:
        lines.append(f"note              with fewer than {FEW} clusters the percentile interval runs narrow")
    return "\n".join(lines)
