"""Begins a record: look where nothing may stand yet, then write every file, or none."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from generator.init import example
from generator.record import repository, writing
from generator.record.version import installed
from generator.report.refusal import Refusal, Refused

SHARED = ("findings.yml", ".pre-commit-config.yaml", ".gitignore")
"""Files that a repository may have already: where they are there, the lines are said instead."""


@dataclass(frozen=True)
class Begun:
    """What was written, by path from the top of the repository, and the lines that others still need."""

    written: tuple[str, ...]
    left: dict[str, str]


def begin(folder: Path) -> Begun:
    """Write a first record into a folder; where a place is taken, raise Refused and write nothing."""
    top = _top(folder)
    wanted = dict(_wanted(top, folder))
    wanted[folder / example.PATH] = example.measured(
        top, {path: data for path, data in wanted.items() if not _taken(path)}
    )
    left = {path.name: text.decode() for path, text in wanted.items() if path.name in SHARED and _taken(path)}
    new = {path: data for path, data in wanted.items() if path.name not in left}
    taken = [path for path in (*new, folder / "findings") if _taken(path)]
    taken += dict.fromkeys(
        each for path in new for each in path.parents if _taken(each) and not each.is_dir()
    )
    if taken:
        raise Refused(_refusal(path, top) for path in taken)
    for path, data in new.items():
        writing.replace(path, data)
    return Begun(tuple(path.relative_to(top).as_posix() for path in new), left)


def _top(folder: Path) -> Path:
    """The top of the repository around a folder, or the folder where there is none."""
    found = repository.ask(folder, "rev-parse", "--show-toplevel")
    return Path(found.rstrip("\n")) if found else folder


def _wanted(top: Path, folder: Path) -> Iterator[tuple[Path, bytes]]:
    """Every file of a first record: its own in the folder, those of the repository at its top."""
    inside = folder.relative_to(top).as_posix()
    yield folder / "mkdocs.yml", _text("mkdocs.yml", inside)
    yield folder / "findings/F-01.md", _text("F-01.md", inside)
    yield folder / "findings/terms.toml", _text("terms.toml", inside)
    yield top / ".github/workflows/findings.yml", _text("workflow.yml", inside)
    yield top / ".pre-commit-config.yaml", _text("pre-commit.yml", inside)
    yield folder / ".gitignore", _text("gitignore", inside)


def _text(name: str, inside: str) -> bytes:
    text = files("generator.init").joinpath("files", name).read_text("utf-8")
    return text.replace("@ROOT@", inside).replace("@VERSION@", installed()).encode()


def _taken(path: Path) -> bool:
    return os.path.lexists(path)


def _refusal(path: Path, top: Path) -> Refusal:
    shown = path.relative_to(top).as_posix()
    message = "This is here already and is left as it is. Name a folder of its own: findings init record."
    return Refusal(shown, 1, 1, "bad-template", shown, message)
