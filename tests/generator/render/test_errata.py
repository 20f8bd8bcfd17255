"""An erratum is listed, named on the page of its finding, and stands on a statement that exists."""

from __future__ import annotations

from pathlib import Path

import lxml.html
import pytest
import sample_record

from generator.render import site
from generator.render.publish import publish

ERRATUM = """---
id: E-1
finding: F-01
statement: tokens
date: 2026-12-01
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


def test_an_erratum_is_shown_on_its_own_page_and_on_the_page_of_its_finding(tmp_path: Path) -> None:
    root = sample_record.write(tmp_path, {PATH: ERRATUM})
    publish(root, root / "site")
    for name, place in (("errata.html", ""), ("findings/F-01.html", "../")):
        page = lxml.html.document_fromstring((root / "site" / name).read_bytes())
        words = " ".join(page.text_content().split())
        assert "The wrong field was cited. It reads 2.60, and should read 2.80." in words
        assert f"{place}errata.html#E-1" in page.xpath("//article//a/@href")
        assert page.xpath("//data[@data-computed='erratum-date:E-1']/@value") == ["2026-12-01"]
    assert "corrected" in [badge.text_content() for badge in page.find_class("badge")]
    assert "A check emits" in words


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
