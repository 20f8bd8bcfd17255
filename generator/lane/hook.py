"""The git hook that runs the guard before each commit, whatever wrote the files."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

from generator.record import writing
from generator.record.repository import ask

MARK = "# Written by findings lane install."


class Foreign(Exception):
    """A hook that is somebody else's; the message says what to add to it."""


def install(root: Path) -> Path:
    """Write the hook, or write it anew; raises Foreign where another stands there, OSError."""
    file = _place(root)
    if file.exists() and MARK not in file.read_bytes().decode("utf-8", "replace").splitlines():
        said = f"{file} is a hook that findings did not write; it stays as it is."
        raise Foreign(f"{said} Add to it: {_command(root)} || exit 1")
    writing.replace(file, f"#!/bin/sh\n{MARK}\nexec {_command(root)}\n".encode(), 0o755)
    return file


def _place(root: Path) -> Path:
    """Where git looks for the hook, which is not always below .git."""
    hooks = ask(root, "rev-parse", "--git-path", "hooks")
    if hooks is None:
        raise Foreign(f"{root} stands outside any git repository, where nothing is committed.")
    return (root / hooks.rstrip("\n")).resolve() / "pre-commit"


def _command(root: Path) -> str:
    """The guard as a shell runs it from the top of the working tree."""
    inside = (ask(root, "rev-parse", "--show-prefix") or "").rstrip("\n") or "."
    return f"{shlex.quote(sys.executable)} -P -m generator lane guard --root {shlex.quote(inside)}"
