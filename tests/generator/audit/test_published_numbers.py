"""The list of numbers and the linked data say what the pages show, and a planted difference is refused."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from generator import audit

PAGE = "findings/F-01.html"


@pytest.fixture
def copied(built: Path, tmp_path: Path) -> Path:
    """A copy of the sample record with its site."""
    return Path(shutil.copytree(built, tmp_path / "record"))


def edited(root: Path, change: Callable[[dict[str, object]], object]) -> list[str]:
    """The refusals once numbers.json was changed."""
    file = root / "site/numbers.json"
    document = json.loads(file.read_text())
    change(document)
    file.write_text(json.dumps(document))
    return [f"{each.path}: {each.code}" for each in audit.verify(root, root / "site").refusals]


def test_every_address_in_the_list_leads_to_a_mark_that_shows_it_and_no_mark_is_left_out(built: Path) -> None:
    document = json.loads((built / "site/numbers.json").read_text())
    entry = document["pages"][PAGE]["n-lookup.tokens_per_check"]
    assert entry["shown"] == "2.60" and entry["value"] == "2.5978"
    start, end = entry["bytes"]
    assert (built / entry["path"]).read_bytes()[start:end] == b"2.5978"
    assert document["payloads"][entry["path"]]["swhid"].startswith("swh:1:cnt:")
    for file in (built / "site").rglob("*.html"):
        url = file.relative_to(built / "site").as_posix()
        ids = set(re.findall(r'<data class="num(?: derived)?" [^>]*id="([^"]+)"', file.read_text()))
        assert ids == set(document["pages"].get(url, {})), url
    assert audit.verify(built, built / "site").refusals == []


FAULTS: dict[str, tuple[Callable[[dict], object], str]] = {  # type: ignore[type-arg]
    "another value": (
        lambda found: found["pages"][PAGE]["n-lookup.tokens_per_check"].update(shown="2.61"),
        "display-mismatch",
    ),
    "a number left out": (
        lambda found: found["pages"][PAGE].pop("n-lookup.tokens_per_check"),
        "display-mismatch",
    ),
    "a number too many": (
        lambda found: found["pages"][PAGE].update({"n-x": {"shown": "7"}}),
        "display-mismatch",
    ),
    "a page that is not there": (
        lambda found: found["pages"].update({"x.html": {"n-x": {}}}),
        "display-mismatch",
    ),
    "another digest": (
        lambda found: found["payloads"]["payloads/acceptance/lookup.json"].update(sha256="0" * 64),
        "payload-changed",
    ),
    "a payload of nowhere": (
        lambda found: found["payloads"].update({"x": {"sha256": "", "swhid": ""}}),
        "unknown-payload",
    ),
    "something beside": (lambda found: found.update({"mean": 7}), "bad-page"),
    "no list at all": (lambda found: found.pop("pages"), "bad-page"),
}


@pytest.mark.parametrize("what", FAULTS)
def test_a_list_that_says_anything_else_is_refused(copied: Path, what: str) -> None:
    change, code = FAULTS[what]
    assert edited(copied, change) == [f"site/numbers.json: {code}"]


LINKED = {
    "another value": ('"@id":"#n-lookup.vanilla","value":"1"', '"@id":"#n-lookup.vanilla","value":"7"'),
    "a number of nowhere": ('"@id":"#n-lookup.vanilla"', '"@id":"#n-lookup.other"'),
    "a number that names none": (
        '{"@type":"PropertyValue","@id":"#n-lookup.vanilla","value":"1"}',
        '{"@type":"PropertyValue","value":"7"}',
    ),
    "a key beside": ('"value":"2.60"}', '"value":"2.60","name":"7 more"}'),
}


@pytest.mark.parametrize("what", LINKED)
def test_linked_data_whose_number_is_not_the_one_it_names_is_refused(copied: Path, what: str) -> None:
    page = copied / "site" / PAGE
    html = page.read_text()
    before, after = LINKED[what]
    if before not in html:
        before, after = (each.replace("n-lookup.vanilla", "n-lookup.drawn") for each in (before, after))
        before = before.replace('"value":"1"', '"value":"14,456,199,684"')
    assert before in html
    page.write_text(html.replace(before, after, 1))
    refusals = audit.verify(copied, copied / "site").refusals
    assert {each.code for each in refusals} == {"untraced-number"}
    assert {each.path for each in refusals} == {f"site/{PAGE}"}
