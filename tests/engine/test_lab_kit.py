"""The kit and the examples, as somebody who downloads them has them."""

from __future__ import annotations

import io
import json
import re
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from engine import lab, lab_kit

NODE = shutil.which("node")
ROOT = Path(__file__).parents[2]


@pytest.fixture
def unpacked(tmp_path: Path) -> Path:
    with tarfile.open(lab_kit.OUT) as tar:
        tar.extractall(tmp_path, filter="data")
    return tmp_path / lab_kit.FOLDER


def ran(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120)


def test_the_committed_kit_is_what_the_sources_give() -> None:
    assert lab_kit.OUT.read_bytes() == lab_kit.archive(), "python -m engine.lab_kit writes it anew"


def test_any_data_comes_back_from_its_stored_form() -> None:
    import gzip

    for size in (0, 1, lab_kit.BLOCK, lab_kit.BLOCK + 1, 200_000):
        data = bytes(range(256)) * (size // 256 + 1)
        assert gzip.decompress(lab_kit.gzipped(data[:size])) == data[:size]


def test_entries_have_no_date_and_no_owner() -> None:
    with tarfile.open(fileobj=io.BytesIO(lab_kit.archive())) as tar:
        entries = tar.getmembers()
    assert [each.name for each in entries] == sorted(each.name for each in entries)
    assert {(each.mtime, each.uid, each.gid, each.mode) for each in entries} == {(0, 0, 0, 0o644)}


def test_the_checks_of_the_kit_pass_in_python_and_fail_when_it_is_spoilt(unpacked: Path) -> None:
    done = ran(unpacked, sys.executable, "-m", "unittest")
    assert done.returncode == 0 and re.search(r"Ran 4 tests", done.stderr), done.stderr
    spoilt = (unpacked / "lab.py").read_text("utf-8").replace("s.verify +", "")
    (unpacked / "lab.py").write_text(spoilt, encoding="utf-8")
    assert ran(unpacked, sys.executable, "-m", "unittest").returncode == 1


@pytest.mark.skipif(NODE is None, reason="node is not installed, and half of the kit needs it")
def test_the_checks_of_the_kit_pass_in_node_and_fail_when_it_is_spoilt(unpacked: Path) -> None:
    assert NODE
    done = ran(unpacked, NODE, "--test")
    assert done.returncode == 0 and "# pass 4" in done.stdout, done.stdout
    spoilt = (unpacked / "lab.js").read_text("utf-8").replace("s.verify +", "")
    (unpacked / "lab.js").write_text(spoilt, encoding="utf-8")
    assert ran(unpacked, NODE, "--test").returncode == 1


def test_the_examples_print_what_the_page_says(unpacked: Path) -> None:
    said = json.loads((ROOT / "payloads/registered/lab.json").read_text("utf-8"))["results"]["example"]
    line = " ".join(str(said[name]["value"]) for name in ("expected", "observed")) + "\n"
    assert ran(unpacked, sys.executable, "example.py").stdout == line
    if NODE:
        assert ran(unpacked, NODE, "example.cjs").stdout == line


def test_what_is_registered_is_what_the_code_begins_with() -> None:
    results = json.loads((ROOT / "payloads/registered/lab.json").read_text("utf-8"))["results"]
    fields = {
        name: tuple(at[side]["value"] for side in ("least", "most", "default"))
        for name, at in results["fields"].items()
    }
    assert fields == {name: (each.least, each.most, each.default) for name, each in lab.FIELDS.items()}
    assert (results["few"]["value"], results["level"]["value"]) == (lab.FEW, lab.LEVEL)
    assert results["longest"]["value"] == lab.LONGEST
    for settings in results["exercises"].values():
        given = {name: at["value"] for name, at in settings.items()}
        lab.report(given)


def test_the_editions_say_the_same_in_two_languages() -> None:
    english, german = ((ROOT / f"site_src/{name}.md").read_text("utf-8") for name in ("lab", "lab.de"))
    for found in (
        r'data-(?:message|field|preset|exercise|choice|value|stage|set|other|asks|against)="[^"]*"',
        r"\{\{[^}]*\}\}",
        r"\{% verbatim [^%]*%\}",
        r'id="[^"]*"',
    ):
        assert sorted(re.findall(found, english)) == sorted(re.findall(found, german))
    said = [dict(re.findall(r'data-message="([^"]+)">(.*?)</p>', text)) for text in (english, german)]
    holes = [{name: sorted(re.findall(r"\{\w+\}", text)) for name, text in each.items()} for each in said]
    assert holes[0] == holes[1]
    same = {name for name in said[0] if said[0][name] == said[1][name]}
    assert same == {"ms"}
