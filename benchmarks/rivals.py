"""The other programs that judge numbers in Markdown, each in one environment of its own, apart from ours.

None of them is a library for us: they are run as whole processes, on the same files, with their strictest
setting, beside one data file that holds no number of the text.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import venv
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

PINNED = {"manuscript-guard": "0.2.464", "doubleblind-audit": "0.1.1", "docclaims": "0.4.0"}
DATA = "data.json"


@dataclass(frozen=True)
class Tool:
    """A program, the command that judges one Markdown file, and how its answer is read."""

    name: str
    command: Callable[[Path, Path], list[str]]
    caught: Callable[[str], bool]


def folder() -> Path:
    """Where the environment of the rivals is kept."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return cache / "specdec-sidechannels" / "rivals"


def install() -> Path:
    """Make the environment where it is missing; gives its folder of programs, raises CalledProcessError."""
    programs = folder() / "bin"
    if not all((programs / name).exists() for name in ("manuscript-guard", "doubleblind", "docclaims")):
        venv.create(folder(), clear=True, with_pip=True)
        wanted = [f"{name}=={version}" for name, version in PINNED.items()]
        quiet = ["-q", "--disable-pip-version-check"]
        subprocess.run([programs / "python", "-m", "pip", "install", *quiet, *wanted], check=True)
    return programs


def tools(programs: Path) -> list[Tool]:
    """The rivals, in the order in which they are shown."""

    def audit(file: Path, data: Path) -> list[str]:
        return [str(programs / "manuscript-guard"), "audit", str(file), "--against", str(data), "--strict"]

    def trace(file: Path, data: Path) -> list[str]:
        return [
            *(str(programs / "doubleblind"), "--no-color", "trace", str(file)),
            *("--data", str(data), "--strict", "-v"),
        ]

    def suggest(file: Path, data: Path) -> list[str]:
        return [str(programs / "docclaims"), "suggest", "--root", str(file.parent), str(file)]

    version = PINNED
    return [
        Tool(f"manuscript-guard {version['manuscript-guard']}, audit --strict", audit, _unmatched),
        Tool(f"doubleblind-audit {version['doubleblind-audit']}, trace --strict", trace, _unsupported),
        Tool(f"docclaims {version['docclaims']}, suggest", suggest, _drafted),
    ]


def _unmatched(output: str) -> bool:
    found = re.search(r"([0-9]+) not found", output)
    return bool(found and int(found[1]))


def _unsupported(output: str) -> bool:
    return "UNSUPPORTED" in output or "UNCHECKABLE" in output


def _drafted(output: str) -> bool:
    return bool(json.loads(output)["claims"])


def ours(root: Path) -> list[str]:
    """The command that judges a whole record."""
    return [sys.executable, "-m", "generator", "check", "--format", "json", "--root", str(root)]


def answer(command: list[str], folder: Path) -> str:
    """What a program printed on standard output; how it exits is part of no answer."""
    return subprocess.run(command, cwd=folder, capture_output=True, text=True).stdout
