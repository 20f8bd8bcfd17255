"""A record begun in any repository builds at once, and nothing that was there is touched."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner, Result

from generator.cli import main

ITS_OWN = ("mkdocs.yml", "findings/F-01.md", "findings/terms.toml", "payloads/example/tree.json")

AT_THE_TOP = (".github/workflows/findings.yml", ".pre-commit-config.yaml", ".gitignore")


def call(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, [str(argument) for argument in arguments], catch_exceptions=False)


def git(folder: Path, *arguments: str) -> None:
    identity = ("-c", "user.name=Anyone", "-c", "user.email=anyone@example.org")
    subprocess.run(["git", "-C", str(folder), *identity, *arguments], check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository of somebody's, with one commit."""
    (tmp_path / "train.py").write_text("print('hello')\n")
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "One")
    return tmp_path


def test_a_record_begun_in_any_repository_is_built_and_passes_as_ci_would_once_committed(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = call("init", repository)
    assert begun.exit_code == 0, begun.output
    assert (repository / "site/findings/F-01.html").is_file()
    git(repository, "add", ".")
    git(repository, "commit", "-qm", "A record")
    monkeypatch.setenv("CI", "1")
    checked = call("check", "--root", repository)
    assert checked.exit_code == 0, checked.output
    assert "0 refusals, 0 warnings" in checked.output
    planted = repository / "findings/F-01.md"
    planted.write_text(planted.read_text().replace("Type a number", "Type 7 numbers"))
    assert "untraced-number" in call("check", "--root", repository).output


def test_the_first_payload_counts_what_is_there(repository: Path) -> None:
    call("init", repository)
    results = json.loads((repository / "payloads/example/tree.json").read_text())["results"]
    written = [repository / path for path in ("train.py", *ITS_OWN[:3], *AT_THE_TOP)]
    assert results["files"]["value"] == len(written)
    assert results["bytes"]["value"] == sum(file.stat().st_size for file in written)


@pytest.mark.parametrize("path", [*ITS_OWN, "findings"])
def test_what_stands_in_its_place_is_named_and_nothing_is_written(repository: Path, path: str) -> None:
    taken = repository / path
    taken.parent.mkdir(parents=True, exist_ok=True)
    taken.write_text("mine")
    before = sorted(file for file in repository.rglob("*") if ".git" not in file.parts)
    refused = call("init", repository)
    assert refused.exit_code == 1
    assert f"{path}:1:1: " in refused.output
    assert sorted(file for file in repository.rglob("*") if ".git" not in file.parts) == before
    assert taken.read_text() == "mine"


def test_a_file_in_the_place_of_a_folder_is_named_and_nothing_is_written(repository: Path) -> None:
    (repository / ".github").touch()
    begun = call("init", repository)
    assert begun.exit_code == 1 and ".github:1:1:" in begun.output
    assert not (repository / "mkdocs.yml").exists() and not (repository / "findings").exists()


def test_files_that_a_repository_has_for_other_reasons_are_left_and_the_lines_are_said(
    repository: Path,
) -> None:
    for name in (".gitignore", ".pre-commit-config.yaml"):
        (repository / name).write_text("# mine\n")
    begun = call("init", repository)
    assert begun.exit_code == 0
    assert "/site/" in begun.output and "findings check --root" in begun.output
    assert (repository / ".gitignore").read_text() == "# mine\n"


def test_a_record_in_a_folder_has_its_workflow_at_the_top_of_the_repository(repository: Path) -> None:
    assert call("init", repository / "record").exit_code == 0
    workflow = yaml.safe_load((repository / ".github/workflows/findings.yml").read_text())
    assert workflow["jobs"]["findings"]["defaults"]["run"]["working-directory"] == "record"
    hooks = yaml.safe_load((repository / ".pre-commit-config.yaml").read_text())
    assert hooks["repos"][0]["hooks"][0]["entry"] == 'findings check --root "record"'


def test_a_folder_outside_git_becomes_a_record_too(tmp_path: Path) -> None:
    begun = call("init", tmp_path / "new")
    assert begun.exit_code == 0, begun.output
