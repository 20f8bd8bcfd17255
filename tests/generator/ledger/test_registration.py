"""A text that is registered stays as it was, whatever is tried, and the ledger tells what came first."""

from __future__ import annotations

import datetime
import json
import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
import sample_record
from click.testing import CliRunner, Result

from generator.cli import main
from generator.ledger import line as lines
from generator.ledger import register as registering
from generator.ledger.order import orders
from generator.record.history import History

LATER = "payloads/acceptance/later.json"
LEDGER = "findings/REGISTERED"
K2 = sample_record.KILL.replace("K-1", "K-2").replace("lookup.json", "later.json")
K2 = K2.split("\n\n")[0] + "\n\nThe line of work ends if the later run emits less.\n"


def git(root: Path, *arguments: str, **environment: str) -> str:
    """Run git in a repository of the test."""
    identity = ["-c", "user.name=test", "-c", "user.email=test@example.invalid", "-c", "commit.gpgsign=false"]
    command = ["git", "-C", str(root), *identity, *arguments]
    done = subprocess.run(command, check=True, capture_output=True, env={**os.environ, **environment})
    return done.stdout.decode()


def commit(root: Path, why: str) -> None:
    """Commit everything."""
    git(root, "add", "-A")
    git(root, "commit", "-q", "--allow-empty", "-m", why)


def call(root: Path, command: str, *arguments: str) -> Result:
    """One command of findings on a record."""
    return CliRunner().invoke(main, [command, *arguments, "--root", str(root)])


def refused(root: Path, *arguments: str) -> list[tuple[str, int, str]]:
    """Path, line and code of everything that the check refuses."""
    result = call(root, "check", "--format", "json", *arguments)
    assert result.exit_code in (0, 1), result.output
    return [(each["path"], each["line"], each["code"]) for each in json.loads(result.stdout)["refusals"]]


def write(root: Path, path: str, text: str) -> None:
    """Write a file of the record."""
    (root / path).write_text(text, encoding="utf-8")


def change(root: Path, path: str, old: str, new: str) -> None:
    """Replace text in a file that has it."""
    text = (root / path).read_text(encoding="utf-8")
    assert old in text
    write(root, path, text.replace(old, new, 1))


def criticised(root: Path, finding: str, *, agrees: bool) -> None:
    """Put a critic's payload into a record: one label, judged by what stands there now."""
    source, read = f"findings/{finding}.md", "payloads/acceptance/lookup.json"
    judged: dict[str, object] = {"source": source, "rules": {}, "published": "null", "agrees": agrees}
    document = {
        "schema": "specdec-sidechannels/critic/1",
        "name": "critic/acceptance",
        "question": "Do the labels follow from the state?",
        "regime": {"program": "engine critic", "version": "one", "independence": "its own code"},
        "config": {},
        "seeds": {},
        "provenance": {
            "command": ["engine", "critic"],
            "commit": "0a" * 20,
            "dirty": False,
            "versions": {},
            "device": "any",
            "models": [],
            "inputs": [
                {"path": path, "sha256": lines.digest((root / path).read_bytes())} for path in (source, read)
            ],
        },
        "results": {},
        "labels": {finding: {"status": {**judged, "problems": [], "numbers": {}}}},
    }
    path = "payloads/critic/acceptance.json"
    (root / path).parent.mkdir(exist_ok=True)
    write(root, path, json.dumps(document, indent=1) + "\n")
    kept = [each for each in (root / "payloads/SHA256SUMS").read_text().splitlines() if path not in each]
    listed = [*kept, f"{lines.digest((root / path).read_bytes())}  {path}"]
    write(root, "payloads/SHA256SUMS", "\n".join(sorted(listed, key=lambda each: each[66:])) + "\n")


@pytest.fixture
def record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A history: a rule before its data, data, then a finding and a rule after its data."""
    monkeypatch.delenv("CI", raising=False)
    root = sample_record.write(tmp_path / "record", {"findings/K-2.md": K2})
    git(root.parent, "init", "-q", "-b", "main", str(root))
    commit(root, "A record")
    assert call(root, "register", "K-2").exit_code == 0
    commit(root, "A rule is fixed")
    later = sample_record.PAYLOAD.replace('"acceptance/lookup"', '"acceptance/later"')
    write(root, LATER, later)
    sums = (root / "payloads/SHA256SUMS").read_text()
    write(root, "payloads/SHA256SUMS", f"{lines.digest(later.encode())}  {LATER}\n{sums}")
    criticised(root, "F-02", agrees=True)
    commit(root, "The data come in, and a critic")
    assert call(root, "register", "F-02", "K-1").exit_code == 0
    commit(root, "A finding and a late rule are fixed")
    return root


def test_an_honest_history_is_not_refused(record: Path) -> None:
    assert refused(record) == []
    assert refused(record, "--base", "main") == []


def test_what_came_first_is_told_by_commits(record: Path) -> None:
    assert orders(record) == {"K-2": "before", "F-02": "after", "K-1": "after"}


def test_a_rule_without_data_says_so(record: Path) -> None:
    write(record, "findings/K-3.md", K2.replace("K-2", "K-3").replace("later", "never"))
    commit(record, "A third rule")
    assert call(record, "register", "K-3").exit_code == 0
    assert orders(record)["K-3"] == "no data"


def test_a_shallow_clone_shows_no_order_and_is_refused_in_ci(
    record: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", "--depth", "1", f"file://{record}", str(clone))
    assert refused(clone) == []
    assert set(orders(clone).values()) == {"not shown"}
    monkeypatch.setenv("CI", "true")
    assert refused(clone) == [(LEDGER, 1, "history-missing")]


# What is tried against it: each changes the record, with or without a commit, and is caught at a place.


def edit_text(root: Path) -> None:
    change(root, "findings/F-02.md", "decided by", "settled by")


def reflow(root: Path) -> None:
    change(root, "findings/F-02.md", "not decided by these", "not decided\nby these")


def rename_alias(root: Path) -> None:
    text = (root / "findings/K-1.md").read_text()
    write(root, "findings/K-1.md", text.replace("a.results", "b.results").replace("  a: ", "  b: "))


def change_bar(root: Path) -> None:
    change(root, "findings/K-2.md", ".high <", ".low <")


def payload_and_sums(root: Path) -> None:
    path = "payloads/acceptance/lookup.json"
    old = lines.digest((root / path).read_bytes())
    change(root, path, "0.0021", "0.0022")
    change(root, "payloads/SHA256SUMS", old, lines.digest((root / path).read_bytes()))


def payload_absent_then(root: Path) -> None:
    old = lines.digest((root / LATER).read_bytes())
    change(root, LATER, "2.5978", "2.5979")
    change(root, "payloads/SHA256SUMS", old, lines.digest((root / LATER).read_bytes()))


def delete_text(root: Path) -> None:
    (root / "findings/K-2.md").unlink()


def rename_finding(root: Path) -> None:
    text = (root / "findings/F-02.md").read_text()
    (root / "findings/F-02.md").unlink()
    write(root, "findings/F-03.md", text.replace("id: F-02", "id: F-03"))
    change(root, "findings/F-01.md", "F-02", "F-03")


def force_status(root: Path) -> None:
    change(root, "findings/F-02.md", 'status: "null"', "status: holds")


def ledger_and_text(root: Path) -> None:
    edit_text(root)
    entries = list(lines.parse(lines.text(root)).lines)
    new = lines.digest((root / "findings/F-02.md").read_bytes())
    rechain(root, [{**vars(each), "source": new} if each.id == "F-02" else vars(each) for each in entries])


def drop_last(root: Path) -> None:
    write(root, LEDGER, "".join(lines.text(root).splitlines(keepends=True)[:-1]))


def drop_all(root: Path) -> None:
    (root / LEDGER).unlink()


def drop_first(root: Path) -> None:
    rechain(root, [vars(each) for each in lines.parse(lines.text(root)).lines[1:]])


def swap(root: Path) -> None:
    first, second, third = lines.text(root).splitlines(keepends=True)
    write(root, LEDGER, first + third + second)


def swap_and_chain(root: Path) -> None:
    first, second, third = (vars(each) for each in lines.parse(lines.text(root)).lines)
    rechain(root, [first, third, second])


def backdate(root: Path) -> None:
    write(root, "findings/K-3.md", K2.replace("K-2", "K-3"))
    commit(root, "A third rule")
    registering.append(registering_record(root), "K-3")
    entries = [vars(each) for each in lines.parse(lines.text(root)).lines]
    entries[-1]["date"] = "2020-01-01"
    rechain(root, entries)


def postdate(root: Path) -> None:
    backdate(root)
    entries = [vars(each) for each in lines.parse(lines.text(root)).lines]
    entries[-1]["date"] = "2099-01-01"
    rechain(root, entries)


def rechain(root: Path, entries: list[dict[str, object]]) -> None:
    """Write a ledger whose lines follow on, as one who knows the format would."""
    before, text = lines.START, ""
    for entry in entries:
        line = lines.Line(**{**entry, "before": before})  # type: ignore[arg-type]
        before, text = line.digest, text + line.text + "\n"
    write(root, LEDGER, text)


def registering_record(root: Path) -> registering.Record:
    from generator.record.record import load

    return load(root)


CHEATS: list[tuple[Callable[[Path], None], tuple[str, int, str]]] = [
    (edit_text, ("findings/F-02.md", 16, "registered-text-changed")),
    (reflow, ("findings/F-02.md", 16, "registered-text-changed")),
    (rename_alias, ("findings/K-1.md", 4, "registered-text-changed")),
    (change_bar, ("findings/K-2.md", 4, "registered-text-changed")),
    (payload_and_sums, ("payloads/acceptance/lookup.json", 33, "registered-text-changed")),
    (payload_absent_then, (LATER, 19, "registered-text-changed")),
    (delete_text, ("findings/K-2.md", 1, "registered-text-changed")),
    (rename_finding, ("findings/F-02.md", 1, "registered-text-changed")),
    (force_status, ("findings/F-02.md", 5, "registered-text-changed")),
    (ledger_and_text, (LEDGER, 2, "registered-text-changed")),
    (drop_last, (LEDGER, 3, "registered-text-changed")),
    (drop_all, (LEDGER, 1, "registered-text-changed")),
    (drop_first, (LEDGER, 1, "registered-text-changed")),
    (swap, (LEDGER, 2, "registered-text-changed")),
    (swap_and_chain, (LEDGER, 2, "registered-text-changed")),
    (backdate, (LEDGER, 4, "registered-text-changed")),
    (postdate, (LEDGER, 4, "registered-text-changed")),
]


@pytest.mark.parametrize("committed", [False, True], ids=["left uncommitted", "committed"])
@pytest.mark.parametrize(("cheat", "caught"), CHEATS, ids=[cheat.__name__ for cheat, _ in CHEATS])
def test_no_way_to_cheat_goes_unseen(
    record: Path, cheat: Callable[[Path], None], caught: tuple[str, int, str], committed: bool
) -> None:
    cheat(record)
    if committed:
        commit(record, "Nothing to see here")
    assert caught in refused(record)


@pytest.mark.parametrize(
    "cheat", [ledger_and_text, drop_last, drop_all, swap_and_chain], ids=lambda cheat: cheat.__name__
)
def test_a_branch_is_held_against_where_it_began(record: Path, cheat: Callable[[Path], None]) -> None:
    git(record, "checkout", "-q", "-b", "pull-request")
    cheat(record)
    commit(record, "A pull request")
    messages = call(record, "check", "--base", "main").output
    assert LEDGER in {path for path, _, _ in refused(record, "--base", "main")}
    assert "The line that main (" in messages


def test_the_refusal_says_what_the_text_was(record: Path) -> None:
    edit_text(record)
    output = call(record, "check").output
    assert "findings/F-02.md:16:11: registered-text-changed:" in output
    assert 'It was "It is not decided by these prompts."' in output


def test_a_base_that_git_does_not_know_is_misuse(record: Path) -> None:
    result = call(record, "check", "--base", "nowhere")
    assert result.exit_code == 2
    assert "nowhere" in result.output


# Registering


def test_registering_twice_is_refused(record: Path) -> None:
    result = call(record, "register", "F-02")
    assert result.exit_code == 1
    assert "F-02 is registered already" in result.output
    assert refused(record) == []


def test_registering_with_uncommitted_changes_is_refused(record: Path) -> None:
    change(record, "findings/F-01.md", "more than", "well over")
    before = lines.text(record)
    result = call(record, "register", "F-01")
    assert result.exit_code == 1
    assert "findings/F-01.md:1:1: untracked-source" in result.output
    assert lines.text(record) == before


def test_a_number_outside_a_statement_keeps_a_finding_from_being_registered(record: Path) -> None:
    result = call(record, "register", "F-01")
    assert result.exit_code == 1
    assert "findings/F-01.md:21:9: bad-template" in result.output
    assert "stands inside a statement" in result.output


THIRD = sample_record.NULL.replace("F-02", "F-03").replace("told", "known")


@pytest.mark.parametrize("agrees", [None, False], ids=["no critic", "a critic that disagrees"])
def test_a_label_by_rule_needs_a_critic_that_agrees_or_a_dated_ruling(
    record: Path, agrees: bool | None
) -> None:
    write(record, "findings/F-03.md", THIRD)
    if agrees is not None:
        criticised(record, "F-03", agrees=agrees)
    commit(record, "A third finding")
    result = call(record, "register", "F-03")
    assert result.exit_code == 1
    assert "findings/F-03.md:5:10: verdict-mismatch: No critic of the record agrees" in result.output
    ruling = "{date: 2026-11-30, rule: F-03, what: no critic, reading: with care, allows: F-03}"
    write(
        record,
        "findings/DEVIATIONS.md",
        f"---\ndeviations:\n  - {ruling}\n---\n\nOne ruling.\n".replace("One", "A"),
    )
    commit(record, "A ruling")
    assert call(record, "register", "F-03").exit_code == 0


def test_a_label_that_a_critic_agrees_with_is_registered(record: Path) -> None:
    write(record, "findings/F-03.md", THIRD)
    criticised(record, "F-03", agrees=True)
    commit(record, "A third finding and its critic")
    result = call(record, "register", "F-03")
    assert result.exit_code == 0, result.output


def test_a_text_that_does_not_pass_the_gate_is_not_registered(record: Path) -> None:
    change(record, "findings/F-01.md", "its\nrate", "its\n9 rates")
    commit(record, "A typed number")
    before = lines.text(record)
    result = call(record, "register", "K-2", "F-01")
    assert result.exit_code == 1
    assert "untraced-number" in result.output
    assert lines.text(record) == before


def test_an_unknown_id_is_misuse(record: Path) -> None:
    result = call(record, "register", "F-09")
    assert result.exit_code == 2
    assert "no finding, kill criterion, erratum or payload F-09" in result.output


def test_a_file_of_bars_is_frozen_and_governs_the_record_of_its_name(record: Path) -> None:
    bars = sample_record.payload()
    bars = {
        "schema": "specdec-sidechannels/registered/1",
        "name": "registered/sideband",
        **{key: bars[key] for key in ("question", "config")},
        "results": {"bar": {"value": 1, "unit": "tokens"}},
    }
    path = "payloads/registered/sideband.json"
    (record / path).parent.mkdir()
    write(record, path, json.dumps(bars, indent=1) + "\n")
    sums = (record / "payloads/SHA256SUMS").read_text()
    write(record, "payloads/SHA256SUMS", f"{sums}{lines.digest((record / path).read_bytes())}  {path}\n")
    commit(record, "Bars")
    result = call(record, "register", path)
    assert result.exit_code == 0, result.output
    assert orders(record)[path] == "no data"


@pytest.mark.parametrize("moment", ["write", "flush", "replace"])
def test_a_crash_while_registering_leaves_a_ledger_that_verifies(
    record: Path, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    write(record, "findings/K-3.md", K2.replace("K-2", "K-3"))
    commit(record, "A third rule")
    before = lines.text(record)

    def crash(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    where = {"write": (os, "fdopen"), "flush": (os, "fsync"), "replace": (Path, "replace")}[moment]
    with monkeypatch.context() as patch:
        patch.setattr(*where, crash)
        with pytest.raises(KeyboardInterrupt):
            registering.append(registering_record(record), "K-3")
    assert lines.text(record) == before
    assert [each.name for each in (record / "findings").iterdir() if each.name.startswith(".")] == []
    assert refused(record) == []


def test_the_day_of_a_line_is_held_against_the_commit_that_brought_it(record: Path) -> None:
    version = list(History(record).versions(LEDGER))[-1]
    day = datetime.datetime.fromtimestamp(version.time, datetime.UTC).date().isoformat()
    assert {each.date for each in lines.parse(lines.text(record)).lines} <= {day}


def test_the_site_shows_the_ledger_and_what_came_first(record: Path) -> None:
    commit(record, "Everything is committed")
    result = call(record, "build")
    assert result.exit_code == 0, result.output
    shown = (record / "site/registered.html").read_text()
    assert "registered before the data" in shown
    assert f'data-verbatim="{LEDGER}#L1-L3"' in shown
    assert "registered after the data" in (record / "site/kill-criteria.html").read_text()
    finding = (record / "site/findings/F-02.html").read_text()
    assert '</span> <span class="badge registered">registered</span>' in finding
    verified = call(record, "verify", "site")
    assert verified.exit_code == 0, verified.output


def test_the_site_shows_what_the_critic_says_of_each_label(record: Path) -> None:
    result = call(record, "build")
    assert result.exit_code == 0, result.output
    shown = (record / "site/critic.html").read_text()
    assert re.search(r'F-02</a> <span class="badge">null</span> agrees', shown)
    assert "same authors" not in shown
    assert "its own code" in shown
