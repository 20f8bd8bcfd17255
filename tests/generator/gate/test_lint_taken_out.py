"""The lint and the text of the front page can be taken out of the repository alone."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import sample_record

import generator
from generator.render.environment import default
from generator.render.publish import publish

PACKAGE = Path(generator.__file__).parent
TEXT = "The model wins.\nIt gains 7 points, twice over.\nLlama-3.1-8B is its name.\n"


def lint(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the lint of an otherwise empty folder, with the standard library alone."""
    command = [sys.executable, "-S", "-m", "generator.gate.numerals", *arguments]
    environment = {"PATH": os.environ["PATH"]}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    """A folder with the lint and a text."""
    shutil.copytree(PACKAGE / "gate/numerals", tmp_path / "generator/gate/numerals")
    (tmp_path / "text.txt").write_text(TEXT)
    return tmp_path


def test_the_lint_copied_into_an_empty_folder_names_each_numeral_at_its_place(copied: Path) -> None:
    done = lint(copied, "text.txt", "--name", "Llama-3.1-8B")
    assert done.returncode == 1, done.stderr
    assert 'text.txt:2:10: digit: "7"' in done.stdout
    assert "text.txt:2:20: " in done.stdout and '"twice"' in done.stdout
    assert "text.txt:3:" not in done.stdout
    (copied / "text.txt").write_text("The model wins.\n")
    assert lint(copied, "text.txt").returncode == 0
    assert lint(copied, "missing.txt").returncode == 2


def test_every_file_of_the_lint_is_needed(copied: Path) -> None:
    for module in ("characters", "digits", "finding", "judgement", "names", "roman", "standards", "words"):
        file = copied / f"generator/gate/numerals/{module}.py"
        text = file.read_text()
        file.unlink()
        assert lint(copied, "text.txt").returncode not in (0, 2), module
        file.write_text(text)


def test_the_text_of_the_front_page_copied_out_gives_the_page_that_stands_in_for_it(tmp_path: Path) -> None:
    template = default("landing.md.j2")
    pages = []
    for name, landing in (("without", None), ("with", template)):
        root = sample_record.write(tmp_path / name, {"templates/landing.md.j2": landing})
        publish(root, root / "site")
        pages.append((root / "site/index.html").read_text())
    assert pages[0] == pages[1]
