"""A record in a git repository that can be released, and git for tests."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import sample_record
from click.testing import CliRunner, Result

from generator.cli import main

CITATION = 'cff-version: 1.2.0\ntitle: "Sample"\nversion: 0.1.0\nlicense: MIT\n'
CHANGELOG = "# Changelog\n\n## 0.2.0 (2026-11-30)\n\n- A finding.\n\n## 0.1.0 (2026-11-01)\n\n- The start.\n"
IDENTITY = ["-c", "user.name=test", "-c", "user.email=test@example.invalid", "-c", "commit.gpgsign=false"]


def git(root: Path, *arguments: str) -> str:
    """Run git in a repository of the test."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    command = ["git", "-C", str(root), *IDENTITY, *arguments]
    done = subprocess.run(command, check=True, capture_output=True, env=environment)
    return done.stdout.decode()


def commit(root: Path, why: str = "A change") -> None:
    """Commit everything."""
    git(root, "add", "-A")
    git(root, "commit", "-q", "--allow-empty", "-m", why)


def made(root: Path, changes: dict[str, str | bytes | None] | None = None) -> Path:
    """The sample record, committed, with all that a release asks for."""
    beside: dict[str, str | bytes | None] = {
        "CITATION.cff": CITATION,
        "CHANGELOG.md": CHANGELOG,
        ".gitignore": "site/\n",
    }
    sample_record.write(root, {**beside, **(changes or {})})
    git(root.parent, "init", "-q", "-b", "main", str(root))
    commit(root, "A record")
    return root


def call(root: Path, *arguments: str) -> Result:
    """One command of findings on a record."""
    return CliRunner().invoke(main, [*arguments, "--root", str(root)], catch_exceptions=False)
