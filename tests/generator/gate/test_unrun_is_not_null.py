"""What was not run is not called null, and what was absorbed is not called absent."""

from __future__ import annotations

from pathlib import Path

import pytest
import sample_record

from generator.gate import verdict
from generator.render import site as sites

UNRUN = """---
id: F-03
title: Larger models
record: acceptance
status: unrun
regime: "{{ a.regime.target }} on a card"
payloads:
  a: payloads/acceptance/lookup.json
---

"""
ABSORBED = sample_record.NULL.replace(
    "regime:", "verdict_when:\n  absorbed at this reader: a.results.margin.low < 0\nregime:"
)
UNTESTED = sample_record.KILL.replace("lookup.json", "later.json").split("\n\n")[0] + "\n\n"


def _refused(tmp_path: Path, files: dict[str, str]) -> list[tuple[str, str, str]]:
    _, evaluations = sites.gather(sample_record.write(tmp_path, {**files}))
    return [(each.path, each.code, each.text) for each in verdict.faults(evaluations.values())]


SAID = [
    ("findings/F-03.md", UNRUN + "The result is null.\n", "null"),
    ("findings/F-03.md", UNRUN + "We found nothing on a card.\n", "found nothing"),
    ("findings/K-1.md", UNTESTED + "It did not fire.\n", "did not fire"),
    ("findings/F-02.md", ABSORBED + "\nThe channel is absent.\n", "absent"),
    ("findings/F-02.md", ABSORBED + "\nThere is no signal in it.\n", "no signal"),
]


@pytest.mark.parametrize(("path", "text", "words"), SAID)
def test_more_than_was_found_is_refused(tmp_path: Path, path: str, text: str, words: str) -> None:
    assert _refused(tmp_path, {path: text}) == [(path, "verdict-mismatch", words)]


def test_another_source_may_not_say_it_either(tmp_path: Path) -> None:
    page = "---\ntitle: T\n---\n\nOn larger models F-03 is null.\n"
    files = {"findings/F-03.md": UNRUN, "site_src/reading.md": page}
    assert _refused(tmp_path, files) == [("site_src/reading.md", "verdict-mismatch", "null")]


PASSES = [
    UNRUN + "Not run is not null, and F-02 is null.\n",
    UNRUN + "It was not run: it needs a card.\n",
]


@pytest.mark.parametrize("text", PASSES)
def test_what_was_not_run_may_be_said_not_to_be_null(tmp_path: Path, text: str) -> None:
    assert _refused(tmp_path, {"findings/F-03.md": text}) == []


def test_the_check_of_a_record_asks(tmp_path: Path) -> None:
    record, evaluations = sites.gather(sample_record.write(tmp_path, {"findings/F-03.md": SAID[0][1]}))
    assert "verdict-mismatch" in {each.code for each in sites.judge(record, evaluations).refusals}
