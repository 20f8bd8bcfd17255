"""The plan: why somebody works on the record, and the registered paths that this will touch."""

from __future__ import annotations

import datetime
import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from generator.record import repository, writing
from generator.report.refusal import Refusal, Refused

FOLDER = "docs/lane"
PATH = f"{FOLDER}/plan.json"


class Unplannable(Exception):
    """A path that no plan can name; the message says why."""


@dataclass(frozen=True)
class Plan:
    """Why, since when, from which commit on, and what: a path ends in a slash where it means a folder."""

    why: str
    date: str
    start: str
    paths: tuple[str, ...]

    def names(self, path: str) -> bool:
        """Whether the plan names a file, or a folder that holds it."""
        return any(path == each or (each.endswith("/") and path.startswith(each)) for each in self.paths)


NOTHING = Plan("", "", "", ())
"""What holds where there is no plan: no registered path may be touched."""


def make(root: Path, paths: Iterable[str], why: str, here: Path) -> Plan:
    """A plan of today for paths as they are typed in a folder; raises Unplannable."""
    if not why.strip():
        raise Unplannable("A plan says why.")
    named = tuple(dict.fromkeys(_inside(root, path, here) for path in paths))
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    return Plan(why.strip(), today, repository.read(root).head or "", named)


def write(root: Path, plan: Plan) -> None:
    """Put a plan in the place of the one before."""
    document = {**asdict(plan), "paths": list(plan.paths)}
    writing.replace(root / PATH, f"{json.dumps(document, indent=2, ensure_ascii=False)}\n".encode())


def parse(data: bytes) -> Plan:
    """The plan that some bytes hold, none where there are none; raises Refused for bytes that are no plan."""
    if not data:
        return NOTHING
    try:
        read: Any = json.loads(data.decode("utf-8"))
        plan = Plan(**{**read, "paths": tuple(read["paths"])})
        texts = (plan.why, plan.date, plan.start, *plan.paths)
        if not all(isinstance(each, str) for each in texts):
            raise TypeError("a value that is no text")
    except (ValueError, TypeError, KeyError, RecursionError):
        message = "The file is not one that findings lane plan writes. Plan again."
        raise Refused([Refusal(PATH, 1, 1, "bad-payload", "", message)]) from None
    return plan


def _inside(root: Path, path: str, here: Path) -> str:
    """A path from the root, with a final slash where a folder stands there or one was typed."""
    full = (here / path).absolute()
    parts: list[str] = []
    for part in full.parts:
        if part == ".." and parts:
            parts.pop()
        else:
            parts.append(part)
    try:
        found = PurePosixPath(*parts).relative_to(root.absolute().as_posix())
    except ValueError:
        raise Unplannable(f"{path} is not below {root}.") from None
    if found == PurePosixPath("."):
        raise Unplannable("A plan names what it touches, not the whole record.")
    folder = path.endswith("/") or (root / found).is_dir()
    return f"{found}/" if folder else str(found)
