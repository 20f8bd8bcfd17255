"""What git says about the record's files. The one door to git."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Repository:
    """The tracked files below a root, those that differ from their commit, and the commit's name and date."""

    in_git: bool
    tracked: frozenset[str]
    modified: frozenset[str]
    head: str | None
    head_time: int | None

    def standing(self, path: str) -> str | None:
        """Why a file is not what git keeps, in words; None where it is."""
        if not self.in_git:
            return "stands outside any git repository"
        if path not in self.tracked:
            return "is not tracked by git"
        return "differs from its commit" if path in self.modified else None


def read(root: Path) -> Repository:
    """Ask git about the files below a root; nothing is tracked where there is no repository."""
    listed = ask(root, "ls-files", "-z", "--", ".")
    if listed is None:
        return Repository(False, frozenset(), frozenset(), None, None)
    head = ask(root, "log", "-1", "--format=%H %ct")
    commit, _, time = (head or "").strip().partition(" ")
    changed = ask(root, "diff", "--name-only", "--relative", "-z", "HEAD", "--", ".") if commit else listed
    return Repository(
        in_git=True,
        tracked=_names(listed),
        modified=_names(changed or ""),
        head=commit or None,
        head_time=int(time) if time else None,
    )


def has_tag(root: Path, tag: str) -> bool:
    """Whether the repository has a tag of that name."""
    return ask(root, "rev-parse", "--verify", "-q", f"refs/tags/{tag}") is not None


def beside(root: Path) -> frozenset[str]:
    """Files below a root that git neither tracks nor ignores."""
    return _names(ask(root, "ls-files", "-z", "--others", "--exclude-standard", "--", ".") or "")


def in_ci() -> bool:
    """Whether the environment says that this is continuous integration."""
    return os.environ.get("CI", "").lower() not in ("", "0", "false")


def _names(listing: str) -> frozenset[str]:
    return frozenset(name for name in listing.split("\0") if name)


def ask(root: Path, *arguments: str) -> str | None:
    """The output of a git command, None where it fails or git is not installed."""
    data = ask_bytes(root, *arguments)
    return None if data is None else data.decode("utf-8", "surrogateescape")


def run(root: Path, *arguments: str) -> int:
    """Run a git command that speaks for itself; its exit status, one where git is not installed."""
    try:
        command = ["git", "--literal-pathspecs", "-C", str(root), *arguments]
        return subprocess.run(command, check=False).returncode
    except OSError:
        return 1


def ask_bytes(root: Path, *arguments: str, given: bytes = b"") -> bytes | None:
    """The output of a git command as bytes, None where it fails or git is not installed."""
    command = ["git", "--literal-pathspecs", "-C", str(root), *arguments]
    try:
        done = subprocess.run(command, input=given, capture_output=True, check=False, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout if done.returncode == 0 else None
