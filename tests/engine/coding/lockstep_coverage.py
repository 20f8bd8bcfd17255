"""Which clause of the coder each vector reaches: python tests/engine/coding/lockstep_coverage.py

Clauses are the words in brackets at the ends of lines of `lockstep.py`. Run as a command, this writes
the table into `docs/lockstep.md`; the tests hold the page to it.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from pathlib import Path
from types import FrameType
from typing import Any

from engine.coding import lockstep
from engine.coding.conformance import judge, model, vectors
from engine.contract.errors import BadData

SOURCE = Path(lockstep.__file__)
PAGE = SOURCE.parents[2] / "docs/lockstep.md"
START, END = "<!-- reached -->", "<!-- end -->"


def clauses() -> dict[int, str]:
    """Line number: the clause it is marked with."""
    lines = SOURCE.read_text(encoding="utf-8").splitlines()
    found = {number: re.search(r"  # \[([a-z-]+)\]$", line) for number, line in enumerate(lines, 1)}
    return {number: match[1] for number, match in found.items() if match}


def reached(vector: dict[str, Any]) -> Counter[str]:
    """How often judging the vector runs a line of each clause."""
    marked, seen = clauses(), Counter[str]()

    def line(frame: FrameType, event: str, _: Any) -> Any:
        if event == "line" and frame.f_lineno in marked:
            seen[marked[frame.f_lineno]] += 1
        return line

    def call(frame: FrameType, event: str, _: Any) -> Any:
        return line if frame.f_code.co_filename == lockstep.__file__ else None

    before = sys.gettrace()
    sys.settrace(call)
    try:
        judge(vector)
    finally:
        sys.settrace(before)
    return seen


def longest_run(vector: dict[str, Any]) -> int:
    """The most words of ones that waited for a carry at one time."""
    encoder, longest = lockstep.Encoder(), 0
    try:
        for step in model(vector["model"]).steps(vector.get("message", [])):
            encoder.encode([step])
            longest = max(longest, encoder._run)
    except BadData:
        return 0
    return longest


def table() -> str:
    """One row a vector: the clauses it reaches, its longest run, its rescalings in one direction."""
    rows = ["| vector | reaches | longest run | rescalings |", "|---|---|---|---|"]
    for name, vector in vectors().items():
        seen = reached(vector)
        names = " ".join(sorted(seen))
        ways = 1 if "refused" in vector else 2
        rows.append(f"| {name} | {names} | {longest_run(vector)} | {seen['rescale'] // ways} |")
    return "\n".join(rows)


def main() -> None:
    """Replace the table of the page."""
    text = PAGE.read_text(encoding="utf-8")
    before, after = text.split(START)[0], text.split(END)[1]
    PAGE.write_text(f"{before}{START}\n{table()}\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
