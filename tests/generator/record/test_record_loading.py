"""A record is read whole: what is wrong with any part of it is collected, at its place."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from generator.record import record

HEADER = """---
id: {id}
title: A title
record: a
status: open
regime: greedy
payloads:
  a: payloads/a/x.json
---
Words.
"""
PAYLOAD = """{
  "schema": "specdec-sidechannels/registered/1",
  "name": "a/x",
  "question": "What?",
  "config": {},
  "results": {"bar": {"value": 1, "unit": "tokens"}}
}
"""


def write(root: Path, changes: dict[str, str | bytes]) -> Path:
    plain = {"findings/F-01.md": HEADER.format(id="F-01"), "payloads/a/x.json": PAYLOAD}
    for path, content in {**plain, **changes}.items():
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
    return root


def refused(root: Path, changes: dict[str, str | bytes]) -> set[tuple[str, int, int, str]]:
    loaded = record.load(write(root, changes))
    return {(each.path, each.line, each.column, each.code) for each in loaded.refusals}


FINDING = HEADER.format(id="F-01")
CASES: dict[str, tuple[dict[str, str | bytes], set[tuple[str, int, int, str]]]] = {
    "nothing wrong": ({}, set()),
    "no front matter": ({"findings/F-01.md": "Words.\n"}, {("findings/F-01.md", 1, 1, "bad-front-matter")}),
    "front matter without an end": (
        {"findings/F-01.md": "---\nid: F-01\n"},
        {("findings/F-01.md", 1, 1, "bad-front-matter")},
    ),
    "front matter is a list": (
        {"findings/F-01.md": "---\n- a\n---\n"},
        {("findings/F-01.md", 2, 1, "bad-front-matter")},
    ),
    "front matter is not YAML": (
        {"findings/F-01.md": FINDING.replace("title: A title", "title: [A")},
        {("findings/F-01.md", 4, 7, "bad-front-matter")},
    ),
    "unknown key": (
        {"findings/F-01.md": FINDING.replace("record: a", "record: a\nauthor: me")},
        {("findings/F-01.md", 5, 1, "bad-front-matter")},
    ),
    "key given twice": (
        {"findings/F-01.md": FINDING.replace("record: a", "record: a\nrecord: b")},
        {("findings/F-01.md", 5, 1, "bad-front-matter")},
    ),
    "alias declared twice": (
        {"findings/F-01.md": FINDING.replace("x.json", "x.json\n  a: payloads/a/x.json")},
        {("findings/F-01.md", 9, 3, "duplicate-id")},
    ),
    "wrong type": (
        {"findings/F-01.md": FINDING.replace("title: A title", "title: [A, title]")},
        {("findings/F-01.md", 3, 8, "bad-front-matter")},
    ),
    "unknown status": (
        {"findings/F-01.md": FINDING.replace("status: open", "status: maybe")},
        {("findings/F-01.md", 5, 9, "bad-front-matter")},
    ),
    "no regime": (
        {"findings/F-01.md": FINDING.replace("regime: greedy\n", "")},
        {("findings/F-01.md", 1, 1, "no-regime")},
    ),
    "no payloads": (
        {"findings/F-01.md": FINDING.replace("payloads:\n  a: payloads/a/x.json\n", "")},
        {("findings/F-01.md", 1, 1, "no-source")},
    ),
    "a payload that is not there": (
        {"findings/F-01.md": FINDING.replace("a/x.json", "a/y.json")},
        {("findings/F-01.md", 8, 6, "bad-payload")},
    ),
    "a payload whose name no file can have": (
        {"findings/F-01.md": FINDING.replace("a/x.json", f"a/{'y' * 400}.json")},
        {("findings/F-01.md", 8, 6, "bad-payload")},
    ),
    "a payload outside payloads": (
        {"findings/F-01.md": FINDING.replace("payloads/a/x.json", "payloads/../../x.json")},
        {("findings/F-01.md", 8, 6, "unknown-payload")},
    ),
    "not UTF-8": (
        {"findings/F-01.md": FINDING.encode() + b"\xff"},
        {("findings/F-01.md", 11, 1, "bad-encoding")},
    ),
    "byte order mark": (
        {"findings/F-01.md": b"\xef\xbb\xbf" + FINDING.encode()},
        {("findings/F-01.md", 1, 1, "bad-encoding")},
    ),
    "a private-use character": (
        {"findings/F-01.md": FINDING + "a\U000f0000"},
        {("findings/F-01.md", 11, 2, "bad-encoding")},
    ),
    "two findings with one id": (
        {"findings/F-02.md": FINDING},
        {("findings/F-02.md", 2, 5, "duplicate-id")},
    ),
    "a file not named by its id": (
        {"findings/F-02.md": HEADER.format(id="F-03")},
        {("findings/F-02.md", 2, 5, "bad-front-matter")},
    ),
    "an id without the form of one": (
        {"findings/F-01.md": HEADER.format(id="first")},
        {("findings/F-01.md", 2, 5, "bad-front-matter")},
    ),
    "an empty payload": ({"payloads/a/z.json": ""}, {("payloads/a/z.json", 1, 1, "bad-payload")}),
    "a checksum of other bytes": (
        {"payloads/SHA256SUMS": "0" * 64 + "  payloads/a/x.json\n"},
        {("payloads/SHA256SUMS", 1, 1, "payload-changed")},
    ),
    "a checksum list that is none": (
        {"payloads/SHA256SUMS": "hello\n"},
        {("payloads/SHA256SUMS", 1, 1, "bad-payload")},
    ),
    "a term entered twice": (
        {"findings/terms.toml": '[[term]]\ntext = "S1"\nreason = "a"\n[[term]]\ntext = "S1"\nreason = "b"\n'},
        {("findings/terms.toml", 4, 1, "duplicate-id")},
    ),
    "a term without a reason": (
        {"findings/terms.toml": '[[term]]\ntext = "S1"\n'},
        {("findings/terms.toml", 1, 1, "bad-front-matter")},
    ),
    "terms that are not TOML": (
        {"findings/terms.toml": "[[term]]\ntext = S1\n"},
        {("findings/terms.toml", 2, 8, "bad-front-matter")},
    ),
    "an erratum without a date": (
        {
            "findings/errata/E-1.md": "---\nid: E-1\nfinding: F-01\nstatement: x\ndate: soon\n"
            "kind: wording\nreason: r\npayloads: {}\n---\n"
        },
        {("findings/errata/E-1.md", 5, 7, "bad-erratum")},
    ),
    "several at once": (
        {"findings/F-02.md": "x", "payloads/a/z.json": "{"},
        {("findings/F-02.md", 1, 1, "bad-front-matter"), ("payloads/a/z.json", 1, 2, "bad-payload")},
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_what_is_wrong_with_a_record_is_refused_at_its_place(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CI", raising=False)
    changes, expected = CASES[name]
    assert refused(tmp_path, changes) == expected


def test_a_status_of_null_is_the_word_and_not_an_absence(tmp_path: Path) -> None:
    loaded = record.load(
        write(tmp_path, {"findings/F-01.md": FINDING.replace("status: open", "status: null")})
    )
    assert loaded.findings[0].string("status") == "null"


def test_an_empty_findings_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "findings").mkdir()
    assert [each.code for each in record.load(tmp_path).refusals] == ["no-source"]


def test_findings_come_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    names = ("F-2", "F-10", "F-3")
    loaded = record.load(write(tmp_path, {f"findings/{name}.md": HEADER.format(id=name) for name in names}))
    assert [each.id for each in loaded.findings] == ["F-01", "F-2", "F-3", "F-10"]


def test_the_body_keeps_its_line(tmp_path: Path) -> None:
    finding = record.load(write(tmp_path, {})).findings[0]
    assert (finding.body, finding.body_line) == ("Words.\n", 10)
    assert finding.place("title") == (3, 8)
    assert finding.text.split("\n")[finding.body_line - 1] == "Words."


def git(root: Path, *arguments: str) -> None:
    identity = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", "-C", str(root), *identity, *arguments], check=True, capture_output=True)


@pytest.mark.parametrize("ci", [True, False])
def test_what_git_does_not_keep_warns_and_is_refused_in_ci(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ci: bool
) -> None:
    monkeypatch.setenv("CI", "true" if ci else "")
    write(tmp_path, {})
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-q", "-m", "a")
    loaded = record.load(tmp_path)
    assert (loaded.refusals, loaded.warnings) == ((), ())
    write(tmp_path, {"findings/F-01.md": FINDING + "More.\n", "payloads/a/new.json": PAYLOAD})
    loaded = record.load(tmp_path)
    found, empty = (loaded.refusals, loaded.warnings) if ci else (loaded.warnings, loaded.refusals)
    assert {(each.path, each.code) for each in found} == {
        ("findings/F-01.md", "untracked-source"),
        ("payloads/a/new.json", "untracked-source"),
    }
    assert empty == ()
