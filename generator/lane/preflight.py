"""Before a commit: the gate, the critic where there is one, and the whole check."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from generator.gate import source as gate
from generator.render import site
from generator.report import text
from generator.report.refusal import Refusal

TIME_LIMIT = 600
"""Seconds that a critic may take."""


@dataclass(frozen=True)
class Step:
    """One thing that was run: its name, whether it passed, in a few words, and what it said."""

    name: str
    passed: bool
    outcome: str
    said: tuple[str, ...] = ()


def run(root: Path, critic: str | None = None) -> Iterator[Step]:
    """Every step in order; critic is an engine's console script, by default the one beside this program."""
    record, evaluations = site.gather(root)
    yield _judged("gate", gate.check(record)[0])
    yield _criticised(root, critic or _engine())
    yield _judged("check", site.judge(record, evaluations).refusals)


def _judged(name: str, refusals: list[Refusal]) -> Step:
    found = sorted(set(refusals))
    outcome = f"{len(found)} refusal{'' if len(found) == 1 else 's'}"
    return Step(name, not found, outcome, tuple(text.line(each) for each in found))


def _engine() -> str:
    return str(Path(sys.executable).with_name("engine"))


def _criticised(root: Path, engine: str) -> Step:
    """What the critic says of the record; no engine, or an engine without one, is no fault."""
    try:
        if _asked(engine, "--help").returncode:
            return Step("critic", True, "this engine has none")
        done = _asked(engine, "--root", str(root))
    except OSError:
        return Step("critic", True, "no engine is installed here")
    except subprocess.TimeoutExpired:
        return Step("critic", False, f"no answer within {TIME_LIMIT} seconds")
    if done.returncode == 2 and "is not installed" in done.stderr:
        return Step("critic", True, "what the engine's critic needs is not installed here")
    said = tuple(line for line in (*done.stdout.splitlines(), *done.stderr.splitlines()) if line.strip())
    agrees = done.returncode == 0
    return Step("critic", agrees, said[-1] if said else "", () if agrees else said)


def _asked(engine: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [engine, "critic", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=TIME_LIMIT, check=False)
