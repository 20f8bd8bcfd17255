"""Receipts: which interpreter, on which system, judged the vectors, and what came out, as a payload."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from engine.contract.errors import BadData
from engine.contract.payload import Config, Leaf, Measured, Results, State, Statistic, lexeme
from engine.contract.provenance import ROOT, gather

SOURCES = (
    "engine/coding/lockstep.py",
    "engine/coding/conformance.py",
    "engine/contract/errors.py",
)
"""What judges; the vectors are listed beside these."""
SECONDS = 600
Report = Mapping[str, Any]
"""What `conformance --json` prints."""


def judged(interpreter: str) -> Report | None:
    """The report of one interpreter, by path or name, in a process of its own; None where it is not here.

    `BadData` where it starts and prints no report.
    """
    found = shutil.which(interpreter)
    if found is None:
        return None
    command = [found, "-B", "-m", "engine.coding.conformance", "--json"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=SECONDS)
    try:
        report: Report = json.loads(done.stdout)
    except ValueError:
        last = done.stderr.strip().split("\n")[-1]
        raise BadData(found, f"gave no report of the vectors: {last}", "Run it by hand.") from None
    return report


def receipt(
    name: str, command: Sequence[str], reports: Mapping[str, Report], absent: Mapping[str, str] | None = None
) -> Measured:
    """The payload of reports by a short name each; `absent` says why others that were wanted are missing."""
    vectors = sorted({vector for report in reports.values() for vector in report["faults"]})
    columns = ["cluster"]
    for which in reports:
        columns += [f"{which}_judged", f"{which}_failed"]
    rows = [[index, *_cells(vector, reports)] for index, vector in enumerate(vectors)]
    folder = "engine/coding/vectors"
    return Measured(
        schema="specdec-sidechannels/payload/1",
        name=name,
        question="Do the coder's bytes come out the same under other interpreters and systems?",
        regime={which: _words(report) for which, report in reports.items()},
        config={"resamples": 1000, "level": lexeme(0.95), "vectors": list(vectors)},
        seeds={"root": 0},
        provenance=gather(
            list(command),
            packages=(),
            models=[],
            inputs=[*SOURCES, *(f"{folder}/{vector}.json" for vector in vectors)],
        ),
        results={which: _results(which, report) for which, report in reports.items()},
        absent=dict(absent) if absent else None,
        state=State(columns=columns, rows=rows),
    )


def system(report: Report) -> str:
    """The system's name as part of a payload's."""
    name = str(report["system"])
    return {"Darwin": "macos"}.get(name, name.lower())


def own() -> Report:
    """The report of the interpreter that runs this."""
    report = judged(sys.executable)
    if report is None:
        raise BadData(sys.executable, "is not there.", "Start this with an interpreter that stays in place.")
    return report


def _words(report: Report) -> Config:
    return {key: str(value) for key, value in report.items() if key != "faults"}


def _cells(vector: str, reports: Mapping[str, Report]) -> list[int]:
    cells: list[int] = []
    for report in reports.values():
        cells += [int(vector in report["faults"]), int(report["faults"].get(vector) is not None)]
    return cells


def _results(which: str, report: Report) -> Results:
    faults = report["faults"]
    counts = {"judged": len(faults), "failed": sum(fault is not None for fault in faults.values())}
    return {
        key: Leaf(
            value=value,
            unit="vectors",
            clusters=len(faults),
            statistic=Statistic(kind="sum", numerator=[f"{which}_{key}"], stream="none"),
        )
        for key, value in counts.items()
    }
