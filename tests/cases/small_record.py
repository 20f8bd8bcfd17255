"""Records of a few lines in folders: copied, put under git, built and edited as their case says."""

from __future__ import annotations

import os
import shutil
import subprocess
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result

from generator.cli import main

OWN = ("expected.toml", "edit.toml", "beside.toml")
"""Files of a case that are no part of its record."""


@dataclass(frozen=True)
class Edit:
    """A text of a file that stands there once, and what takes its place."""

    file: str
    old: str
    new: str

    def apply(self, root: Path) -> None:
        """Change the file."""
        text = (root / self.file).read_text("utf-8")
        assert text.count(self.old) == 1, f"{self.old!r} stands {text.count(self.old)} times in {self.file}"
        (root / self.file).write_text(text.replace(self.old, self.new), "utf-8", newline="")


def table(folder: Path, name: str) -> dict[str, Any]:
    """A TOML file of a case, empty where it has none."""
    file = folder / name
    return tomllib.loads(file.read_text("utf-8")) if file.is_file() else {}


def edits(folder: Path) -> list[Edit]:
    """What is changed before the command runs: of a source, or of the built page."""
    return [Edit(**each) for each in table(folder, "edit.toml").get("edit", [])]


def copied(folder: Path, root: Path) -> Path:
    """The record of a case in a folder of the test."""
    shutil.copytree(folder, root, ignore=shutil.ignore_patterns(*OWN))
    return root


def grown(root: Path, sizes: Mapping[str, int]) -> None:
    """Files made as large as a case says, without writing their bytes."""
    for path, size in sizes.items():
        os.truncate(root / path, size)


def call(*arguments: str | Path) -> Result:
    """One command of findings; an exception that it lets through is one of the test."""
    return CliRunner().invoke(main, [str(each) for each in arguments], catch_exceptions=False)


def git(root: Path, *arguments: str) -> None:
    """Run git in a repository of the test."""
    identity = ["-c", "user.name=test", "-c", "user.email=test@example.invalid", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", "-C", str(root), *identity, *arguments], check=True, capture_output=True)


def commit(root: Path) -> None:
    """Commit everything, in a repository that is made where there is none."""
    if not (root / ".git").exists():
        git(root, "init", "-q", "-b", "main")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "A record")


def shallow(root: Path, clone: Path) -> Path:
    """A clone of the last commit alone."""
    git(root, "clone", "-q", "--depth", "1", f"file://{root}", str(clone))
    return clone
