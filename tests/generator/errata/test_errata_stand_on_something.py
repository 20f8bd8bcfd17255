"""An erratum stands on a statement that exists."""

from __future__ import annotations

from pathlib import Path

import pytest
import sample_record

from generator.render import site

ERRATUM = """---
id: E-1
finding: F-01
statement: tokens
date: 2024-05-01
kind: value
reason: The wrong field was cited.
payloads:
  a: payloads/acceptance/lookup.json
old: a.results.tokens_per_check | places(2)
new: a.results.tokens_per_check.high | places(2)
---

The sentence of F-01 took the middle for the end.
"""
PATH = "findings/errata/E-1.md"


FAULTS = {
    "an unknown finding": (("finding: F-01", "finding: F-09"), ("unknown-id", 3, 10)),
    "an unknown statement": (("statement: tokens", "statement: none"), ("bad-erratum", 4, 12)),
    "a value without its new field": (
        ("new: a.results.tokens_per_check.high | places(2)\n", ""),
        ("bad-erratum", 6, 7),
    ),
    "words with a field": (("kind: value", "kind: wording"), ("bad-erratum", 10, 6)),
    "a field that is not there": (("tokens_per_check.high", "none"), ("unknown-field", 11, 6)),
    "a kind that is none": (("kind: value", "kind: mistake"), ("bad-erratum", 6, 7)),
}


@pytest.mark.parametrize("name", FAULTS)
def test_an_erratum_that_stands_on_nothing_is_refused_at_its_place(tmp_path: Path, name: str) -> None:
    change, expected = FAULTS[name]
    root = sample_record.write(tmp_path, {PATH: ERRATUM.replace(*change)})
    report = site.judge(*site.gather(root))
    assert expected in [(each.code, each.line, each.column) for each in report.refusals]
