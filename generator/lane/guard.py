"""Refuses a commit that touches registered paths which its plan does not name.

It reads the index, so it does not matter who wrote a file and with what.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from generator.lane import plan as plans
from generator.ledger import line as lines
from generator.record.history import History
from generator.record.repository import ask, ask_bytes
from generator.report.refusal import Refusal

BARS = "payloads/registered/"
"""Files of bars, which belong to what is registered as soon as they are there."""


class NoRepository(Exception):
    """The lane needs git."""


def check(root: Path) -> list[Refusal]:
    """What stands against committing the index; raises Refused for a plan that is none, NoRepository."""
    staged = _staged(root)
    registered = frozen(root)
    plan = plans.parse(_index(root, plans.PATH))
    touched = [path for path in staged if path in registered or path.startswith(BARS)]
    return [_refusal(path, plan) for path in touched if not plan.names(path)]


def frozen(root: Path) -> frozenset[str]:
    """The ledger, and every path that it freezes: as committed, as staged, or as it stands."""
    committed = History(root).data("HEAD", lines.PATH)
    texts = (committed.decode("utf-8", "replace"), _index(root, lines.PATH).decode("utf-8", "replace"))
    entries = [each for text in (*texts, lines.text(root)) for each in lines.parse(text).lines]
    return frozenset({lines.PATH, *_named(entries)})


def _named(entries: Iterable[lines.Line]) -> Iterable[str]:
    for each in entries:
        yield each.path
        yield from each.payloads


def _staged(root: Path) -> list[str]:
    """The paths below the root that the next commit changes, adds or takes away."""
    listed = ask(root, "diff", "--cached", "--name-only", "--no-renames", "--relative", "-z", "--", ".")
    if listed is None:
        raise NoRepository(f"{root} stands outside any git repository.")
    return sorted(each for each in listed.split("\0") if each)


def _index(root: Path, path: str) -> bytes:
    """A file as the next commit will hold it, no bytes where it will not."""
    return ask_bytes(root, "cat-file", "blob", f":./{path}") or b""


def _refusal(path: str, plan: plans.Plan) -> Refusal:
    said = f"the plan of {plan.date} does not name it" if plan.paths else "no plan that is staged names it"
    message = f'The file is registered, and {said}. Run: findings lane plan {path} --why "…"'
    return Refusal(path, 1, 1, "registered-text-changed", path, message)
