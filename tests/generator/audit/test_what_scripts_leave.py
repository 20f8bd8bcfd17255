"""What a script may write is no licence in a finished page, and carried payloads are payloads."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from generator.audit import verify

PAGE = "findings/F-01.html"
CARRIED = "payloads/acceptance/lookup.json.js"
KNOWN, SUMS = "assets/known.js", "payloads/SHA256SUMS"

FAULTS = {
    "a live element with a number": (
        PAGE,
        "</article>",
        '<p data-live="">2.60</p></article>',
        "untraced-number",
    ),
    "a forged outcome": (
        PAGE,
        "</article>",
        '<div id="verify-result" role="status" data-live="">9 of 9 re-computed here</div></article>',
        "untraced-number",
    ),
    "an address that is none": (PAGE, ' id="n-', ' id="x-', "untraced-number"),
    "a carried digit": (CARRIED, "2.5978", "2.5979", "payload-changed"),
    "another path": (CARRIED, "lookup.json", "other.json", "payload-changed"),
    "a digest that no file has": (KNOWN, '.json": "', '.json": "0', "payload-changed"),
    "more than digests": (KNOWN, ");\n", ");alert();\n", "payload-changed"),
    "a copy of the checksums that differs": (SUMS, "  payloads", " *payloads", "payload-changed"),
    "more than the payload": (CARRIED, ");\n", ");alert();\n", "payload-changed"),
}


@pytest.mark.parametrize("what", FAULTS)
def test_what_is_forged_is_refused(built: Path, tmp_path: Path, what: str) -> None:
    name, before, after, code = FAULTS[what]
    site = Path(shutil.copytree(built / "site", tmp_path / "site"))
    text = (site / name).read_text("utf-8")
    assert before in text
    (site / name).write_text(text.replace(before, after, 1), "utf-8")
    found = verify(built, site).refusals
    assert code in {each.code for each in found}


@pytest.mark.parametrize("name", ["more.mjs", "acceptance/notes", "acceptance/other.csv"])
def test_what_lies_among_the_payloads_is_a_copy(built: Path, tmp_path: Path, name: str) -> None:
    site = Path(shutil.copytree(built / "site", tmp_path / "site"))
    (site / "payloads" / name).write_text("9.31\n", "utf-8")
    assert {(each.code, each.path.endswith(name)) for each in verify(built, site).refusals} == {
        ("payload-changed", True)
    }


def test_the_site_as_it_was_built_passes(built: Path) -> None:
    assert verify(built, built / "site").refusals == []
