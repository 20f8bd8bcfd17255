"""What is new in a site against the one that it replaces, in a few lines; only pages that differ are read."""

from __future__ import annotations

import filecmp
from collections import Counter
from pathlib import Path

from generator.diff import forms, site
from generator.diff.change import TITLES, compare
from generator.report.refusal import Refused

LIMIT = 20
"""Lines that are printed before the rest is counted."""


def lines(old: Path, new: Path) -> list[str]:
    """One line a changed number, one a page whose numbers only moved, or that changed without its numbers."""
    pages = _differing(old, new)
    sides = [[page for page in pages if (folder / page).is_file()] for folder in (old, new)]
    try:
        before, after = (
            site.read(folder, wanted, "site") for folder, wanted in zip((old, new), sides, strict=True)
        )
    except Refused:
        return ["What changed cannot be told: the former site has pages whose marks cannot be read."]
    changes = compare(before, after)
    named = {change.entry.page for change in changes}
    moved = Counter(change.entry.page for change in changes if change.kind == "moved")
    found = [forms.line(change) for change in changes if change.kind != "moved"]
    found += [f"{page}: {TITLES['moved']}: {count}" for page, count in moved.items()]
    found += [f"{page}: {_became(page, *sides)}" for page in pages if page not in named]
    rest = len(found) - LIMIT
    return found if rest <= 0 else [*found[:LIMIT], f"and {rest} more changes, on {len(pages)} pages in all."]


def _differing(old: Path, new: Path) -> list[str]:
    """The pages that one of two sites has alone, or that have other bytes."""
    before, after = set(site.list_pages(old)), set(site.list_pages(new))
    common = before & after
    return sorted(
        (before ^ after) | {each for each in common if not filecmp.cmp(old / each, new / each, shallow=False)}
    )


def _became(page: str, before: list[str], after: list[str]) -> str:
    if page not in before:
        return "a new page, without a number"
    return "gone, without a number" if page not in after else "changed, and none of its numbers"
