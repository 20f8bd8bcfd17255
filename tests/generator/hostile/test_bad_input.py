"""What is too large, too deep, a loop or of another commit is refused at its place, in bounded memory."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
import sample_record
from command import Done, call, measured

MEGABYTE = 1024 * 1024
PAGE = '<!doctype html>\n<html lang="en">\n<head><title>A page</title></head>\n<body>\n'
F1 = "findings/F-01.md"
LOOKUP = "payloads/acceptance/lookup.json"


def refused(done: Done, *starts: str) -> None:
    """Hold a command to its refusals, to exit code 1, and to having ended of itself."""
    assert done.code == 1, done.error
    assert "Traceback" not in done.error
    for start in starts:
        assert any(line.startswith(start) for line in done.refusals), done.refusals[:5]


LARGE_PAGES = {
    "fifty megabytes": ("<p>words</p>\n" * (50 * MEGABYTE // 13), "site/x.html:1:1: too-large", 1, 200),
    "one long text": ("<p>" + "words 7 " * (16 * MEGABYTE // 8), "site/x.html:5:4: too-large", 1, 300),
    "a number in every paragraph": (
        "<p>7</p>\n" * (16 * MEGABYTE // 9),
        "site/x.html:10004:4: too-large",
        10_001,
        400,
    ),
    "many open elements": ("<nav><span>" * 200_000 + "7", "site/x.html:5:", 1, 300),
    "a title that goes on": (f"<title>{'7 ' * 400_000}</title>", "site/x.html:5:8: too-large", 1, 400),
}


@pytest.mark.parametrize("name", LARGE_PAGES)
def test_a_large_page_is_refused_in_bounded_memory(built: Path, tmp_path: Path, name: str) -> None:
    body, start, count, peak = LARGE_PAGES[name]
    root = shutil.copytree(built, tmp_path / "record")
    (root / "site/x.html").write_text(PAGE + body, "utf-8")
    done = measured("verify", "site", "--root", root)
    refused(done, start)
    assert len(done.refusals) == count
    assert done.peak < peak


DEEP = '{"a":' * 3000 + "1" + "}" * 3000
LARGE_SOURCES: dict[str, tuple[str, str, str, int]] = {
    "a megabyte of numerals": (
        F1,
        sample_record.FINDING + "\n" + "7 " * (MEGABYTE // 2),
        f"{F1}:35:20001: too-large",
        400,
    ),
    "one numeral of a megabyte": (
        F1,
        sample_record.FINDING + "\n" + "7" * MEGABYTE,
        f"{F1}:35:1: untraced-number",
        300,
    ),
    "more than a source may be": (F1, "words " * MEGABYTE, f"{F1}:1:1: too-large", 150),
    "a payload of three thousand levels": (LOOKUP, DEEP, f"{LOOKUP}:1:501: bad-payload", 150),
    "three thousand levels of results": (
        LOOKUP,
        sample_record.PAYLOAD.replace('"drawn": {', f'"deep": {DEEP}, "drawn": {{'),
        f"{LOOKUP}:41:503: bad-payload",
        150,
    ),
    "a payload over the limit": (LOOKUP, " " * (17 * MEGABYTE), f"{LOOKUP}:1:1: too-large", 150),
    "front matter of many levels": (
        F1,
        f"---\nid: {'[' * 100_000}\n---\n",
        f"{F1}:2:1004: bad-front-matter",
        150,
    ),
    "aliases that multiply": (
        F1,
        "---\na: &a [x, x]\n"
        + "".join(
            f"{new}: &{new} [*{old}, *{old}]\n" for old, new in zip("abcdefgh", "bcdefghi", strict=True)
        )
        + "---\n",
        f"{F1}:2:4: bad-front-matter",
        150,
    ),
    "terms of many levels": (
        "findings/terms.toml",
        f"a = {'[' * 100_000}",
        "findings/terms.toml:1:1: bad-front-matter",
        150,
    ),
    "a configuration of many levels": (
        "mkdocs.yml",
        f"{sample_record.MKDOCS}extra: {'[' * 100_000}\n",
        "mkdocs.yml:12:1007: bad-front-matter",
        150,
    ),
}


@pytest.mark.parametrize("name", LARGE_SOURCES)
def test_a_large_or_deep_source_is_refused_in_bounded_memory(tmp_path: Path, name: str) -> None:
    path, text, start, peak = LARGE_SOURCES[name]
    done = measured("check", "--root", sample_record.write(tmp_path, {path: text}))
    refused(done, start)
    assert len(done.out) < 4 * MEGABYTE
    assert done.peak < peak


def test_a_configuration_of_many_levels_cannot_be_built(tmp_path: Path) -> None:
    text = f"{sample_record.MKDOCS}extra: {'[' * 100_000}\n"
    result = call("build", "--root", sample_record.write(tmp_path, {"mkdocs.yml": text}))
    assert result.exit_code == 2
    assert "nested deeper" in result.output


@pytest.mark.parametrize(
    ("command", "link", "target", "code"),
    [
        (("check",), "payloads/acceptance/loop.json", "loop.json", "bad-payload"),
        (("check",), "payloads/acceptance/unnamed.json", "unnamed.json", "bad-payload"),
        (("check",), "findings/F-99.md", "F-99.md", "bad-front-matter"),
        (("check",), "site_src/gone.md", "nowhere.md", "bad-front-matter"),
        (("verify", "site"), "site/loop", "..", "bad-page"),
        (("verify", "site"), "site/loop.html", "loop.html", "bad-page"),
    ],
)
def test_a_loop_of_links_is_refused(
    built: Path, tmp_path: Path, command: tuple[str, ...], link: str, target: str, code: str
) -> None:
    root = shutil.copytree(built, tmp_path / "record")
    (root / link).symlink_to(target)
    (root / "findings/F-02.md").write_text(sample_record.NULL.replace("lookup.json", "loop.json"), "utf-8")
    result = call(*command, "--root", root)
    assert result.exit_code == 1
    assert f"{link}:1:1: {code}: " in result.output


def test_a_loop_of_folders_is_not_followed(tmp_path: Path) -> None:
    root = sample_record.write(tmp_path)
    for folder in ("findings", "payloads", "site_src"):
        (root / folder / "loop").symlink_to("..", target_is_directory=True)
    assert call("check", "--root", root).exit_code == 0


def test_a_folder_without_a_site_is_refused(tmp_path: Path) -> None:
    root = sample_record.write(tmp_path)
    (root / "empty").mkdir()
    result = call("verify", "empty", "--root", root)
    assert result.exit_code == 1
    assert result.output.startswith("empty:1:1: bad-page: ")


def git(root: Path, *arguments: str) -> None:
    """Run git in a repository of the test."""
    identity = ["-c", "user.name=test", "-c", "user.email=test@example.invalid", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", "-C", str(root), *identity, *arguments], check=True, capture_output=True)


@pytest.mark.parametrize(
    ("path", "old", "new", "starts"),
    [
        (
            LOOKUP,
            '"value": 2.5978',
            '"value": 2.5979',
            ["site/findings/F-01.html:{}: payload-changed", f"site/{LOOKUP}:1:1: payload-changed"],
        ),
        (F1, "status: holds", "status: open", ["site/index.html:{}: display-mismatch"]),
    ],
)
def test_a_site_of_another_commit_is_refused_where_it_differs(
    tmp_path: Path, path: str, old: str, new: str, starts: list[str]
) -> None:
    root = sample_record.write(tmp_path, {".gitignore": "site/\n", "payloads/SHA256SUMS": None})
    git(root, "init", "-q")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "A record")
    assert call("build", "--root", root).exit_code == 0
    assert call("verify", "site", "--root", root).exit_code == 0
    text = (root / path).read_text("utf-8")
    (root / path).write_text(text.replace(old, new, 1), "utf-8")
    git(root, "commit", "-q", "-am", "Another number")
    result = call("verify", "site", "--root", root)
    assert result.exit_code == 1
    for start in starts:
        page, _, code = start.partition(":{}")
        assert [line for line in result.output.splitlines() if line.startswith(page) and code in line]
