"""What a comparison of two revisions says of every number, and when it cannot be had."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
import sample_record
from click.testing import CliRunner, Result

from generator.cli import main

F1, F2, K1 = "findings/F-01.md", "findings/F-02.md", "findings/K-1.md"
LOOKUP, SUMS = "payloads/acceptance/lookup.json", "payloads/SHA256SUMS"
LANDING = "templates/landing.md.j2"
Changes = dict[str, str | bytes | None]


def git(root: Path, *arguments: str) -> None:
    who = ("-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *who, "-C", str(root), *arguments], check=True, capture_output=True)


def call(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, [str(each) for each in arguments], catch_exceptions=False)


@pytest.fixture
def record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The sample record, committed and tagged."""
    monkeypatch.delenv("CI", raising=False)
    root = sample_record.write(tmp_path / "record")
    git(tmp_path, "init", "-q", "record")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "one")
    git(root, "tag", "one")
    return root


def finding(old: str, new: str) -> Changes:
    assert old in sample_record.FINDING
    return {F1: sample_record.FINDING.replace(old, new)}


def payload(old: str, new: str) -> Changes:
    assert old in sample_record.PAYLOAD
    return {LOOKUP: sample_record.PAYLOAD.replace(old, new), SUMS: None}


FIRST = "{{ a.results.tokens_per_check | ci(2) }}"
CLAIM = "{% claim a.results.tokens_per_check.low > a.results.vanilla %}"
NULL_WHEN = "null_when: a.results.margin.low < 0 and a.results.margin.high > 0\n"
STATEMENT = '{% statement "prompts" %}'
PROMPTS = "{{ a.config.prompts }}. This line"

CASES: dict[str, tuple[Changes, str]] = {
    "a value": (
        payload('"value": 2.5978', '"value": 2.6978'),
        f"{F1}#tokens: changed value: 2.60 → 2.70 (2.5978 → 2.6978), {LOOKUP}:19#/results/tokens_per_check",
    ),
    "a value whose shown text stays": (
        payload('"value": 2.5978', '"value": 2.5979'),
        f"{F1}#tokens: changed value: 2.60 → 2.60 (2.5978 → 2.5979), ",
    ),
    "a derived value": (
        payload('"value": 2.5978', '"value": 2.6978'),
        f"{F1}#gain: changed value: 2.60× → 2.70× (12989/5000 → 13489/5000), ",
    ),
    "a text": (
        payload('"precision": "fp32"', '"precision": "bf16"'),
        f"{F1}#regime: changed value: fp32 → bf16, {LOOKUP}:5#/regime/precision",
    ),
    "a number in the title": (
        payload('"value": 2.5978', '"value": 2.6978'),
        f"{F1}#title: changed value: 2.60 → 2.70",
    ),
    "a number on the front page": (
        payload('"value": 2.5978', '"value": 2.6978'),
        f"{LANDING}: changed value: 2.60 → 2.70",
    ),
    "a computed number": (
        {"findings/F-03.md": sample_record.NULL.replace("F-02", "F-03")},
        f"{LANDING}: changed value: 2 → 3, findings-count",
    ),
    "a form": (
        finding("signed(3)", "signed(4)"),
        f"{F1}: changed rounding: −0.007 → −0.0069 (-0.006860, signed(3) → signed(4)), {LOOKUP}:31#",
    ),
    "a line": (
        payload('"results": {', '\n"results": {'),
        f"{F1}#tokens: moved place only: 2.60, {LOOKUP}:19 → 20, ",
    ),
    "a digest alone": (
        payload("two CPU cores", "ten CPU cores"),
        f"{F1}#tokens: moved place only: 2.60, {LOOKUP} ",
    ),
    "a field of equal value": (
        finding(PROMPTS, "{{ a.results.margin.clusters }}. This line"),
        f"{F1}: moved place only: 84, {LOOKUP}#/config/prompts → {LOOKUP}#/results/margin/clusters",
    ),
    "a sentence that became a statement": (
        {
            F1: sample_record.FINDING.replace(PROMPTS, '{% statement "prompts" %}' + PROMPTS)
            + "{% endstatement %}"
        },
        f"{F1}#prompts: moved place only: 84, from {F1}",
    ),
    "a field exchanged for another": (
        finding(PROMPTS, "{{ a.results.margin.observations }}. This line"),
        f"{F1}: changed value: 84 → 3810, {LOOKUP}:38#/results/margin/observations",
    ),
    "a number that is new": (
        finding(FIRST, "{{ a.config.lookahead }} and " + FIRST),
        f"{F1}#tokens: appeared: 2, {LOOKUP}:6#/config/lookahead",
    ),
    "a number that is gone": (
        finding(FIRST + " tokens over\n{{ a.results.tokens_per_check.clusters }}", FIRST + " tokens over"),
        f"{F1}#tokens: vanished: 84, {LOOKUP}:25#/results/tokens_per_check/clusters",
    ),
    "a claim that is false now": (
        payload('"vanilla": {"value": 1,', '"vanilla": {"value": 3,'),
        f'{F1}#gain: claim flipped: "more than plain decoding" ({LOOKUP}#/results/tokens_per_check/low > '
        f"{LOOKUP}#/results/vanilla/value), was true, is false",
    ),
    "a claim that is gone": (
        {F1: sample_record.FINDING.replace(CLAIM, "").replace("{% endclaim %}", "")},
        f'{F1}#gain: claim flipped: "more than plain decoding" (',
    ),
    "a status that its rule denies": (
        payload('"vanilla": {"value": 1,', '"vanilla": {"value": 3,'),
        f"{F1}: claim flipped: status: holds → holds, which no rule gives",
    ),
    "a verdict": (
        payload('"vanilla": {"value": 1,', '"vanilla": {"value": 3,'),
        f"{F1}: claim flipped: verdict: faster than plain decoding → as fast as plain decoding",
    ),
    "a status": (
        {F2: sample_record.NULL.replace('"null"', "open").replace(NULL_WHEN, "")},
        f"{F2}: claim flipped: status: null → open",
    ),
    "a kill criterion": (
        payload('"vanilla": {"value": 1,', '"vanilla": {"value": 3,'),
        f"{K1}: claim flipped: outcome: did not fire → fired",
    ),
    "a finding that is new": (
        {"findings/F-03.md": sample_record.NULL.replace("F-02", "F-03")},
        f"findings/F-03.md#margin: appeared: −0.007 (-0.006860), {LOOKUP}:31#/results/margin/value",
    ),
    "a finding that is gone": (
        {F2: None, F1: sample_record.FINDING.replace(" F-02 says more.", "")},
        f"{F2}#margin: vanished: −0.007 (-0.006860), {LOOKUP}:31#/results/margin/value",
    ),
}


def change(root: Path, changes: Changes) -> None:
    sample_record.write(root, changes)
    for path, content in changes.items():
        if content is None:
            (root / path).unlink()


@pytest.mark.parametrize("name", CASES)
def test_every_kind_of_change_is_named_with_its_place(record: Path, name: str) -> None:
    changes, expected = CASES[name]
    change(record, changes)
    git(record, "add", "-A")
    git(record, "commit", "-qm", "two")
    result = call("diff", "one", "HEAD", "--root", record)
    assert result.exit_code == 0, result.output
    assert [line[: len(expected)] for line in result.output.splitlines()].count(expected) == 1, result.output


ALONE = {
    "a sentence that became a statement": "moved",
    "a form": "rounding",
    "a field of equal value": "moved",
    "a field exchanged for another": "value",
    "a number that is new": "appeared",
    "a number that is gone": "vanished",
    "a claim that is gone": "flipped",
    "a status": "flipped",
}


@pytest.mark.parametrize("name", ALONE)
def test_a_change_of_one_number_touches_no_other(record: Path, name: str) -> None:
    change(record, CASES[name][0])
    found = json.loads(call("diff", "one", "--root", record, "--format", "json").stdout)["changes"]
    assert [each["kind"] for each in found if each["page"] != LANDING] == [ALONE[name]]


def test_nothing_changed_between_a_revision_and_itself_or_the_working_tree(record: Path) -> None:
    for arguments in (("one", "HEAD"), ("one",)):
        result = call("diff", *arguments, "--root", record, "--exit-code")
        assert (result.exit_code, result.output) == (0, "No number changed.\n")


def test_a_comparison_leaves_the_working_tree_and_the_index_alone(record: Path) -> None:
    change(record, CASES["a form"][0])
    before = (record / F1).read_bytes()
    call("diff", "one", "HEAD", "--root", record)
    assert (record / F1).read_bytes() == before
    status = subprocess.run(["git", "-C", str(record), "status", "--short"], capture_output=True, check=True)
    assert status.stdout == b" M findings/F-01.md\n"


def test_a_record_below_the_root_of_its_repository_is_compared_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CI", "1")
    root = sample_record.write(tmp_path / "papers/record")
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-qm", "one")
    change(root, CASES["a form"][0])
    result = call("diff", "HEAD", "--root", root, "--exit-code")
    assert result.exit_code == 1
    assert result.output.endswith("1 changed rounding\n")


def test_each_side_that_cannot_be_read_is_refused_at_its_place(record: Path) -> None:
    change(record, {LOOKUP: "{"})
    git(record, "commit", "-qam", "broken")
    change(record, finding("a.seeds.root", "a.seeds.rot") | {LOOKUP: sample_record.PAYLOAD})
    result = call("diff", "HEAD", "--root", record)
    assert result.exit_code == 1
    assert f"HEAD:{LOOKUP}:1:" in result.stderr
    assert f"\n{F1}:31:" in result.stderr
    assert result.stdout == ""


def test_a_revision_without_a_record_is_refused(record: Path) -> None:
    git(record, "checkout", "-q", "--orphan", "other")
    git(record, "rm", "-rq", "--cached", ".")
    git(record, "commit", "-qm", "nothing", "--allow-empty")
    result = call("diff", "other", "one", "--root", record)
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith("other:1:1: no-source")


MISUSE: dict[str, Callable[[Path], tuple[str, ...]]] = {
    "no such revision": lambda root: ("one", "two"),
    "an option in place of a revision": lambda root: ("one", "--output=/tmp/x"),
    "a revision and a folder": lambda root: ("one", str(root / "findings")),
}


@pytest.mark.parametrize("name", MISUSE)
def test_two_names_that_are_no_sides_are_misuse(record: Path, name: str) -> None:
    result = call("diff", *MISUSE[name](record), "--root", record)
    assert result.exit_code == 2
    assert result.stdout == ""


def test_the_json_form_holds_both_states_of_every_number(record: Path) -> None:
    change(record, CASES["a value"][0])
    found = json.loads(call("diff", "one", "--root", record, "--format", "json").stdout)
    assert (found["old"], found["new"]) == ("one", "the working tree")
    first = next(each for each in found["changes"] if each["part"] == "tokens")
    assert (first["kind"], first["page"], first["of"]) == ("value", F1, "number")
    states = [(first[side]["shown"], first[side]["value"], first[side]["form"]) for side in ("old", "new")]
    assert states == [("2.60", "2.5978", "places(2)"), ("2.70", "2.6978", "places(2)")]
    assert first["new"]["places"][0]["line"] == 19
    assert sum(found["counts"].values()) == len(found["changes"])


def test_the_markdown_form_has_a_table_for_each_kind(record: Path) -> None:
    change(record, CASES["a value"][0])
    text = call("diff", "one", "--root", record, "--format", "markdown").stdout
    assert text.startswith("# Changes from one to the working tree\n")
    assert "\n## Changed value\n" in text
    assert (
        "| findings/F-01.md#tokens | 2.60 (2.5978) | 2.70 (2.6978) | payloads/acceptance/lookup.json#/"
        in text
    )
    assert "## Vanished" not in text


def test_a_link_in_a_revision_leads_nowhere_outside_it(record: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside.json"
    outside.write_text(sample_record.PAYLOAD)
    (record / LOOKUP).unlink()
    (record / LOOKUP).symlink_to(outside)
    git(record, "commit", "-qam", "a link")
    result = call("diff", "one", "HEAD", "--root", record)
    assert result.exit_code == 1
    assert f"HEAD:{LOOKUP}:1:1: bad-payload: A symbolic link leads out" in result.stderr


def test_a_comparison_that_is_kept_is_a_page_of_the_site(record: Path) -> None:
    for name, old, new in (("v1.9", "signed(3)", "signed(4)"), ("v1.10", "percent(1)", "percent(2)")):
        text = (record / F1).read_text()
        change(record, {F1: text.replace(old, new)})
        git(record, "commit", "-qam", name)
        git(record, "tag", name)
    for arguments in (("one", "v1.9"), ("v1.9", "v1.10")):
        result = call("diff", *arguments, "--root", record, "--keep", "--format", "markdown")
        assert result.exit_code == 0
        kept = record / f"findings/changes/{'..'.join(arguments)}.md"
        assert kept.read_text() == result.stdout
    built = call("build", "--root", record)
    assert built.exit_code == 0, built.output
    page = (record / "site/changes.html").read_text()
    assert page.index("# Changes from v1.9 to v1.10") < page.index("# Changes from one to v1.9")
    assert call("verify", "site", "--root", record).exit_code == 0
    (record / "findings/changes/v1.9..v1.10.md").write_text("# Nothing changed\n")
    assert "payload-changed" in call("verify", "site", "--root", record).output


def test_a_kept_comparison_has_to_be_committed(record: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    change(record, CASES["a form"][0])
    git(record, "commit", "-qam", "two")
    assert call("diff", "one", "HEAD", "--root", record, "--keep").exit_code == 0
    monkeypatch.setenv("CI", "1")
    result = call("check", "--root", record)
    assert result.exit_code == 1
    assert "findings/changes/one..HEAD.md:1:1: untracked-source" in result.output


def test_a_comparison_of_names_that_are_no_file_name_is_not_kept(record: Path) -> None:
    git(record, "branch", "a/b")
    result = call("diff", "one", "a/b", "--root", record, "--keep")
    assert result.exit_code == 2
    assert not (record / "findings/changes").exists()
