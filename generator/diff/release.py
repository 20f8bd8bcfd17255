"""Keeps the comparison of two releases beside the findings, where the site shows it as it is."""

from __future__ import annotations

from pathlib import Path

from generator.diff import forms
from generator.diff.change import Change
from generator.diff.entry import Side
from generator.record import writing
from generator.record.record import CHANGES


class Unnameable(Exception):
    """Two names of which no file name can be made."""


def keep(root: Path, old: Side, new: Side, changes: list[Change]) -> Path:
    """Write the Markdown form as OLD..NEW.md, whole or not at all; raises Unnameable, OSError."""
    name = f"{old.name}..{new.name}.md"
    if "/" in name or " " in name or not name.isprintable():
        raise Unnameable(f"{name} is no name for a file. Compare two tags whose names have no slash.")
    file = root / CHANGES / name
    writing.replace(file, forms.markdown(old, new, changes).encode())
    return file
