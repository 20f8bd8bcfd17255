"""Every experiment is published, unrun or withheld with a reason; rules are bent in the open."""

from __future__ import annotations

from pathlib import Path

import disclosed_record
import pytest
from disclosed_record import DEVIATIONS, DEVIATIONS_TEXT, LISTED, ROWS, UNRUN, UNRUN_TEXT, WITHHELD

from generator.disclosure import deviations
from generator.record import record as records
from generator.render import site

Changes = dict[str, str | bytes | None]
Place = tuple[str, int, int, str]


@pytest.fixture(autouse=True)
def outside_ci(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CI", raising=False)


def refused(root: Path) -> list[Place]:
    """Path, line, column and code of everything that stands against publishing."""
    report = site.judge(*site.gather(root))
    return [(each.path, each.line, each.column, each.code) for each in report.refusals]


def test_a_record_that_accounts_for_every_experiment_is_not_refused(tmp_path: Path) -> None:
    assert refused(disclosed_record.write(tmp_path)) == []


def test_a_record_without_a_list_needs_none_of_these_sources(tmp_path: Path) -> None:
    import sample_record

    assert refused(sample_record.write(tmp_path)) == []


def swapped(which: str, **changes: object) -> str:
    """The list with one experiment changed."""
    keys = ("name", "record", "question", "state", "payloads")
    rows = [
        tuple(changes.get(k, v) if row[0] == which else v for k, v in zip(keys, row, strict=True))
        for row in ROWS
    ]
    return disclosed_record.listed(rows)  # type: ignore[arg-type]


def with_list(text: str) -> Changes:
    return {LISTED: text, "payloads/SHA256SUMS": disclosed_record.sums(text)}


def bent(old: str, new: str) -> Changes:
    assert old in DEVIATIONS_TEXT
    return {DEVIATIONS: DEVIATIONS_TEXT.replace(old, new)}


UNACCOUNTED: dict[str, tuple[Changes, Place]] = {
    "planned, and nowhere mentioned": (
        {UNRUN: UNRUN_TEXT.replace("later: >-\n    Not built yet,\n    see F-01.", "{}")},
        (LISTED, 14, 16, "unaccounted"),
    ),
    "withheld, and the list of those is gone": ({WITHHELD: None}, (LISTED, 21, 16, "unaccounted")),
    "published, and cited by no finding": (
        with_list(swapped("lookup", payloads=["payloads/acceptance/other.json"])),
        (LISTED, 5, 16, "unaccounted"),
    ),
    "unrun and withheld": (
        {WITHHELD: "---\nexperiments:\n  secret: So.\n  later: So.\n---\n"},
        (WITHHELD, 4, 3, "duplicate-id"),
    ),
    "published and unrun": (
        {UNRUN: UNRUN_TEXT.replace("later:", "lookup: Not run.\n  later:")},
        (UNRUN, 3, 3, "duplicate-id"),
    ),
    "a name that is not on the list": (
        {UNRUN: UNRUN_TEXT.replace("later:", "never: Not run.\n  later:")},
        (UNRUN, 3, 3, "unknown-id"),
    ),
    "no list at all": (
        {LISTED: None, "payloads/SHA256SUMS": None, WITHHELD: None},
        (UNRUN, 3, 3, "unknown-id"),
    ),
    "an entry without a reason": (
        {UNRUN: '---\nexperiments:\n  later: ""\n---\n'},
        (UNRUN, 3, 3, "bad-front-matter"),
    ),
    "two entries on a line": (
        {UNRUN: "---\nexperiments: {later: Not built.}\n---\n"},
        (UNRUN, 2, 15, "bad-front-matter"),
    ),
    "a key of another source": (
        {UNRUN: UNRUN_TEXT.replace("experiments:", "status: unrun\nexperiments:")},
        (UNRUN, 2, 1, "bad-front-matter"),
    ),
    "no front matter": ({WITHHELD: "Nothing.\n"}, (WITHHELD, 1, 1, "bad-front-matter")),
    "a numeral in a reason": (
        {UNRUN: UNRUN_TEXT.replace("Not built yet", "Not built for 7 weeks")},
        (UNRUN, 4, 19, "untraced-number"),
    ),
    "a numeral in the prose": (
        {UNRUN: UNRUN_TEXT.replace("is not null", "7 is not null")},
        (UNRUN, 8, 9, "untraced-number"),
    ),
    "a numeral in a question": (
        with_list(swapped("later", question="And on 7 days?")),
        (LISTED, 16, 27, "untraced-number"),
    ),
    "a numeral in a name": (with_list(swapped("later", name="later-7")), (LISTED, 14, 22, "untraced-number")),
    "a list changed under its checksum": (
        {LISTED: swapped("later", question="Why?")},
        ("payloads/SHA256SUMS", 2, 1, "payload-changed"),
    ),
    "a list that is not strict JSON": ({LISTED: "{"}, (LISTED, 1, 2, "bad-payload")),
    "a list of another schema": (
        with_list(disclosed_record.listed().replace("experiments/1", "experiments/2")),
        (LISTED, 2, 13, "bad-payload"),
    ),
    "a list with a key too many": (
        with_list(
            disclosed_record.listed().replace('"state": "planned",', '"state": "planned", "mood": "good",')
        ),
        (LISTED, 17, 35, "bad-payload"),
    ),
    "an experiment listed twice": (
        with_list(swapped("later", name="lookup")),
        (LISTED, 14, 16, "duplicate-id"),
    ),
    "the list cited as a payload": (
        {"site_src/reading.md": "---\npayloads:\n  a: payloads/experiments.json\n---\nWords.\n"},
        ("site_src/reading.md", 3, 6, "unknown-payload"),
    ),
}

BENT: dict[str, tuple[Changes, Place]] = {
    "a rule that is not there": (bent("rule: K-1", "rule: K-9"), (DEVIATIONS, 4, 11, "unknown-id")),
    "a payload that is not there": (
        bent("rule: payloads/acceptance/lookup", "rule: payloads/acceptance/none"),
        (DEVIATIONS, 8, 11, "unknown-payload"),
    ),
    "a finding that is not there": (bent("allows: F-02", "allows: F-09"), (DEVIATIONS, 11, 13, "unknown-id")),
    "a date that is none": (bent("2026-11-28", "soon"), (DEVIATIONS, 3, 11, "bad-front-matter")),
    "a date in another form": (bent("2026-11-28", "20261128"), (DEVIATIONS, 3, 11, "bad-front-matter")),
    "a date that is not yet": (bent("2026-11-29", "2199-01-01"), (DEVIATIONS, 7, 11, "bad-front-matter")),
    "an entry before the one above": (
        bent("2026-11-29", "2026-11-01"),
        (DEVIATIONS, 7, 11, "bad-front-matter"),
    ),
    "no word on how to read it": (
        bent("    reading: Take its outcome as a hint.\n", ""),
        (DEVIATIONS, 3, 5, "bad-front-matter"),
    ),
    "a key that is none": (bent("allows:", "mood:"), (DEVIATIONS, 11, 5, "bad-front-matter")),
    "entries that are none": (
        {DEVIATIONS: "---\ndeviations: none\n---\n"},
        (DEVIATIONS, 2, 13, "bad-front-matter"),
    ),
    "a numeral in what was done": (
        bent("fewer prompts", "7 prompts"),
        (DEVIATIONS, 5, 31, "untraced-number"),
    ),
    "entries in a row": (
        {DEVIATIONS: "---\ndeviations: [{date: 2026-11-28, rule: K-1, what: So., reading: So.}]\n---\n"},
        (DEVIATIONS, 2, 15, "bad-front-matter"),
    ),
}


@pytest.mark.parametrize(
    ("changes", "place"), [*UNACCOUNTED.values(), *BENT.values()], ids=[*UNACCOUNTED, *BENT]
)
def test_what_is_not_accounted_for_is_refused_at_its_place(
    tmp_path: Path, changes: Changes, place: Place
) -> None:
    assert place in refused(disclosed_record.write(tmp_path, changes))


def test_a_ruling_allows_the_finding_that_it_names_and_no_other(tmp_path: Path) -> None:
    record = records.load(disclosed_record.write(tmp_path))
    allowed = deviations.allowing(record, "F-02")
    assert allowed is not None
    assert (allowed.number, allowed.date, allowed.rule) == (
        2,
        "2026-11-29",
        "payloads/acceptance/lookup.json",
    )
    assert deviations.allowing(record, "F-01") is None


def test_what_is_disclosed_counts_as_no_finding(tmp_path: Path) -> None:
    record = records.load(disclosed_record.write(tmp_path))
    assert [each.id for each in record.findings] == ["F-01", "F-02"]
    assert LISTED not in record.payloads
    only = {"findings/F-01.md": None, "findings/F-02.md": None, "findings/K-1.md": None}
    alone = records.load(disclosed_record.write(tmp_path / "alone", only))  # type: ignore[arg-type]
    assert ("findings", "no-source") in [(each.path, each.code) for each in alone.refusals]
