"""A block of lines that is not the file's is one refusal, however many numbers it holds."""

from __future__ import annotations

from pathlib import Path

import finished_site as made
import pytest

from generator.audit import verify

PAGE = "site/payloads/acceptance/lookup.html"


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        (f'data-sha256="{made.Payload().sha256}"', f'data-sha256="{"0" * 64}"', "payload-changed"),
        ("2.5978", "2.5979", "display-mismatch"),
        (f'data-verbatim="{made.PATH}#L1-L18', f'data-verbatim="{made.PATH}#L1-L19', "place-mismatch"),
    ],
)
def test_a_refused_block_is_refused_once(old: str, new: str, code: str, tmp_path: Path) -> None:
    honest = made.payload_page()
    assert old in honest
    made.write(tmp_path, {PAGE: honest.replace(old, new)})
    refusals = verify(tmp_path, tmp_path / "site").refusals
    there = [each for each in refusals if each.path == PAGE]
    assert [each.code for each in there] == [code]


def test_what_follows_a_refused_block_is_judged(tmp_path: Path) -> None:
    page = made.payload_page().replace("2.5978", "2.5979").replace("</pre>\n<p>", "</pre>\n<p>It is 7. ")
    made.write(tmp_path, {PAGE: page})
    codes = {each.code for each in verify(tmp_path, tmp_path / "site").refusals if each.path == PAGE}
    assert codes == {"display-mismatch", "untraced-number"}


def test_a_refused_block_that_nothing_closes_hides_nothing(tmp_path: Path) -> None:
    body = '<pre data-verbatim="payloads/none.json#L1-L2" data-sha256="0"><code>It is 7.</code>'
    made.write(tmp_path, {PAGE: made.page(body)})
    codes = {each.code for each in verify(tmp_path, tmp_path / "site").refusals if each.path == PAGE}
    assert {"untraced-number"} < codes
