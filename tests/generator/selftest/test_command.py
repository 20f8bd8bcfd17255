"""findings selftest: what it prints, what it exits with, and that it leaves the record alone."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import sample_record
from click.testing import CliRunner, Result

from generator.audit import predicate
from generator.cli import main
from generator.selftest import expressions, run, traces


@pytest.fixture(autouse=True)
def two_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two groups of faults; all of them are planted by `make test`."""
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.setattr(run, "GROUPS", {"typed": traces.typed, "claims": expressions.claims})


def _called(root: Path, *options: str) -> Result:
    arguments = ["selftest", "--root", str(root), *options]
    return CliRunner().invoke(main, arguments, catch_exceptions=False)


def test_it_tells_what_was_planted_and_caught_by_kind_and_leaves_the_record_alone(tmp_path: Path) -> None:
    root = sample_record.write(tmp_path)
    before = {file: file.read_bytes() for file in root.rglob("*") if file.is_file()}
    called = _called(root, "--at-least", "20")
    assert called.exit_code == 0
    assert re.search(r"^ +(\d+) planted +\1 caught   a number typed by hand$", called.output, re.MULTILINE)
    assert re.search(r"^(\d+) faults planted, \1 caught$", called.output.splitlines()[-1])
    assert {file: file.read_bytes() for file in root.rglob("*") if file.is_file()} == before


def test_too_few_faults_are_no_proof(tmp_path: Path) -> None:
    called = _called(sample_record.write(tmp_path), "--at-least", "100000")
    assert called.exit_code == 1
    assert "At least 100000 faults have to be planted." in called.output


def test_a_fault_that_slips_through_is_printed_with_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Lenient(predicate.Trace):
        def holds(self, node: object, depth: int = 0) -> bool:
            super().holds(node, depth)
            return True

    monkeypatch.setattr("generator.audit.mark.Trace", Lenient)  # of claims; rules are judged as before
    called = _called(sample_record.write(tmp_path))
    assert called.exit_code == 1
    misses = re.findall(
        r"^site/findings/F-0[12]\.html:\d+: missed: a page: claim made false: .* found nothing$",
        called.output,
        re.MULTILINE,
    )
    assert misses


def test_a_record_that_is_refused_as_it_stands_is_not_tested(tmp_path: Path) -> None:
    root = sample_record.write(tmp_path, {"site_src/reading.md": "It is 7.\n"})
    called = _called(root)
    assert called.exit_code == 1
    assert "site_src/reading.md:1:7: untraced-number" in called.output
    assert "planted" not in called.output


def test_a_folder_without_a_configuration_is_misuse(tmp_path: Path) -> None:
    called = _called(sample_record.write(tmp_path, {"mkdocs.yml": None}))
    assert called.exit_code == 2
    assert "mkdocs.yml is not there" in called.output
