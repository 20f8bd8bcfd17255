"""A line of `findings/REGISTERED`: one frozen text, the payloads it names, and the line before.

Each line is JSON in one canonical form, so that a line has exactly one spelling, and carries the digest
of the line before, so that none can be edited, moved or taken out without the next one showing it.
"""

from __future__ import annotations

import datetime
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from generator.report.refusal import Refusal

PATH = "findings/REGISTERED"
ABSENT = "absent"
"""Stands for the digest of a payload that did not exist yet."""

START = "start"
"""Stands for the digest of the line before the first."""

CODE = "registered-text-changed"
_DIGEST = re.compile(r"[0-9a-f]{64}")
_KEYS = ("id", "source", "payloads", "date", "gate", "before")


@dataclass(frozen=True)
class Line:
    """What was frozen: the file of an id and its payloads, by digest; the day; the gate's version."""

    id: str
    source: str
    payloads: Mapping[str, str]
    date: str
    gate: int
    before: str

    @property
    def text(self) -> str:
        """The line as the ledger holds it, without its line feed."""
        return json.dumps({key: getattr(self, key) for key in _KEYS}, ensure_ascii=False)

    @property
    def digest(self) -> str:
        """What the next line carries as `before`."""
        return digest(self.text.encode())

    @property
    def path(self) -> str:
        """The file that the line freezes."""
        if self.id.startswith("payloads/"):
            return self.id
        folder = "findings/errata" if self.id.startswith("E-") else "findings"
        return f"{folder}/{self.id}.md"


@dataclass(frozen=True)
class Ledger:
    """All lines, in order, and what is wrong with their form."""

    lines: tuple[Line, ...] = ()
    refusals: tuple[Refusal, ...] = ()

    def of(self, path: str) -> tuple[int, Line] | None:
        """Number and content of the line that freezes a file."""
        found = ((number, each) for number, each in enumerate(self.lines, 1) if each.path == path)
        return next(found, None)

    @property
    def last(self) -> str:
        """The digest that the next line has to carry."""
        return self.lines[-1].digest if self.lines else START


def digest(data: bytes) -> str:
    """SHA-256 in hexadecimal."""
    return sha256(data).hexdigest()


def text(root: Path) -> str:
    """The ledger as it stands in the working tree, empty where there is none."""
    try:
        return (root / PATH).read_bytes().decode("utf-8", "replace")
    except OSError:
        return ""


def parse(written: str) -> Ledger:
    """Read a ledger; a line that is not of the one form, or does not follow on, is a refusal."""
    lines: list[Line] = []
    refusals: list[Refusal] = []
    for number, each in enumerate(written.split("\n")[:-1], 1):
        line = _line(each)
        if line is None:
            refusals.append(refusal(number, each, "The line is not one that `findings register` writes."))
            break
        refusals.extend(_order(number, line, lines))
        lines.append(line)
    if written and not written.endswith("\n"):
        refusals.append(refusal(written.count("\n") + 1, "", "The last line has no end."))
    return Ledger(tuple(lines), tuple(refusals))


def refusal(number: int, written: str, message: str) -> Refusal:
    """A refusal at a line of the ledger."""
    return Refusal(PATH, number, 1, CODE, written[:160], message)


def _order(number: int, line: Line, earlier: list[Line]) -> Iterator[Refusal]:
    """What contradicts the lines above."""
    before = earlier[-1].digest if earlier else START
    if line.before != before:
        message = "The line does not follow the one above it: a line was edited, moved or taken out."
        yield refusal(number, line.text, message)
    if any(each.id == line.id for each in earlier):
        yield refusal(number, line.text, f"{line.id} is registered twice.")
    if earlier and line.date < earlier[-1].date:
        yield refusal(number, line.text, f"The line is dated {line.date}, before the one above it.")


def _line(written: str) -> Line | None:
    try:
        read: Any = json.loads(written)
        line = Line(**read)
        good = (
            line.text == written
            and all(isinstance(each, str) for each in (line.id, line.date, line.before))
            and isinstance(line.gate, int)
            and bool(_DIGEST.fullmatch(line.source))
            and all(value == ABSENT or _DIGEST.fullmatch(value) for value in line.payloads.values())
            and bool(datetime.date.fromisoformat(line.date))
        )
    except (ValueError, TypeError, AttributeError, RecursionError):
        return None
    return line if good else None
