"""What the README promises is what the repository does."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

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
