"""The vectors are golden, reach every clause, and catch every spoilt coder."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import lockstep_coverage as coverage
import lockstep_mutants as mutants
import make_vectors
import pytest

from engine.coding import conformance, lockstep

VECTORS = conformance.vectors()
SHORT_FIRST = sorted(VECTORS.values(), key=lambda vector: len(str(vector)))
SOURCE = Path(lockstep.__file__).read_text(encoding="utf-8")
LIMIT_SECONDS = 0.5


@pytest.mark.parametrize("name", VECTORS)
def test_the_coder_passes_every_vector(name: str) -> None:
    assert conformance.judge(VECTORS[name]) is None


def test_the_committed_vectors_are_those_that_the_script_makes() -> None:
    assert make_vectors.vectors() == VECTORS


def test_the_script_writes_only_what_is_missing(tmp_path: Path) -> None:
    make_vectors.main(tmp_path)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {
        path.name: path.read_bytes() for path in conformance.FOLDER.iterdir()
    }
    golden = tmp_path / "core-1-empty.json"
    golden.write_text("{}")
    make_vectors.main(tmp_path)
    assert golden.read_text() == "{}"


def test_vectors_are_plain_json_of_integers() -> None:
    def refuse(text: str) -> None:
        raise AssertionError(f"{text} is no integer")

    for path in conformance.FOLDER.iterdir():
        json.loads(path.read_bytes(), parse_float=refuse, parse_constant=refuse)


def test_every_clause_is_reached_by_some_vector_and_the_page_says_which() -> None:
    reached = set().union(*(coverage.reached(vector) for vector in VECTORS.values()))
    assert reached == set(coverage.clauses().values())
    page = coverage.PAGE.read_text(encoding="utf-8")
    assert page.split(coverage.START)[1].split(coverage.END)[0].strip() == coverage.table()


def test_the_page_explains_every_clause() -> None:
    page = coverage.PAGE.read_text(encoding="utf-8")
    for clause in set(coverage.clauses().values()):
        assert f"**[{clause}]**" in page


def test_runs_and_rescalings_are_long() -> None:
    assert max(coverage.longest_run(vector) for vector in VECTORS.values()) >= 10
    assert coverage.reached(VECTORS["core-5-rescale"])["rescale"] >= 2 * 24


class TooSlow(BaseException):
    """The spoilt coder goes on for ever."""


def _stop(*_: Any) -> None:
    raise TooSlow


def caught(mutant: mutants.Mutant) -> bool:
    """Whether some vector fails, raises something else than a refusal, or never ends."""
    signal.setitimer(signal.ITIMER_VIRTUAL, LIMIT_SECONDS)
    try:
        spoilt = mutant.module()
        return any(conformance.judge(vector, spoilt) for vector in SHORT_FIRST)
    except (TooSlow, Exception):
        return True
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timers here to stop a spoilt coder with")
@pytest.mark.parametrize("kind", ["named", "automatic"])
def test_every_spoilt_coder_is_caught_by_a_vector(kind: str) -> None:
    before = signal.signal(signal.SIGVTALRM, _stop)
    try:
        every = list(getattr(mutants, kind)(SOURCE))
        missed = {mutant.name for mutant in every if not caught(mutant)}
    finally:
        signal.signal(signal.SIGVTALRM, before)
    assert len(every) >= {"named": 25, "automatic": 300}[kind]
    assert missed == (set(mutants.HARMLESS) if kind == "automatic" else set())


def test_the_unspoilt_source_passes_the_same_way() -> None:
    assert not caught(mutants.Mutant("none", "none", compile(SOURCE, "spoilt", "exec")))


ROOT = Path(lockstep.__file__).parents[2]
INTERPRETERS = {
    "the one that runs this": sys.executable,
    "the distribution's": "/usr/bin/python3",
    "PyPy": "pypy3",
}


@pytest.mark.parametrize("which", INTERPRETERS)
def test_the_command_passes_under_every_interpreter_here(which: str) -> None:
    found = shutil.which(INTERPRETERS[which])
    if found is None:
        pytest.skip(f"{INTERPRETERS[which]} is not installed")
    command = [found, "-B", "-m", "engine.coding.conformance"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"0 of {len(VECTORS)} vectors fail" in done.stdout


def test_the_command_names_what_fails(tmp_path: Path) -> None:
    folder = tmp_path / "engine/coding"
    shutil.copytree(ROOT / "engine/coding", folder, ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "engine/contract").mkdir()
    shutil.copy(ROOT / "engine/contract/errors.py", tmp_path / "engine/contract")
    coder = folder / "lockstep.py"
    coder.write_text(coder.read_text("utf-8").replace("count - (count >> 1)", "max(1, count >> 1)"), "utf-8")
    command = [sys.executable, "-m", "engine.coding.conformance"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 1 and "FAIL core-5-rescale: encodes to " in done.stdout
