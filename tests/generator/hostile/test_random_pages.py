"""A page of any traced numbers passes the audit, and stops passing once one of them is another number."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import plain_builder
import sample_record
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from test_any_number import LEXEMES, by_display

from generator import audit
from generator.number.display import DIGIT_LIMIT, ROUNDED, WHOLE, Form

SETTINGS = settings(
    derandomize=True,
    max_examples=20,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.filter_too_much],
)
FORMS = st.one_of(
    st.builds(Form, st.sampled_from(["plain", *WHOLE])),
    st.builds(Form, st.sampled_from(ROUNDED), st.integers(1, DIGIT_LIMIT)),
)
PRINTED = st.tuples(LEXEMES, FORMS).filter(lambda each: by_display(*each) not in ("zero", "refused"))
SURROUNDINGS = st.sampled_from(
    ["It is {}.", "- {} it is.", "**{}** in bold", "| a |\n| --- |\n| {} |", "> {}"]
)


FRONT = """---
id: F-01
title: Numbers
record: acceptance
status: open
regime: greedy
payloads:
  a: payloads/acceptance/lookup.json
---

"""


def payload(lexemes: list[str]) -> str:
    """The sample payload with other results, their lexemes as they are."""
    document = {key: value for key, value in sample_record.payload().items() if key != "state"}
    text = json.dumps({**document, "results": {}}, indent=2)
    values = ",\n".join(
        f'    "r{place}": {{"value": {each}, "unit": "ratio"}}' for place, each in enumerate(lexemes)
    )
    return text.replace('"results": {}', f'"results": {{\n{values}\n  }}') + "\n"


def record(root: Path, printed: list[tuple[str, Form]], around: list[str]) -> Path:
    """A record with one finding that prints every number."""
    shutil.rmtree(root, ignore_errors=True)
    lines = []
    for place, ((_, form), text) in enumerate(zip(printed, around, strict=False)):
        shown = f" | {form}" if form.name != "plain" else ""
        lines.append(text.format(f"{{{{ a.results.r{place}{shown} }}}}"))
    changes: dict[str, str | bytes | None] = dict.fromkeys(sample_record.files())
    changes |= {
        "payloads/acceptance/lookup.json": payload([lexeme for lexeme, _ in printed]),
        "findings/F-01.md": FRONT + "\n\n".join(lines) + "\n",
    }
    return sample_record.write(root, changes)


@SETTINGS
@given(st.lists(PRINTED, min_size=1, max_size=8), st.lists(SURROUNDINGS, min_size=8, max_size=8))
def test_a_page_of_random_traced_numbers_passes_the_audit(
    tmp_path: Path, printed: list[tuple[str, Form]], around: list[str]
) -> None:
    root = record(tmp_path / "record", printed, around)
    report = audit.verify(root, plain_builder.build(root))
    assert report.refusals == []
    assert report.numbers >= len(printed)


@SETTINGS
@given(PRINTED, SURROUNDINGS, st.integers(0, 10**6), st.sampled_from("0123456789"))
def test_a_page_that_shows_one_other_digit_does_not(
    tmp_path: Path, printed: tuple[str, Form], around: str, place: int, digit: str
) -> None:
    shown = by_display(*printed)
    digits = [match.start() for match in re.finditer("[0-9]", shown)]
    assume(digits and shown[digits[place % len(digits)]] != digit)
    at = digits[place % len(digits)]
    root = record(tmp_path / "record", [printed], [around])
    page = plain_builder.build(root) / "findings/F-01.html"
    text = page.read_text("utf-8")
    assert text.count(f">{shown}</a>") == 1
    page.write_text(text.replace(f">{shown}</a>", f">{shown[:at]}{digit}{shown[at + 1 :]}</a>"), "utf-8")
    assert {each.code for each in audit.verify(root, root / "site").refusals} == {"display-mismatch"}
