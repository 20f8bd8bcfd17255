"""What is not shown has pages too, and every page says at which tag its payloads were read."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from pathlib import Path

import disclosed_record
import lxml.html
import pytest
import sample_record
from disclosed_record import DEVIATIONS, DEVIATIONS_TEXT, LISTED, UNRUN, UNRUN_TEXT

from generator import audit
from generator.render.publish import publish

MANIFEST = "findings/MANIFEST.json"
LOOKUP = "payloads/acceptance/lookup.json"
OTHER = "payloads/acceptance/other.json"
TAG = "v1.20.3"


@pytest.fixture(scope="module")
def disclosed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The record with its site, and with a payload that came after its release."""
    root = disclosed_record.write(tmp_path_factory.mktemp("disclosed"), {**released(), **later()})
    publish(root, root / "site")
    return root


def released(**changes: object) -> dict[str, str]:
    """A manifest of a release with that one payload."""
    digest = hashlib.sha256(sample_record.PAYLOAD.encode()).hexdigest()
    document = {
        "schema": "specdec-sidechannels/manifest/1",
        "tag": TAG,
        "parent": "0" * 40,
        "records": {"acceptance": ["3f0c1ab09f3b5f6d0d1c9f8f3c1d2e4a5b6c7d8e"]},
        "files": {LOOKUP: digest},
    }
    return {MANIFEST: json.dumps({**document, **changes}, indent=2) + "\n"}


def later() -> dict[str, str]:
    """A payload that the release does not hold, and a finding on it."""
    finding = sample_record.NULL.replace("F-02", "F-03").replace("lookup.json", "other.json")
    return {
        OTHER: sample_record.PAYLOAD.replace("acceptance/lookup", "acceptance/other"),
        "findings/F-03.md": finding,
    }


def page(root: Path, name: str) -> lxml.html.HtmlElement:
    return lxml.html.document_fromstring((root / "site" / name).read_bytes())


def words(root: Path, name: str) -> str:
    """The text of a page's article."""
    return " ".join(page(root, name).xpath("//article")[0].text_content().split())


def test_what_was_not_run_stands_by_record_with_its_question_and_its_reason(disclosed: Path) -> None:
    said = words(disclosed, "unrun.html")
    assert "1 of 3 experiments on the engine's own list" in said
    assert "Acceptance later planned, not built And on another day? Not built yet, see F-01." in said
    assert "Spill Nothing on the list is left to run." in said
    assert "findings/F-01.html" in page(disclosed, "unrun.html").xpath("//article//a/@href")


def test_what_is_withheld_stands_by_record_and_a_record_without_such_says_so(disclosed: Path) -> None:
    said = words(disclosed, "withheld.html")
    assert "Acceptance Nothing is withheld." in said
    assert "Spill secret What was asked? The people it is about have not agreed." in said


def test_a_deviation_has_its_day_its_rule_and_how_to_read_it(disclosed: Path) -> None:
    said = words(disclosed, "deviations.html")
    assert "2 in all" in said
    assert "K-1 2026-11-28 The bar was read on fewer prompts than it names." in said
    assert "acceptance/lookup 2026-11-29 The settings were changed after a pilot." in said
    assert "How to read it Nothing rests on them. By this ruling F-02 may be registered" in said


def test_the_list_lies_in_the_site_as_it_is_and_is_no_payload(disclosed: Path) -> None:
    assert (disclosed / "site" / LISTED).read_bytes() == (disclosed / LISTED).read_bytes()
    assert not (disclosed / "site/payloads/experiments.html").exists()
    computed = page(disclosed, "payloads/index.html").xpath("//data[@data-computed='payloads-count']/@value")
    assert computed == ["2"]


READ_AT = {
    "findings/F-01.html": ("read-at:F-01", TAG),
    "findings/F-03.html": ("read-at:F-03", "not released yet"),
    "payloads/acceptance/lookup.html": (f"read-at:{LOOKUP}", TAG),
    "payloads/acceptance/other.html": (f"read-at:{OTHER}", "not released yet"),
    "index.html": ("read-at", "not released yet"),
    "unrun.html": ("read-at", "not released yet"),
    "coverage.html": ("read-at", "not released yet"),
}


@pytest.mark.parametrize("name", READ_AT)
def test_a_page_says_at_which_tag_its_payloads_were_read(disclosed: Path, name: str) -> None:
    rule, value = READ_AT[name]
    [mark] = page(disclosed, name).xpath("//p[@class='read-at']/data")
    assert (mark.get("data-computed"), mark.get("value"), mark.text_content()) == (rule, value, value)


def test_every_page_of_a_record_says_it(disclosed: Path) -> None:
    pages = [each for each in (disclosed / "site").rglob("*.html") if each.name != "404.html"]
    assert len(pages) > 12
    assert [each for each in pages if each.read_text().count('class="read-at"') != 1] == []


def test_a_site_built_from_a_release_says_its_tag_on_every_page(tmp_path: Path) -> None:
    root = disclosed_record.write(tmp_path, {**released()})
    publish(root, root / "site")
    assert page(root, "index.html").xpath("//p[@class='read-at']/data/@value") == [TAG]


# The audit computes each of these again by its own reading.


@pytest.fixture
def open_site(disclosed: Path) -> Iterator[Path]:
    """The record, whose changed files are put back after the test."""
    before = {file: file.read_bytes() for file in disclosed.rglob("*") if file.is_file()}
    yield disclosed
    for file, data in before.items():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)


def codes(root: Path, path: str) -> set[str]:
    """Codes of what the audit refuses on a page."""
    return {each.code for each in audit.verify(root, root / "site").refusals if each.path == f"site/{path}"}


RULES = [
    ("unrun.html", "unrun-count", "7"),
    ("unrun.html", "experiments-count", "7"),
    ("withheld.html", "withheld-count", "7"),
    ("deviations.html", "deviations-count", "7"),
    ("deviations.html", "deviation-date:2", "2026-11-28"),
    ("findings/F-03.html", "read-at:F-03", TAG),
    ("findings/F-01.html", "read-at:F-01", "v1.20.4"),
    ("payloads/acceptance/other.html", f"read-at:{OTHER}", TAG),
    ("index.html", "read-at", TAG),
]


@pytest.mark.parametrize(("path", "rule", "value"), RULES, ids=[rule for _, rule, _ in RULES])
def test_a_forged_value_is_refused(open_site: Path, path: str, rule: str, value: str) -> None:
    file = open_site / "site" / path
    mark = rf'(data-computed="{rule}" value=)"[^"]*">[^<]*<'
    text, changed = re.subn(mark, rf'\1"{value}">{value}<', file.read_text())
    assert changed == 1
    file.write_text(text)
    assert codes(open_site, path) == {"display-mismatch"}


@pytest.mark.parametrize(
    "rule", ["deviation-date:3", "deviation-date:0", "deviation-date", "unrun-count:x", "read-at:F-09"]
)
def test_a_rule_about_nothing_is_refused(open_site: Path, rule: str) -> None:
    file = open_site / "site/findings/F-01.html"
    file.write_text(file.read_text().replace('"read-at:F-01"', f'"{rule}"'))
    assert codes(open_site, "findings/F-01.html") & {"unknown-id", "untraced-number"}


SOURCES = {
    "an entry of what was not run": (
        UNRUN,
        UNRUN_TEXT.replace("  later:", "  other: So.\n  later:"),
        "unrun.html",
    ),
    "a day of a deviation": (
        DEVIATIONS,
        DEVIATIONS_TEXT.replace("2026-11-29", "2026-11-30"),
        "deviations.html",
    ),
    "a deviation": (
        DEVIATIONS,
        DEVIATIONS_TEXT.replace("deviations:\n", "deviations:\n  - {date: 2026-11-01}\n"),
        "deviations.html",
    ),
    "an experiment": (LISTED, disclosed_record.listed([]), "unrun.html"),
    "the tag": (MANIFEST, released(tag="v9.0.0")[MANIFEST], "findings/F-01.html"),
    "a digest of the manifest": (
        MANIFEST,
        released(files={LOOKUP: "0" * 64})[MANIFEST],
        "findings/F-02.html",
    ),
}


@pytest.mark.parametrize("name", SOURCES)
def test_a_site_that_was_built_from_another_source_is_refused(open_site: Path, name: str) -> None:
    path, text, shown = SOURCES[name]
    (open_site / path).write_text(text)
    assert "display-mismatch" in codes(open_site, shown)


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"tag": 7, "files": {}}', '{"tag": "v1", "files": {}}', '{"tag": "v1.0.0"}']
)
def test_a_manifest_that_says_nothing_is_refused_and_not_trusted(open_site: Path, text: str) -> None:
    (open_site / MANIFEST).write_text(text)
    assert codes(open_site, "index.html") == {"bad-payload"}
