"""What the README promises is what the repository does."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from engine.decode.registry import entries
from engine.experiments.names import find
from generator.gate.source import check_sources
from generator.number.evaluate import evaluate
from generator.record import record as records
from generator.record import source as sources

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def two_commands() -> list[str]:
    """The lines of the README's first code block."""
    found = re.search(r"## Two commands.*?```sh\n(.*?)```", README, re.DOTALL)
    assert found is not None
    return found[1].split("\n")[:-1]


def test_ci_runs_exactly_the_two_commands_of_the_readme() -> None:
    script = (ROOT / ".ci/run").read_text(encoding="utf-8")
    assert [line for line in script.split("\n") if line.startswith("make ")] == two_commands()


def test_every_make_command_in_the_readme_is_a_target() -> None:
    mentioned = set(re.findall(r"(?:^|`)make ([a-z-]+)", README, re.MULTILINE))
    assert mentioned >= {"site", "test", "serve", "record", "bench"}
    for target in mentioned:
        subprocess.run(["make", "-n", target], cwd=ROOT, check=True, capture_output=True)


def test_both_senses_of_side_channel_stand_before_the_first_heading_below_the_title() -> None:
    opening = README.split("\n## ")[0]
    assert "side channels" in opening
    assert "draft" in opening and "eavesdropper" in opening


def test_every_picture_and_file_the_readme_names_is_there() -> None:
    named = re.findall(r"\]\(([^)#:]+)\)", README)
    assert named
    for path in named:
        assert (ROOT / path).exists(), path


def test_the_licence_and_version_agree_wherever_they_are_stated() -> None:
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    version = re.search(r'^version = "(.+)"$', project, re.MULTILINE)
    assert version is not None
    assert f"version: {version[1]}\n" in citation
    assert f"## {version[1]}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert (ROOT / "LICENSE").read_text(encoding="utf-8").startswith("MIT License")


def commands() -> list[str]:
    """Every line of every shell block, without its comment."""
    blocks = re.findall(r"```sh\n(.*?)```", README, re.DOTALL)
    return [line.partition(" #")[0].strip() for block in blocks for line in block.splitlines()]


CHECKS = [line for line in commands() if line.startswith("python -m engine.check")]
LONG = {"fetch": entries, "run": lambda: {name: find(name) for name in ("acceptance",)}}
"""Commands of the engine that take minutes: that what they are asked for is there is seen, and no more."""


@pytest.mark.parametrize("line", CHECKS)
def test_a_number_of_the_readme_is_recomputed(line: str) -> None:
    done = subprocess.run([sys.executable, *shlex.split(line)[1:]], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "equal" in done.stdout


def test_every_command_of_the_readme_is_run_here_or_is_a_target_or_asks_for_what_there_is() -> None:
    assert len(CHECKS) > 2
    for line in set(commands()) - set(CHECKS):
        program, *words = shlex.split(line)
        if program == "make":
            continue
        assert program == ".venv/bin/engine", line
        if words == ["list"]:
            done = subprocess.run([sys.executable, "-m", "engine", "list"], cwd=ROOT, capture_output=True)
            assert done.returncode == 0
        else:
            assert words[1] in LONG[words[0]](), line


def test_the_finding_of_the_readme_passes_the_gate() -> None:
    example = re.search(r"```markdown\n(.*?)```", README, re.DOTALL)
    assert example is not None
    record = records.load(ROOT)
    source = sources.parse("findings/F-09.md", example[1])
    revised = records.revised(record, source)
    assert evaluate(revised, source).refusals == ()
    assert [
        each
        for each in check_sources([source], record.terms, record.ids).refusals
        if each.path == source.path
    ] == []
    spoiled = sources.parse("findings/F-09.md", example[1].replace("emits", "emits 3 of"))
    report = check_sources([spoiled], record.terms, record.ids)
    assert "untraced-number" in {each.code for each in report.refusals}
