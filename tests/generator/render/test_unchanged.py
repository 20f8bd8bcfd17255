"""A site is not built again where nothing has changed, and is as soon as anything has."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
import sample_record
from click.testing import CliRunner

import generator
from generator.cli import main
from generator.render import unchanged

SAME = "Nothing has changed since this site was built"


def git(root: Path, *arguments: str) -> None:
    """Run git in the record of a test."""
    identity = ["-c", "user.name=test", "-c", "user.email=test@example.invalid", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", "-C", str(root), *identity, *arguments], check=True, capture_output=True)


def build(root: Path, *options: str) -> str:
    """What one build says."""
    done = CliRunner().invoke(main, ["build", "--root", str(root), *options], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output


@pytest.fixture
def record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A committed record, and a cache of its own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("SOURCE_DATE_EPOCH", raising=False)
    root = sample_record.write(tmp_path / "record")
    (root / "notes.txt").write_text("A file that a page may show lines of.\n")
    (root / ".gitignore").write_text("site/\n")
    git(root, "init", "-q", "-b", "main")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "A record")
    return root


def append(path: str) -> Callable[[Path], object]:
    """A change of one file, which may be new."""

    def change(root: Path) -> None:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        with (root / path).open("a") as opened:
            opened.write(" ")

    return change


def commit(root: Path) -> None:
    """Another commit with the same files."""
    git(root, "commit", "-q", "--allow-empty", "-m", "Nothing more")


CHANGES: dict[str, Callable[[Path], object]] = {
    "a finding": append("findings/F-01.md"),
    "another finding": append("findings/F-99.md"),
    "an erratum": append("findings/errata/E-9.md"),
    "the names": append("findings/terms.toml"),
    "a payload": append("payloads/acceptance/lookup.json"),
    "another payload": append("payloads/acceptance/new.json"),
    "the template": append("templates/landing.md.j2"),
    "a page": append("site_src/guide/more.md"),
    "a picture": append("site_src/assets/picture.svg"),
    "the configuration": append("mkdocs.yml"),
    "who is cited": append("CITATION.cff"),
    "a file that lines are shown of": append("notes.txt"),
    "a file that git does not know": append("more.txt"),
    "a file taken away": lambda root: (root / "notes.txt").unlink(),
    "a commit": commit,
    "a tag": lambda root: git(root, "tag", "v1.0.0"),
    "what is staged": lambda root: git(root, "rm", "-q", "--cached", "notes.txt"),
}


@pytest.mark.parametrize("what", CHANGES)
def test_whatever_a_build_reads_makes_another_build(what: str, record: Path) -> None:
    before = unchanged.made_of(record, record / "site")
    assert before is not None
    assert before == unchanged.made_of(record, record / "site")
    CHANGES[what](record)
    assert unchanged.made_of(record, record / "site") != before


def test_so_do_the_environment_and_the_programs(
    record: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    digests = [unchanged.made_of(record, record / "site")]
    monkeypatch.setenv("CI", "true")
    digests.append(unchanged.made_of(record, record / "site"))
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "7")
    digests.append(unchanged.made_of(record, record / "site"))
    (tmp_path / "beside/mkdocs-2.0.dist-info").mkdir(parents=True)
    monkeypatch.syspath_prepend(str(tmp_path / "beside"))
    digests.append(unchanged.made_of(record, record / "site"))
    (tmp_path / "own").mkdir()
    (tmp_path / "own/__init__.py").write_text("")
    monkeypatch.setattr(generator, "__file__", str(tmp_path / "own/__init__.py"))
    digests.append(unchanged.made_of(record, record / "site"))
    assert None not in digests
    assert len(set(digests)) == len(digests)


@pytest.mark.parametrize(
    "line",
    [
        "INHERIT: ../other.yml",
        "hooks: [more.py]",
        "site_author: !ENV AUTHOR",
        "docs_dir: ../pages",
        'docs_dir: "/pages"',
    ],
)
def test_a_configuration_that_reads_elsewhere_is_always_built(line: str, record: Path) -> None:
    with (record / "mkdocs.yml").open("a") as opened:
        opened.write(f"{line}\n")
    assert unchanged.made_of(record, record / "site") is None


def test_a_record_outside_git_is_known_by_its_files(tmp_path: Path) -> None:
    root = sample_record.write(tmp_path / "record")
    before = unchanged.made_of(root, root / "site")
    (root / "more.txt").write_text("more")
    assert before is not None
    assert before != unchanged.made_of(root, root / "site")


def test_a_second_build_says_the_same_without_building(record: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = build(record)
    assert SAME not in first
    monkeypatch.setattr("generator.render.publish.publish", lambda *_: pytest.fail("it was built again"))
    second = build(record)
    assert SAME in second
    assert second.endswith(first)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda site: (site / "index.html").write_text("<p>Other words</p>"),
        lambda site: (site / "more.txt").write_text("more"),
        lambda site: (site / "404.html").unlink(),
    ],
    ids=["a page changed", "a file more", "a page gone"],
)
def test_a_site_that_somebody_changed_is_built_again(spoil: Callable[[Path], object], record: Path) -> None:
    build(record)
    pages = {file: file.read_bytes() for file in (record / "site").rglob("*.html")}
    spoil(record / "site")
    assert SAME not in build(record)
    assert {file: file.read_bytes() for file in (record / "site").rglob("*.html")} == pages


def test_a_build_can_be_asked_for_and_a_refused_one_is_not_remembered(record: Path) -> None:
    build(record)
    assert SAME not in build(record, "--again")
    with (record / "findings/F-01.md").open("a") as opened:
        opened.write("\nIn 17 cases.\n")
    for _ in range(2):
        refused = CliRunner().invoke(main, ["build", "--root", str(record)])
        assert refused.exit_code == 1
        assert "untraced-number" in refused.output


def test_a_source_saved_while_the_site_is_built_is_seen(
    record: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from generator.render import publish

    original = publish.publish

    def saved_meanwhile(root: Path, *arguments: object) -> object:
        report = original(root, *arguments)  # type: ignore[arg-type]
        append("site_src/guide/late.md")(root)
        return report

    monkeypatch.setattr(publish, "publish", saved_meanwhile)
    build(record)
    monkeypatch.setattr(publish, "publish", original)
    assert SAME not in build(record)


def test_the_note_of_a_site_that_is_gone_goes_too(record: Path, tmp_path: Path) -> None:
    build(record)
    build(record, "--out", str(tmp_path / "other"))
    assert len(list((tmp_path / "cache/findings").iterdir())) == 2
    shutil.rmtree(record / "site")
    build(record, "--out", str(tmp_path / "other"), "--again")
    assert len(list((tmp_path / "cache/findings").iterdir())) == 1


def test_a_cache_that_cannot_be_read_or_written_costs_a_build_and_no_more(
    record: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    build(record)
    [note] = (tmp_path / "cache/findings").iterdir()
    for spoiled in ("[]", "{", "{}"):
        note.write_text(spoiled)
        assert SAME not in build(record)
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert SAME not in build(record)
    assert SAME not in build(record)
