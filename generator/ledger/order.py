"""What came first, the rule or the data, as commits tell it."""

from __future__ import annotations

from pathlib import Path, PurePosixPath
from typing import Literal

from generator.ledger import line as lines
from generator.ledger.line import PATH, Line
from generator.record.history import History

Order = Literal["before", "after", "not shown", "no data"]

WORDS: dict[Order, str] = {
    "before": "registered before the data",
    "after": "registered after the data",
    "not shown": "order not shown by this history",
    "no data": "registered, no data yet",
}

RULES = "payloads/registered/"
"""Payloads that hold bars and not results; they govern the results of the record they are named after."""


def orders(root: Path) -> dict[str, Order]:
    """By id, whether what is registered was there before the first result it is about."""
    history, ledger = History(root), lines.parse(lines.text(root))
    versions = list(history.versions(PATH)) if ledger.lines else []
    found: dict[str, Order] = {}
    for entry in ledger.lines:
        needle = f"{entry.text}\n".encode()
        brought = next((each.commit for each in versions if needle in each.data), None)
        found[entry.id] = _order(history, entry, brought)
    return found


def _order(history: History, entry: Line, brought: str | None) -> Order:
    firsts = [found for path in _governed(entry) if (found := history.first(path))]
    if not firsts and not history.missing:
        return "no data"
    if brought is None or history.missing:
        return "not shown"
    if all(brought != first and history.is_ancestor(brought, first) for first in firsts):
        return "before"
    if any(brought != first and history.is_ancestor(first, brought) for first in firsts):
        return "after"
    return "not shown"


def _governed(entry: Line) -> list[str]:
    """The results that the text is about: its payloads, or the record of a file of bars."""
    paths = (entry.id, *entry.payloads)
    bars = [f"payloads/{PurePosixPath(path).stem}" for path in paths if path.startswith(RULES)]
    results = [path for path in entry.payloads if not path.startswith(RULES)]
    return results or bars
