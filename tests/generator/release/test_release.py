"""A release is proved as a whole, in a clone, before a byte of it is written."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import sample_record
from released_record import CHANGELOG, CITATION, call, commit, git, made

from generator.record import record as records
from generator.record import writing
from generator.release import run

TAG = "v0.2.0"
MANIFEST = "findings/MANIFEST.json"


@pytest.fixture(autouse=True)
def outside_ci(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CI", raising=False)


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A record on which the command has run."""
    root = made(tmp_path_factory.mktemp("released") / "record")
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("CI", raising=False)
        result = call(root, "release", TAG)
    assert result.exit_code == 0, result.output
    (root / "site").mkdir()
    (root / "site/said.txt").write_text(result.output)
    return root


def test_it_writes_the_version_and_the_manifest_and_nothing_else(released: Path) -> None:
    assert git(released, "status", "--porcelain").splitlines() == [" M CITATION.cff", f"?? {MANIFEST}"]
    assert (released / "CITATION.cff").read_text() == CITATION.replace("0.1.0", "0.2.0")
    assert git(released, "tag") == ""


def test_the_manifest_names_every_file_of_the_record_by_its_digest(released: Path) -> None:
    manifest = json.loads((released / MANIFEST).read_text())
    tracked = {"CITATION.cff", "CHANGELOG.md", *sample_record.files()}
    assert set(manifest["files"]) == tracked
    for path, digest in manifest["files"].items():
        assert hashlib.sha256((released / path).read_bytes()).hexdigest() == digest
    assert manifest["tag"] == TAG
    assert manifest["parent"] == git(released, "rev-parse", "HEAD").strip()
    assert manifest["records"] == {"acceptance": ["3f0c1ab09f3b5f6d0d1c9f8f3c1d2e4a5b6c7d8e"]}


def test_what_it_says_to_run_releases_it(released: Path, tmp_path: Path) -> None:
    root = tmp_path / "record"
    shutil.copytree(released, root)
    said = (root / "site/said.txt").read_text().splitlines()
    assert f"{TAG} is proved." in said[1]
    for line in said[2:5]:
        words = re.findall(r'"[^"]*"|\S+', line)
        assert words[0] == "git"
        git(root, *(word.strip('"') for word in words[1:]))
    assert git(root, "status", "--porcelain") == ""
    assert git(root, "tag").split() == [TAG]
    again = call(root, "release", TAG)
    assert again.exit_code == 1
    assert f".:1:1: unaccounted: git has the tag {TAG} already." in again.output


def write(path: str, text: str | None) -> Callable[[Path], None]:
    """A change that is committed."""

    def change(root: Path) -> None:
        if text is None:
            (root / path).unlink()
        else:
            (root / path).write_text(text)
        commit(root)

    return change


def uncommitted(path: str, text: str) -> Callable[[Path], None]:
    return lambda root: (root / path).write_text(text) and None


def staged(root: Path) -> None:
    (root / "CHANGELOG.md").write_text(CHANGELOG + "\n- More.\n")
    git(root, "add", "-A")


def tagged(root: Path) -> None:
    git(root, "tag", TAG)


def higher(root: Path) -> None:
    document = {"schema": "specdec-sidechannels/manifest/1", "tag": "v0.10.0", "parent": "0" * 40}
    write(MANIFEST, json.dumps({**document, "records": {}, "files": {}}, indent=2))(root)


def false_claim(root: Path) -> None:
    old = "a.results.tokens_per_check.low > a.results.vanilla %}more"
    assert old in sample_record.FINDING
    write("findings/F-01.md", sample_record.FINDING.replace(old, old.replace(" > ", " < ")))(root)


def loose_erratum(root: Path) -> None:
    head = (
        "---\nid: E-1\nfinding: F-02\nstatement: margin\ndate: 2026-11-01\nkind: wording\nreason: So.\n---\n"
    )
    assert call(root, "register", "K-1").exit_code == 0
    (root / "findings/errata").mkdir()
    write("findings/errata/E-1.md", head)(root)


SUMS = "payloads/SHA256SUMS"
STANDING: dict[str, tuple[Callable[[Path], None], str]] = {
    "a changed file": (uncommitted("findings/F-02.md", "x"), "findings/F-02.md:1:1: untracked-source"),
    "a file beside": (uncommitted("notes.txt", "x"), "notes.txt:1:1: untracked-source"),
    "a change that is staged": (staged, "CHANGELOG.md:1:1: untracked-source"),
    "a tag that is there": (tagged, ".:1:1: unaccounted"),
    "a lower version than the last": (higher, f"{MANIFEST}:3:11: unaccounted"),
    "a false claim": (false_claim, "claim-false"),
    "an erratum that no ledger holds": (loose_erratum, "findings/errata/E-1.md:1:1: bad-erratum"),
    "no citation": (write("CITATION.cff", None), "CITATION.cff:1:1: unaccounted"),
    "a citation without a version": (write("CITATION.cff", "title: x\n"), "CITATION.cff:1:1: unaccounted"),
    "no changelog": (write("CHANGELOG.md", None), "CHANGELOG.md:1:1: unaccounted"),
    "a changelog without the version": (
        write("CHANGELOG.md", CHANGELOG.replace("0.2.0", "0.2.1")),
        "CHANGELOG.md:1:1: unaccounted",
    ),
    "a version that is still unreleased": (
        write("CHANGELOG.md", CHANGELOG.replace("(2026-11-30)", "(unreleased)")),
        "CHANGELOG.md:3:1: unaccounted",
    ),
    "an entry that says nothing": (
        write("CHANGELOG.md", CHANGELOG.replace("- A finding.\n\n", "")),
        "CHANGELOG.md:3:1: unaccounted",
    ),
    "a payload without its checksum": (write(SUMS, ""), f"{SUMS}:1:1: unaccounted"),
}


@pytest.mark.parametrize("name", STANDING)
def test_what_stands_against_a_release_is_said_and_nothing_is_written(tmp_path: Path, name: str) -> None:
    change, expected = STANDING[name]
    root = made(tmp_path / "record")
    change(root)
    before = {
        file: file.read_bytes() for file in root.rglob("*") if file.is_file() and ".git" not in file.parts
    }
    result = call(root, "release", TAG)
    assert result.exit_code == 1, result.output
    assert expected in result.output
    after = {
        file: file.read_bytes() for file in root.rglob("*") if file.is_file() and ".git" not in file.parts
    }
    assert after == before


def test_a_shallow_clone_is_not_released(tmp_path: Path) -> None:
    root = made(tmp_path / "record")
    commit(root, "More")
    git(tmp_path, "clone", "-q", "--depth", "1", f"file://{root}", str(tmp_path / "clone"))
    result = call(tmp_path / "clone", "release", TAG)
    assert result.exit_code == 1
    assert ".:1:1: history-missing: A release stands on its history: this clone is shallow" in result.output


def test_outside_git_nothing_is_released(tmp_path: Path) -> None:
    root = sample_record.write(tmp_path, {"CITATION.cff": CITATION, "CHANGELOG.md": CHANGELOG})
    result = call(root, "release", TAG)
    assert result.exit_code == 1
    assert "history-missing" in result.output


def test_a_theme_that_adds_a_number_is_found_in_the_clone_and_nothing_is_written(tmp_path: Path) -> None:
    themed = sample_record.MKDOCS.replace("  name: material\n", "  name: material\n  custom_dir: theme\n")
    footer = '{% extends "base.html" %}{% block footer %}<p>Visited 7 times</p>{% endblock %}'
    root = made(tmp_path / "record", {"mkdocs.yml": themed, "theme/main.html": footer})
    result = call(root, "release", TAG)
    assert result.exit_code == 1
    assert "untraced-number" in result.output
    assert git(root, "status", "--porcelain") == ""


def test_a_record_in_a_folder_of_its_repository_is_released_too(tmp_path: Path) -> None:
    root = tmp_path / "whole/record"
    sample_record.write(root, {"CITATION.cff": CITATION, "CHANGELOG.md": CHANGELOG})
    git(tmp_path, "init", "-q", "-b", "main", str(tmp_path / "whole"))
    commit(tmp_path / "whole")
    result = call(root, "release", TAG)
    assert result.exit_code == 0, result.output
    assert "findings/F-01.md" in json.loads((root / MANIFEST).read_text())["files"]


@pytest.mark.parametrize("tag", ["0.2.0", "v0.2", "v0.2.0-rc1", "v00.2.0", "v0.2.0 "])
def test_a_tag_of_another_form_is_misuse(tmp_path: Path, tag: str) -> None:
    result = call(sample_record.write(tmp_path), "release", tag)
    assert result.exit_code == 2
    assert "is no tag of the form" in result.output


# After the release


def checked(root: Path) -> list[tuple[str, int, int, str]]:
    from generator.render import site

    report = site.judge(*site.gather(root))
    return [(each.path, each.line, each.column, each.code) for each in report.refusals]


def test_a_manifest_that_is_not_the_one_of_its_tag_is_refused(tmp_path: Path) -> None:
    root = made(tmp_path / "record")
    higher(root)
    assert checked(root) == []
    git(root, "tag", "v0.10.0")
    assert checked(root) == []
    text = (root / MANIFEST).read_text()
    (root / MANIFEST).write_text(text.replace('"files": {}', '"files": {"a": "%s"}' % ("0" * 64)))
    assert checked(root) == [(MANIFEST, 3, 11, "registered-text-changed")]


MALFORMED = {
    "no JSON": ("{", (MANIFEST, 1, 2, "bad-payload")),
    "another schema": ('{"schema": "specdec-sidechannels/payload/1"}', (MANIFEST, 1, 12, "bad-payload")),
    "a tag of another form": (
        json.dumps(
            {
                "schema": "specdec-sidechannels/manifest/1",
                "tag": "latest",
                "parent": "0" * 40,
                "records": {},
                "files": {},
            }
        ),
        (MANIFEST, 1, 54, "bad-payload"),
    ),
}


@pytest.mark.parametrize("name", MALFORMED)
def test_a_manifest_that_is_none_is_refused_at_its_place(tmp_path: Path, name: str) -> None:
    text, place = MALFORMED[name]
    root = sample_record.write(tmp_path, {MANIFEST: text})
    assert [(each.path, each.line, each.column, each.code) for each in records.load(root).refusals] == [place]


@pytest.mark.parametrize("fails", [0, 1])
def test_a_crash_while_it_is_written_takes_back_what_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fails: int
) -> None:
    (tmp_path / "CITATION.cff").write_text(CITATION)
    texts = {"CITATION.cff": b"version: 9.9.9\n", MANIFEST: b"{}\n"}
    crashing, whole = list(texts)[fails], writing.replace

    def replace(file: Path, data: bytes) -> None:
        if file == tmp_path / crashing:
            raise KeyboardInterrupt
        whole(file, data)

    monkeypatch.setattr(writing, "replace", replace)
    with pytest.raises(KeyboardInterrupt):
        run._write(tmp_path, texts)
    assert (tmp_path / "CITATION.cff").read_text() == CITATION
    assert not (tmp_path / MANIFEST).exists()
