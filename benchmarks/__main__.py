"""Measure everything and write the table into `benchmarks/README.md`."""

from __future__ import annotations

import platform
from datetime import date
from importlib.metadata import version
from pathlib import Path

from benchmarks import building, coding, starting
from benchmarks.decoding import Bench
from benchmarks.measure import HEADER

README = Path(__file__).with_name("README.md")
START, END = "<!-- measured -->", "<!-- end -->"


def main() -> None:
    """Print each row as it is measured; then replace the table."""
    print(HEADER)
    lines = []
    for rows in (starting.rows(), building.rows(), coding.rows(), Bench().rows()):
        for row in rows:
            print(row.row(), flush=True)
            lines.append(row.row())
    where = (
        f"Measured on {date.today().isoformat()}: {platform.system()} {platform.machine()}, two cores, "
        f"Python {platform.python_version()}, torch {version('torch')}, "
        f"transformers {version('transformers')}, "
        f"mkdocs {version('mkdocs')}."
    )
    text = README.read_text(encoding="utf-8")
    before, after = text.split(START)[0], text.split(END)[1]
    table = "\n".join([HEADER, *lines])
    README.write_text(f"{before}{START}\n{where}\n\n{table}\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
