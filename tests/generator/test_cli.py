"""The commands refuse bad input at its place, and never leave anything half written."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest
import sample_record
from click.testing import CliRunner, Result

from generator.cli import main


def call(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, [str(argument) for argument in arguments], catch_exceptions=False)


def snapshot(folder: Path) -> dict[str, bytes]:
    """Every file below a folder."""
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


@pytest.fixture(autouse=True)
def outside_ci(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CI", raising=False)


F1 = "findings/F-01.md"
BIG = "payloads/big.json"
PLANTED: dict[str, tuple[dict[str, str | bytes | None], str]] = {
    "a digit in a finding": (
        {F1: sample_record.FINDING.replace("A check emits", "A check 7 emits")},
        "findings/F-01.md:15:33: untraced-number",
    ),
    "a digit in a title": (
        {F1: sample_record.FINDING.replace('title: "Looking', 'title: "7 Looking')},
        "findings/F-01.md:3:9: untraced-number",
    ),
    "a digit in the landing template": (
        {"templates/landing.md.j2": sample_record.LANDING.replace("A check", "A 7 check")},
        "templates/landing.md.j2:9:3: untraced-number",
    ),
    "a digit in a page": (
        {"site_src/reading.md": sample_record.PAGE.replace("Words of", "Words 7 of")},
        "site_src/reading.md:7:7: untraced-number",
    ),
    "a number word": (
        {F1: sample_record.FINDING.replace("A check emits", "Twelve checks emit")},
        "findings/F-01.md:15:25: untraced-word",
    ),
    "a literal in an expression": (
        {F1: sample_record.FINDING.replace("/ a.results.vanilla)", "/ 2)")},
        "literal-in-expression",
    ),
    "an unknown field": (
        {F1: sample_record.FINDING.replace("a.seeds.root", "a.seeds.rot")},
        "unknown-field",
    ),
    "a false claim": (
        {
            F1: sample_record.FINDING.replace(
                "claim a.results.tokens_per_check.low >", "claim a.results.tokens_per_check.low <"
            )
        },
        "claim-false",
    ),
    "a template error": ({F1: sample_record.FINDING + "{{ a.results"}, "bad-template"),
    "a number in code": ({F1: sample_record.FINDING + "\n`{{ a.seeds.root }}`\n"}, "number-in-code"),
    "a missing payload": ({"payloads/acceptance/lookup.json": None}, "findings/F-01.md:12:6: bad-payload"),
    "an empty payload": (
        {"payloads/acceptance/lookup.json": ""},
        "payloads/acceptance/lookup.json:1:1: bad-payload",
    ),
    "an alias declared twice": (
        {F1: sample_record.FINDING.replace("lookup.json\n", "lookup.json\n  a: payloads/x.json\n")},
        "findings/F-01.md:13:3: duplicate-id",
    ),
    "no front matter": ({F1: "Words.\n"}, "findings/F-01.md:1:1: bad-front-matter"),
    "front matter of the wrong type": ({F1: "---\n- a\n---\n"}, "findings/F-01.md:2:1: bad-front-matter"),
    "an unknown key": (
        {F1: sample_record.FINDING.replace("status: holds", "status: holds\nmood: good")},
        "findings/F-01.md:6:1: bad-front-matter",
    ),
    "front matter that is not UTF-8": (
        {F1: sample_record.FINDING.encode().replace(b"Looking", b"\xffooking")},
        "findings/F-01.md:3:9: bad-encoding",
    ),
    "two findings with one id": (
        {"findings/F-03.md": sample_record.FINDING},
        "findings/F-03.md:2:5: duplicate-id",
    ),
    "no findings": ({F1: None, "findings/F-02.md": None, "findings/K-1.md": None}, "findings:1:1: no-source"),
    "terms that are not TOML": ({"findings/terms.toml": "["}, "findings/terms.toml:1:"),
}


@pytest.mark.parametrize("name", PLANTED)
def test_bad_input_is_refused_at_its_place_by_check_and_by_build(tmp_path: Path, name: str) -> None:
    changes, expected = PLANTED[name]
    root = sample_record.write(tmp_path, changes)
    before = snapshot(root)
    for arguments in (("check",), ("build",)):
        result = call(*arguments, "--root", root)
        assert result.exit_code == 1, result.output
        assert expected in result.output
        assert "Traceback" not in result.output
    assert snapshot(root) == before


def test_a_payload_of_a_hundred_megabytes_is_refused_unread(tmp_path: Path) -> None:
    root = sample_record.write(tmp_path)
    with (root / BIG).open("wb") as sparse:
        sparse.truncate(100 * 1024 * 1024)
    result = call("check", "--root", root)
    assert result.exit_code == 1
    assert f"{BIG}:1:1: too-large" in result.output


def test_check_passes_the_sample_and_counts_it(tmp_path: Path) -> None:
    result = call("check", "--root", sample_record.write(tmp_path), "--format", "json")
    report = json.loads(result.stdout)
    assert (result.exit_code, report["refusals"]) == (0, [])
    assert report["counts"]["numbers"] > 20
    assert report["counts"]["pages"] == 5


def test_build_says_how_much_is_traced_and_how_to_open_it(tmp_path: Path) -> None:
    root = sample_record.write(tmp_path)
    result = call("build", "--root", root, "--out", "public")
    assert result.exit_code == 0
    assert re.match(r"\d+ numbers traced to their lines", result.output)
    assert f"Open {root / 'public/index.html'}" in result.output
    assert (root / "public/index.html").is_file()


def test_a_refused_build_leaves_the_former_site_as_it_was(built: Path, tmp_path: Path) -> None:
    root = sample_record.write(tmp_path, {F1: sample_record.FINDING.replace("A check", "A 7 check")})
    (built / "site").rename(root / "site")
    try:
        before = snapshot(root)
        assert call("build", "--root", root).exit_code == 1
        assert snapshot(root) == before
    finally:
        (root / "site").rename(built / "site")


def test_the_built_site_passes_its_audit_and_a_planted_digit_does_not(built: Path) -> None:
    assert call("verify", built / "site", "--root", built).exit_code == 0
    page = built / "site/findings/F-01.html"
    whole = page.read_text()
    try:
        page.write_text(whole.replace("A check emits", "A check, 7 times, emits"))
        result = call("verify", built / "site", "--root", built)
    finally:
        page.write_text(whole)
    assert result.exit_code == 1
    assert "untraced-number" in result.output


def test_a_number_in_the_theme_is_stopped_by_the_audit_at_its_place_in_the_site(tmp_path: Path) -> None:
    theme = "  name: material\n  custom_dir: theme\n"
    changes = {
        "mkdocs.yml": sample_record.MKDOCS.replace("  name: material\n", theme),
        "theme/main.html": '{% extends "base.html" %}{% block footer %}<p>Visited 7 times</p>{% endblock %}',
    }
    root = sample_record.write(tmp_path, changes)
    result = call("build", "--root", root)
    assert result.exit_code == 1
    assert re.search(r"^site/findings/F-01\.html:\d+:\d+: untraced-number", result.output, re.MULTILINE)
    assert not (root / "site").exists()


MISUSE = {
    "no record": (("check", "--root", "."), "no folder findings/"),
    "no configuration": (("build",), "mkdocs.yml is not there"),
    "output over the record": (("build", "--out", "findings"), "holds parts of the record"),
    "output over the root": (("build", "--out", "."), "holds parts of the record"),
    "output over other files": (("build", "--out", "other"), "is no site built here"),
    "output below a file": (("build", "--out", "mkdocs.yml/site"), "cannot be written"),
    "output is a file": (("build", "--out", "file"), "is not a folder"),
    "no site to verify": (("verify", "nowhere"), "is not a folder"),
    "nothing to explain": (("explain", "F-99"), "There is no F-99"),
    "no such statement": (("explain", "F-01#none"), "has no statement none"),
    "no such command": (("frobnicate",), "No such command"),
    "no such form": (("check", "--format", "xml"), "Invalid value"),
}


@pytest.mark.parametrize("name", MISUSE)
def test_misuse_exits_with_two(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    root = sample_record.write(
        tmp_path / "record",
        {
            "other/notes.txt": "mine",
            "file": "mine",
            **({"mkdocs.yml": None} if name == "no configuration" else {}),
        },
    )
    monkeypatch.chdir(tmp_path if name == "no record" else root)
    before = snapshot(tmp_path)
    arguments, expected = MISUSE[name]
    result = call(*arguments)
    assert result.exit_code == 2, result.output
    assert expected in result.output
    assert snapshot(tmp_path) == before


def test_a_configuration_without_the_plugin_is_misuse(tmp_path: Path) -> None:
    root = sample_record.write(tmp_path, {"mkdocs.yml": sample_record.MKDOCS.replace("  - findings\n", "")})
    result = call("build", "--root", root)
    assert result.exit_code == 2
    assert "does not list the plugin" in result.output


def test_a_record_without_site_src_or_templates_builds(tmp_path: Path) -> None:
    root = sample_record.write(tmp_path, {"site_src/reading.md": None, "templates/landing.md.j2": None})
    assert call("build", "--root", root).exit_code == 0
    assert "F-01" in (root / "site/index.html").read_text()
    assert not (root / "site_src").exists()


def test_plain_mkdocs_gives_the_same_site_and_the_same_refusals(built: Path, tmp_path: Path) -> None:
    root = sample_record.write(tmp_path)
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "-q"]
    assert subprocess.run(command, cwd=root, check=False, capture_output=True).returncode == 0
    assert snapshot(root / "site") == snapshot(built / "site")
    sample_record.write(tmp_path, {F1: sample_record.FINDING.replace("A check", "A 7 check")})
    refused = subprocess.run(command, cwd=root, check=False, capture_output=True, text=True)
    assert refused.returncode == 1
    assert "findings/F-01.md:15:27: untraced-number" in refused.stdout + refused.stderr
    assert "Traceback" not in refused.stderr


def test_the_commands_answer_as_a_module_too() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "generator", "--help"], check=True, capture_output=True, text=True
    )
    assert "explain" in done.stdout


def test_explain_gives_the_chain_behind_each_number(tmp_path: Path) -> None:
    result = call("explain", "F-01#gain", "--root", sample_record.write(tmp_path))
    assert result.exit_code == 0
    assert "2.60×  exactly 12989/5000, as times(2)" in result.output
    assert "2.5978  payloads/acceptance/lookup.json:19:16  /results/tokens_per_check/value" in result.output
    assert "made by engine run acceptance --draft lookup" in result.output


def test_serve_shows_the_site_and_follows_its_sources(tmp_path: Path) -> None:
    root = sample_record.write(tmp_path)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [
        sys.executable,
        "-m",
        "generator",
        "serve",
        "--root",
        str(root),
        "--address",
        f"127.0.0.1:{port}",
    ]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
        try:
            address = f"http://127.0.0.1:{port}/findings/F-02.html"
            assert _eventually(address, "The margin is not told from nothing")
            changed = sample_record.NULL.replace("told from nothing", "told from chance")
            (root / "findings/F-02.md").write_text(changed)
            assert _eventually(address, "The margin is not told from chance")
        finally:
            server.terminate()
            server.wait(30)


def _eventually(address: str, expected: str) -> bool:
    """Whether a page comes to hold a text within a minute."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        try:
            with urllib.request.urlopen(address, timeout=30) as page:
                if expected in page.read().decode():
                    return True
        except OSError:
            pass
        time.sleep(0.3)
    return False


def test_nothing_is_written_where_the_disk_refuses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = sample_record.write(tmp_path)

    def refuse(*_: object, **__: object) -> str:
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr("tempfile.mkdtemp", refuse)
    result = call("build", "--root", root)
    assert result.exit_code == 2
    assert "cannot be written" in result.output
