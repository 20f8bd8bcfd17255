"""The tutorial on adding one's own is carried out as it stands, on a copy of the engine."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from engine.observe.constants import REGISTERED, read

if TYPE_CHECKING:
    from engine.decode.llama import Llama

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "site_src/extend.md").read_text("utf-8")
WRITE = re.compile(r"^(Write|Add)\b[^`\n]*`(engine/[^`]+)`:\n\n\{% verbatim \"([^\"]+)\" %\}$", re.MULTILINE)
COMMANDS = re.compile(r"```sh\n(.*?)```", re.DOTALL)
TABLE = "EXPERIMENTS = (\n"


def carried_out(clone: Path, how: str, path: str, given: str) -> None:
    """One step: a new file, an entry at the end of a registry, or a line of the table."""
    file, text = clone / path, (ROOT / given).read_text("utf-8")
    assert file.exists() == (how == "Add"), path
    if how == "Write":
        file.write_text(text, "utf-8")
    elif path.endswith(".toml"):
        file.write_text(file.read_text("utf-8") + text, "utf-8")
    else:
        before, table, after = file.read_text("utf-8").partition(TABLE)
        assert table
        file.write_text(before + table + text + after, "utf-8")


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What every command of the tutorial printed, after all its steps."""
    clone = tmp_path_factory.mktemp("clone")
    shutil.copytree(ROOT / "engine", clone / "engine", ignore=shutil.ignore_patterns("__pycache__"))
    (clone / "payloads/registered").mkdir(parents=True)
    (clone / "findings").mkdir()
    shutil.copy(REGISTERED, clone / "payloads/registered")
    (clone / "bin").mkdir()
    for name, words in {"engine": "-m engine", "python": ""}.items():
        script = clone / "bin" / name
        script.write_text(f'#!/bin/sh\nexec "{sys.executable}" {words} "$@"\n')
        script.chmod(0o755)
    who = {
        f"GIT_{role}_{what}": "test@example.invalid"
        for role in ("AUTHOR", "COMMITTER")
        for what in ("NAME", "EMAIL")
    }
    paths = {"PATH": f"{clone / 'bin'}:{os.environ['PATH']}", "PYTHONPATH": str(clone)}
    environment = {
        **os.environ,
        **who,
        **paths,
        "XDG_CACHE_HOME": str(clone / "cache"),
        "OMP_NUM_THREADS": "1",
    }

    def shell(line: str) -> str:
        done = subprocess.run(line, shell=True, cwd=clone, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"
        return done.stdout

    shell("git init -q -b main && git add engine && git commit -q -m 'The engine'")
    for step in WRITE.findall(PAGE):
        carried_out(clone, *step)
    return {line: shell(line) for block in COMMANDS.findall(PAGE) for line in block.splitlines()}


def test_every_text_of_the_tutorial_is_a_step() -> None:
    steps = WRITE.findall(PAGE)
    assert {given for _, _, given in steps} == {
        f"docs/extend/{file.name}" for file in (ROOT / "docs/extend").iterdir()
    }
    assert len(re.findall("verbatim", PAGE)) == len(steps) == 5


def test_a_model_is_one_entry(told: dict[str, str]) -> None:
    assert "my-draft" in told["engine list"]


def test_an_experiment_is_one_file_and_one_line_and_its_numbers_are_recomputed(told: dict[str, str]) -> None:
    assert "payloads/mine/echo.json" in told["engine run echo"]
    assert "equal" in told["engine check mine/echo"]
    assert "mine/echo" in told["engine check mine/echo"]


def test_a_stream_and_a_scheme_are_one_file_each(told: dict[str, str]) -> None:
    streams, schemes = (told[line].split() for line in told if line.startswith("python -c"))
    assert streams == ["s1", "s2", "s2a", "s3", "s4"]
    assert schemes == ["plain", "lookup", "draft", "rest", "lade", "eagle", "bild", "repeat"]


def imported(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"extend_{name}", ROOT / f"docs/extend/{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_stream_of_the_tutorial_tells_the_slot() -> None:
    made = imported("stream").STREAM.features({"position": np.array([0, 15, 16, 33])}, read())
    assert made.argmax(axis=1).tolist() == [0, 15, 0, 1]
    assert made.sum(axis=1).tolist() == [1, 1, 1, 1]


def test_the_draft_of_the_tutorial_leaves_the_text_as_it_is(tiny: Callable[..., tuple[Any, Llama]]) -> None:
    from engine.decode.scheme import Request
    from engine.decode.schemes import Parts, scheme

    parts = Parts(tiny(3)[1])
    request = Request((3, 1, 4), 30, 0)

    def text(rounds: Iterator[tuple[int, ...]]) -> list[int]:
        return [token for new in rounds for token in new]

    mine = imported("draft").scheme(parts)
    assert text(mine.rounds(request)) == text(scheme("plain", parts).rounds(request))
