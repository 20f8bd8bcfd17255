"""The handoff: what was planned, what was committed since, what was decided, and what is next."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Sequence
from pathlib import Path

from generator.lane import plan as plans
from generator.lane.plan import FOLDER, NOTHING, Plan
from generator.record import writing
from generator.record.repository import ask


def write(root: Path, plan: Plan, decisions: Sequence[str], steps: Sequence[str]) -> Path:
    """Write the handoff of today below docs/lane/ and close the plan; its own words are the author's."""
    day = datetime.datetime.now(datetime.UTC).date().isoformat()
    file = _free(root / FOLDER, day)
    writing.replace(file, _text(root, day, plan, decisions, steps).encode())
    (root / plans.PATH).unlink(missing_ok=True)
    return file


def _free(folder: Path, day: str) -> Path:
    """A name of that day that is not taken."""
    number, file = 1, folder / f"{day}.md"
    while file.exists():
        number, file = number + 1, folder / f"{day}-{number + 1}.md"
    return file


def _text(root: Path, day: str, plan: Plan, decisions: Sequence[str], steps: Sequence[str]) -> str:
    sections = [
        ("Planned", _planned(plan)),
        ("Committed since", _listed(_commits(root, plan)) or "Nothing."),
        ("Decisions", _listed(decisions) or "None."),
        ("Next", _listed(steps) or "Nothing."),
    ]
    return "\n".join([f"# {day}", *(f"\n## {title}\n\n{text}" for title, text in sections), ""])


def _planned(plan: Plan) -> str:
    if plan == NOTHING:
        return "There was no plan."
    return f"{plan.why} ({plan.date})\n\n{_listed(f'`{path}`' for path in plan.paths)}"


def _commits(root: Path, plan: Plan) -> list[str]:
    """The commits since the plan was made, the oldest first."""
    if not plan.start:
        return []
    listed = ask(root, "log", "--reverse", "--format=%h %s", f"{plan.start}..HEAD")
    return (listed or "").splitlines()


def _listed(lines: Iterable[str]) -> str:
    return "\n".join(f"- {' '.join(line.split())}" for line in lines)
