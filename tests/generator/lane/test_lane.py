"""One lane: what a plan does not name cannot be committed, whatever wrote it and whoever commits it."""

from __future__ import annotations

import datetime
import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
import sample_record
from click.testing import CliRunner, Result

from generator.cli import main
from generator.lane import preflight

IDENTITY = {
    "GIT_AUTHOR_NAME": "test",
    "GIT_AUTHOR_EMAIL": "test@example.invalid",
    "GIT_COMMITTER_NAME": "test",
    "GIT_COMMITTER_EMAIL": "test@example.invalid",
    "GIT_CONFIG_GLOBAL": os.devnull,
}
LEDGER = "findings/REGISTERED"
FROZEN = "findings/F-02.md"
LOOKUP = "payloads/acceptance/lookup.json"
LATER = "payloads/acceptance/later.json"
PLAN = "docs/lane/plan.json"
K2 = sample_record.KILL.replace("K-1", "K-2").replace("lookup.json", "later.json").split("\n\n")[0]
K2 += "\n\nThe line of work ends if the later run emits less.\n"
RULING = """---
deviations:
  - date: 2026-11-28
    rule: F-02
    what: It is registered before a critic has read it.
    reading: As its author's word.
    allows: F-02
---
"""


@pytest.fixture(autouse=True)
def surroundings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CI", raising=False)
    for key, value in IDENTITY.items():
        monkeypatch.setenv(key, value)


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A record with a finding and a criterion registered, and with the hook."""
    folder = tmp_path_factory.mktemp("guarded")
    root = sample_record.write(folder / "record", {"findings/K-2.md": K2, "findings/DEVIATIONS.md": RULING})
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("CI", raising=False)
        for key, value in IDENTITY.items():
            patch.setenv(key, value)
        shell(folder, "git init -q -b main record")
        shell(root, "git add -A; git commit -qm 'A record'")
        assert call(root, "register", "F-02", "K-2").exit_code == 0
        shell(root, "git add -A; git commit -qm 'Frozen'")
        assert call(root, "lane", "install").exit_code == 0
    return root


@pytest.fixture
def record(guarded: Path, tmp_path: Path) -> Path:
    """A copy of that record."""
    return Path(shutil.copytree(guarded, tmp_path / "record"))


def shell(folder: Path, command: str) -> subprocess.CompletedProcess[str]:
    """What somebody types at a prompt."""
    return subprocess.run(["sh", "-c", command], cwd=folder, capture_output=True, text=True, check=False)


def call(root: Path, *arguments: str) -> Result:
    return CliRunner().invoke(main, [*arguments, "--root", str(root)], catch_exceptions=False)


def head(root: Path) -> str:
    return shell(root, "git rev-parse HEAD").stdout


TOUCHED: dict[str, tuple[str, str]] = {
    "an edit of a frozen text": (f"echo more >> {FROZEN}; git add {FROZEN}", FROZEN),
    "its deletion": (f"git rm -q {FROZEN}", FROZEN),
    "its renaming": (f"git mv {FROZEN} findings/F-03.md", FROZEN),
    "a payload that it names": (f"echo >> {LOOKUP}; git add -A", LOOKUP),
    "a payload that is not there yet": (f"echo '{{}}' > {LATER}; git add -A", LATER),
    "a line of the ledger": (f"echo >> {LEDGER}; git add -A", LEDGER),
    "the whole ledger": (f"git rm -q {LEDGER}", LEDGER),
    "bars": (
        "mkdir payloads/registered; echo '{}' > payloads/registered/x.json; git add -A",
        "payloads/registered/x.json",
    ),
    "a frozen text among others": (
        f"echo >> notes.txt; sed -i s/decided/settled/ {FROZEN}; git add -A",
        FROZEN,
    ),
    "a frozen text whose line is gone": (f"echo >> {FROZEN}; sed -i 1d {LEDGER}; git add -A", FROZEN),
}


@pytest.mark.parametrize("name", TOUCHED)
def test_a_registered_path_outside_the_plan_is_not_committed(record: Path, name: str) -> None:
    command, path = TOUCHED[name]
    assert shell(record, command).returncode == 0
    before = head(record)
    done = shell(record, "git commit -qm 'Nothing to see here'")
    assert done.returncode != 0
    said = (
        f"{path}:1:1: registered-text-changed: The file is registered, and no plan that is staged names it."
    )
    assert said in done.stdout + done.stderr
    result = call(record, "lane", "commit", "-m", "Nothing to see here")
    assert result.exit_code == 1
    assert said in result.output
    assert head(record) == before


@pytest.mark.parametrize("name", [name for name in TOUCHED if "whole" not in name and "is gone" not in name])
def test_a_path_that_the_plan_names_is_committed_and_the_plan_with_it(record: Path, name: str) -> None:
    command, path = TOUCHED[name]
    assert call(record, "lane", "plan", path, "--why", "It has to be").exit_code == 0
    assert shell(record, command).returncode == 0
    assert call(record, "lane", "commit", "-m", "As planned").exit_code == 0
    committed = shell(record, "git show --name-only --no-renames --format=%s").stdout.split("\n")
    assert committed[0] == "As planned"
    assert {path, PLAN} <= set(committed)


def test_a_plan_allows_what_it_names_and_nothing_else(record: Path) -> None:
    assert call(record, "lane", "plan", LATER, "--why", "The data come in").exit_code == 0
    shell(record, f"echo '{{}}' > {LATER}; echo more >> {FROZEN}; git add -A")
    result = call(record, "lane", "commit", "-m", "More than planned")
    assert result.exit_code == 1
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    [line] = result.output.splitlines()
    assert line.startswith(f"{FROZEN}:1:1: registered-text-changed: The file is registered, and the plan of")
    assert line.endswith(f'{today} does not name it. Run: findings lane plan {FROZEN} --why "…"')


def test_a_folder_in_a_plan_stands_for_what_it_holds(record: Path) -> None:
    result = call(record, "lane", "plan", "payloads/acceptance/", "notes.txt", "--why", "The data come in")
    assert "notes.txt  (not registered; needs no plan)" in result.output
    shell(record, f"echo '{{}}' > {LATER}; git add -A")
    assert shell(record, "git commit -qm 'The data'").returncode == 0
    shell(record, f"echo more >> {FROZEN}; git add -A")
    assert shell(record, "git commit -qm 'More'").returncode == 1


def test_a_plan_that_is_not_staged_allows_nothing(record: Path) -> None:
    call(record, "lane", "plan", FROZEN, "--why", "It has to be")
    shell(record, f"echo more >> {FROZEN}; git add {FROZEN}")
    assert shell(record, "git commit -qm 'The plan is not in it'").returncode == 1
    assert shell(record, f"git add {PLAN}; git commit -qm 'Now it is'").returncode == 0


def test_what_is_not_registered_needs_no_plan(record: Path) -> None:
    shell(record, "echo more >> findings/F-01.md; echo new > notes.txt; git add -A")
    done = shell(record, "git commit -qm 'A page'")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_commit_of_some_paths_is_judged_by_these(record: Path) -> None:
    shell(record, f"echo more >> {FROZEN}; echo more >> findings/F-01.md; git add -A")
    assert shell(record, "git commit -qm 'Only the other' -- findings/F-01.md").returncode == 0
    assert shell(record, f"git commit -qm 'The frozen one' -- {FROZEN}").returncode == 1


def test_a_record_below_the_root_of_its_repository_is_guarded_too(tmp_path: Path) -> None:
    root = sample_record.write(tmp_path / "whole/a record", {"findings/DEVIATIONS.md": RULING})
    shell(tmp_path, "git init -q -b main whole")
    shell(root, "git add -A; git commit -qm 'A record'")
    assert call(root, "register", "F-02").exit_code == 0
    shell(root, "git add -A; git commit -qm Frozen")
    assert call(root, "lane", "install").exit_code == 0
    shell(root, f"echo more >> {FROZEN}; git add -A")
    assert shell(tmp_path / "whole", "git commit -qm 'From above'").returncode == 1
    assert shell(root, f"git commit -qm 'From within' -- {FROZEN}").returncode == 1
    shell(root, f"git checkout -q HEAD {FROZEN}; echo x > ../beside.txt; git add -A ..")
    assert shell(root, "git commit -qm 'Beside it'").returncode == 0


# The hook


FOREIGN = "#!/bin/sh\nexit 0\n"


def test_a_foreign_hook_is_never_overwritten(record: Path) -> None:
    hook = record / ".git/hooks/pre-commit"
    hook.write_text(FOREIGN)
    result = call(record, "lane", "install")
    assert result.exit_code == 1
    assert "is a hook that findings did not write; it stays as it is. Add to it:" in result.output
    assert hook.read_text() == FOREIGN


def test_what_a_foreign_hook_is_told_to_add_guards_too(record: Path) -> None:
    hook = record / ".git/hooks/pre-commit"
    hook.write_text(FOREIGN)
    line = call(record, "lane", "install").output.partition("Add to it: ")[2]
    hook.write_text(FOREIGN.replace("exit 0", line))
    shell(record, f"echo more >> {FROZEN}; git add -A")
    assert shell(record, "git commit -qm x").returncode == 1


def test_the_own_hook_is_written_anew(record: Path) -> None:
    hook = record / ".git/hooks/pre-commit"
    whole = hook.read_text()
    hook.write_text(whole.replace("exec", "true"))
    assert call(record, "lane", "install").exit_code == 0
    assert hook.read_text() == whole
    assert os.access(hook, os.X_OK)


def test_the_hook_goes_where_git_looks_for_it(record: Path) -> None:
    shell(record, "git config core.hooksPath ../hooks")
    assert call(record, "lane", "install").exit_code == 0
    assert (record.parent / "hooks/pre-commit").is_file()


# What cannot be done


def unrooted(root: Path) -> None:
    shell(root, "rm -rf .git")


MISUSE: dict[str, tuple[tuple[str, ...], Callable[[Path], object], int, str]] = {
    "a plan without a reason": (("plan", FROZEN, "--why", " "), lambda _: None, 2, "says why"),
    "a plan without paths": (("plan", "--why", "So"), lambda _: None, 2, "Missing argument"),
    "a plan of another folder": (("plan", "../x", "--why", "So"), lambda _: None, 2, "is not below"),
    "a plan of everything": (("plan", ".", "--why", "So"), lambda _: None, 2, "not the whole record"),
    "a handoff that says nothing": (
        ("handoff", "--next", " "),
        lambda _: None,
        2,
        "what is next with --next",
    ),
    "a guard without git": (("guard",), unrooted, 2, "outside any git repository"),
    "a hook without git": (("install",), unrooted, 1, "outside any git repository"),
    "a commit without a message": (("commit",), lambda _: None, 2, "Missing option"),
    "a commit of nothing": (("commit", "-m", "x"), lambda _: None, 1, ""),
}


@pytest.mark.parametrize("name", MISUSE)
def test_what_cannot_be_done_is_said(record: Path, name: str) -> None:
    arguments, prepare, code, expected = MISUSE[name]
    prepare(record)
    result = call(record, "lane", *arguments)
    assert result.exit_code == code, result.output
    assert expected in result.output
    assert not (record / "docs").exists()


@pytest.mark.parametrize(
    "text", ["{", "[]", '{"why": "x"}', '{"why": 1, "date": "", "start": "", "paths": []}', "7"]
)
def test_a_plan_that_is_none_lets_nothing_through(record: Path, text: str) -> None:
    (record / PLAN).parent.mkdir(parents=True)
    (record / PLAN).write_text(text)
    shell(record, "git add -A")
    result = call(record, "lane", "guard")
    assert result.exit_code == 1
    assert f"{PLAN}:1:1: bad-payload" in result.output


# Preflight and handoff


def test_preflight_passes_a_good_record_without_an_engine(record: Path) -> None:
    steps = list(preflight.run(record, critic="/nowhere/engine"))
    assert [(each.name, each.passed) for each in steps] == [("gate", True), ("critic", True), ("check", True)]
    assert steps[1].outcome == "no engine is installed here"


def script(folder: Path, body: str) -> str:
    file = folder / "engine"
    file.write_text(f"#!/bin/sh\n{body}\n")
    file.chmod(0o755)
    return str(file)


CRITICS = {
    "one that agrees": ("echo said; echo all agree", True, "all agree", ()),
    "one that does not": (
        '[ "$2" = --help ] || { echo F-01 differs; echo 1 differs; exit 1; }',
        False,
        "1 differs",
        ("F-01 differs", "1 differs"),
    ),
    "an engine without one": ("exit 2", True, "this engine has none", ()),
}


@pytest.mark.parametrize("name", CRITICS)
def test_preflight_asks_the_critic_of_an_engine(record: Path, tmp_path: Path, name: str) -> None:
    body, passed, outcome, said = CRITICS[name]
    step = list(preflight.run(record, critic=script(tmp_path, body)))[1]
    assert (step.passed, step.outcome, step.said) == (passed, outcome, said)


def test_preflight_fails_where_the_gate_or_the_check_refuses(record: Path) -> None:
    (record / "findings/F-01.md").write_text(
        sample_record.FINDING.replace("A check emits", "A check 7 emits")
    )
    (record / FROZEN).write_text(sample_record.NULL.replace("decided", "settled"))
    result = call(record, "lane", "preflight")
    assert result.exit_code == 1
    assert "gate: FAILED, 1 refusal" in result.output
    assert "check: FAILED, 2 refusals" in result.output
    assert "findings/F-01.md:15:33: untraced-number" in result.output


def test_a_handoff_holds_what_was_planned_committed_decided_and_what_is_next(record: Path) -> None:
    call(record, "lane", "plan", LATER, "--why", "The data come in")
    shell(record, f"echo '{{}}' > {LATER}; git add -A; git commit -qm 'The data'")
    given = ("--decision", "Greedy\nfirst", "--next", "The other draft", "--next", "A page")
    result = call(record, "lane", "handoff", *given)
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    assert f"Written: docs/lane/{today}.md." in result.output
    commit = shell(record, "git log -1 --format=%h").stdout.strip()
    assert (record / f"docs/lane/{today}.md").read_text() == (
        f"# {today}\n\n## Planned\n\nThe data come in ({today})\n\n- `{LATER}`\n\n"
        f"## Committed since\n\n- {commit} The data\n\n## Decisions\n\n- Greedy first\n\n"
        "## Next\n\n- The other draft\n- A page\n"
    )
    assert not (record / PLAN).exists()
    call(record, "lane", "handoff", "--next", "Rest")
    second = (record / f"docs/lane/{today}-2.md").read_text()
    assert "There was no plan." in second
    assert "## Decisions\n\nNone.\n" in second


def test_after_a_handoff_the_plan_holds_no_more(record: Path) -> None:
    call(record, "lane", "plan", FROZEN, "--why", "It has to be")
    shell(record, "git add -A; git commit -qm 'A plan'")
    call(record, "lane", "handoff", "--next", "Rest")
    shell(record, f"git add -A; git commit -qm 'Handed off'; echo more >> {FROZEN}; git add -A")
    assert shell(record, "git commit -qm 'Late'").returncode == 1


def test_a_plan_is_dated_and_knows_where_it_began(record: Path) -> None:
    call(record, "lane", "plan", FROZEN, FROZEN, "--why", " It has to be ")
    assert json.loads((record / PLAN).read_text()) == {
        "why": "It has to be",
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "start": head(record).strip(),
        "paths": [FROZEN],
    }


def test_paths_are_those_of_the_folder_where_they_are_typed(
    record: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(record / "payloads")
    result = CliRunner().invoke(main, ["lane", "plan", "../findings/F-02.md", "acceptance", "--why", "So"])
    assert result.exit_code == 0, result.output
    assert json.loads((record / PLAN).read_text())["paths"] == [FROZEN, "payloads/acceptance/"]
