"""A tiny record for every refusal code gives that refusal, at its place, through the command line."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import small_record

from generator.report.refusal import CODES

CASES = Path(__file__).parent / "refused"


@dataclass(frozen=True)
class Expected:
    """What a case runs, and the one refusal that it must give.

    The place is a line and a column, or, on a built page, the text that begins there. `git` is a whole
    or a shallow repository, `register` what is registered in it before the edits. `also` is what else is
    refused, each as a code and a file: what repeats a number is no longer true of a number that is refused.
    """

    command: str
    code: str
    file: str
    line: int = 0
    column: int = 0
    at: str = ""
    git: str = ""
    ci: bool = False
    register: list[str] = field(default_factory=list)
    grow: dict[str, int] = field(default_factory=dict)
    also: list[str] = field(default_factory=list)

    def place(self, root: Path) -> tuple[str, int, int]:
        """File, line and column."""
        if not self.at:
            return self.file, self.line, self.column
        text = (root / self.file).read_text("utf-8")
        assert text.count(self.at) == 1, f"{self.at!r} stands {text.count(self.at)} times in {self.file}"
        offset = text.index(self.at)
        return self.file, text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset)


def expected(code: str) -> Expected:
    """The case of a code."""
    return Expected(**small_record.table(CASES / code, "expected.toml"))


def prepared(case: Expected, root: Path) -> Path:
    """The record as the command finds it."""
    small_record.copied(CASES / case.code, root)
    small_record.grown(root, case.grow)
    if case.git:
        small_record.commit(root)
    if case.register:
        done = small_record.call("register", *case.register, "--root", root)
        assert done.exit_code == 0, done.output
        small_record.commit(root)
    if case.command == "verify":
        done = small_record.call("build", "--root", root)
        assert done.exit_code == 0, done.output
    for edit in small_record.edits(CASES / case.code):
        edit.apply(root)
    return small_record.shallow(root, root.parent / "clone") if case.git == "shallow" else root


def test_every_code_has_its_case_and_every_case_its_code() -> None:
    assert {folder.name for folder in CASES.iterdir()} == set(CODES)
    assert {code: expected(code).code for code in CODES} == {code: code for code in CODES}


@pytest.mark.parametrize("code", CODES)
def test_a_record_of_a_few_lines_gives_its_one_refusal_at_its_place(
    code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = expected(code)
    root = prepared(case, tmp_path / "record")
    if case.ci:
        monkeypatch.setenv("CI", "true")
    arguments = [case.command, *(["site"] if case.command == "verify" else []), "--root", str(root)]
    path, line, column = case.place(root)

    text = small_record.call(*arguments)
    assert text.exit_code == 1, text.output
    refused = [each for each in text.stdout.splitlines()[:-1] if ": warning: " not in each]
    places = [each.split(": ")[:2] for each in refused]
    assert places.count([f"{path}:{line}:{column}", code]) == 1
    others = [f"{kind} {at.split(':')[0]}" for at, kind in places if at != f"{path}:{line}:{column}"]
    assert sorted(others) == sorted(case.also)
    assert re.match(rf"{len(places)} refusals?, ", text.stdout.splitlines()[-1])

    form = small_record.call(*arguments, "--format", "json")
    assert form.exit_code == 1
    told = json.loads(form.stdout)["refusals"]
    [refusal] = [
        each for each in told if (each["path"], each["line"], each["column"]) == (path, line, column)
    ]
    assert refusal["code"] == code
    assert len(told) == len(places)
    assert re.search(r"[.!]$", refusal["message"])


@pytest.mark.parametrize("code", [code for code in CODES if small_record.edits(CASES / code)])
def test_a_record_whose_fault_is_an_edit_passes_before_it(code: str, tmp_path: Path) -> None:
    root = small_record.copied(CASES / code, tmp_path / "record")
    assert small_record.call("check", "--root", root).exit_code == 0
