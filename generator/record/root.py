"""Finds the record that a command is about; imports nothing that reads one."""

from __future__ import annotations

from pathlib import Path


def find_root(start: Path) -> Path | None:
    """The nearest folder at or above a start that holds findings/."""
    return next((folder for folder in (start, *start.parents) if (folder / "findings").is_dir()), None)
