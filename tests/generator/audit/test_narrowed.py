"""An audit of some files of a site says of them what an audit of the whole site says."""

from __future__ import annotations

from pathlib import Path

import finished_site as made
import pytest

from generator.audit import Audit, verify

FINDING = "site/findings/F-01.html"
FAULTS: dict[str, tuple[str, str, str]] = {
    "a typed number": (FINDING, "</body>", "<p>It is 7.</p></body>"),
    "a link to a line that is not there": (FINDING, "lookup.html#L8", "lookup.html#L99"),
    "an id without a place": (FINDING, "kill-criteria.html#K-1", "kill-criteria.html#K-9"),
    "a title that repeats another number": (FINDING, "<title>A check emits 2.60", "<title>It emits 2.61"),
    "a digest": (FINDING, made.Payload().sha256, "0" * 64),
    "an entry of the search index": ("site/search/search_index.json", "emits 2.60", "emits 2.61"),
    "a counted number": ("site/index.html", '"numbers-count" value="12">12<', '"numbers-count" value="9">9<'),
    "a copy of a payload": ("site/payloads/acceptance/lookup.json", "2.5978", "2.5979"),
    "a time in a sitemap": ("site/sitemap.xml", "<lastmod>", "<note>7</note><lastmod>"),
}


@pytest.mark.parametrize(("path", "old", "new"), FAULTS.values(), ids=FAULTS.keys())
def test_a_file_is_judged_as_in_an_audit_of_everything(path: str, old: str, new: str, tmp_path: Path) -> None:
    whole = Audit(made.write(tmp_path), tmp_path / "site")
    assert whole.run().refusals == []
    honest = made.files()[path]
    (tmp_path / path).write_text(honest.replace(old, new), "utf-8")
    refusals = whole.again([path.removeprefix("site/")]).refusals
    assert refusals
    assert refusals == [each for each in verify(tmp_path, tmp_path / "site").refusals if each.path == path]
    (tmp_path / path).write_text(honest, "utf-8")
    assert whole.again([path.removeprefix("site/")]).refusals == []


def test_a_payload_is_read_again(tmp_path: Path) -> None:
    whole = Audit(made.write(tmp_path), tmp_path / "site")
    whole.run()
    made.write(tmp_path, {made.PATH: made.PAYLOAD.replace("2.5978", "2.5979")})
    refusals = whole.again(["findings/F-01.html"]).refusals
    assert "payload-changed" in {each.code for each in refusals}


def test_other_files_are_left_alone(tmp_path: Path) -> None:
    whole = Audit(made.write(tmp_path), tmp_path / "site")
    whole.run()
    made.write(tmp_path, {"site/index.html": made.page("<p>It is 7.</p>")})
    assert whole.again(["findings/F-01.html"]).refusals == []
