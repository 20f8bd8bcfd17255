"""Staged pages are built by builders that know nothing of records, and the audit passes what they make."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import sample_record

from generator import audit
from generator.render.staged import Misuse, stage

BUILDERS = {
    "mkdocs": ["build", "-q", "-f", "mkdocs.yml", "-d", "site"],
    "properdocs": ["build", "-q", "-f", "mkdocs.yml", "-d", "site"],
    "zensical": ["build"],
}


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return sample_record.write(tmp_path_factory.mktemp("staged"))


def built(record: Path, folder: Path, builder: str) -> Path:
    """The site that a builder makes of the pages of a record."""
    program = shutil.which(builder, path=str(Path(sys.executable).parent))
    if program is None:
        pytest.skip(f"{builder} is not installed here: pip install {builder}")
    stage(record, folder)
    done = subprocess.run([program, *BUILDERS[builder]], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "site"


@pytest.mark.parametrize("builder", BUILDERS)
def test_the_audit_passes_what_each_builder_makes_and_refuses_it_spoiled(
    record: Path, tmp_path: Path, builder: str
) -> None:
    site = built(record, tmp_path, builder)
    report = audit.verify(record, site)
    assert report.refusals == []
    assert (report.numbers, report.pages) == (28, 10 + (site / "404.html").is_file())
    page = site / "findings/F-01.html"
    text = page.read_text("utf-8")
    assert ">2.60</a>" in text
    page.write_text(text.replace(">2.60</a>", ">2.61</a>"), "utf-8")
    assert {each.code for each in audit.verify(record, site).refusals} >= {"display-mismatch"}


def test_a_folder_that_holds_something_else_is_left_alone(record: Path, tmp_path: Path) -> None:
    (tmp_path / "thesis.md").write_text("mine")
    with pytest.raises(Misuse):
        stage(record, tmp_path)
    assert [file.name for file in tmp_path.iterdir()] == ["thesis.md"]
