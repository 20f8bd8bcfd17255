"""What cannot be read is refused at its place, in bounded memory, without a traceback."""

from __future__ import annotations

import hashlib
from pathlib import Path

import finished_site as made
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from generator.audit import verify
from generator.audit.folder import PAGE_LIMIT
from generator.audit.scanner import Document, Unreadable
from generator.report.refusal import Refusal

FINDING = "site/findings/F-01.html"

MALFORMED = {
    "an open angle bracket": "<p>a < b</p>",
    "a tag that is not closed": "<p>a</p><b",
    "an attribute with a stray quotation mark": '<p a"b">7</p>',
    "an unclosed quotation": '<p title="a>b</p>',
    "a comment that browsers end early": "<!-- a --!> 7 -->",
    "a comment that browsers end at once": "<!--> 7 -->",
    "a comment that holds another": "<!-- a <!-- b --> 7 -->",
    "an unclosed comment": "<!-- a",
    "an unclosed script": "<script>var a = 1;",
    "an unclosed title": "<title>a",
    "a processing instruction": "<?php echo 7 ?>",
    "a CDATA section": "<svg><![CDATA[7]]></svg>",
    "an end tag with attributes": '<p>a</p a="b">',
    "text after plaintext": "<plaintext>7",
    "an embedded object": '<object data="x.svg"></object>',
    "markup inside a style element": "<style></b><p>7</p></style>",
    "an iframe with content": "<iframe>7</iframe>",
    "an unclosed verbatim block": f'<pre data-verbatim="{made.PATH}#L1-L2" data-sha256="x">a',
}


def _refusals(root: Path, changes: dict[str, str]) -> list[Refusal]:
    made.write(root, changes)
    return verify(root, root / "site").refusals


@pytest.mark.parametrize("body", MALFORMED.values(), ids=MALFORMED.keys())
def test_markup_that_browsers_guess_at_is_refused_at_its_place(body: str, tmp_path: Path) -> None:
    text = made.page(f"<p>a</p>\n{body}\n")
    found = [each for each in _refusals(tmp_path, {"site/x.html": text}) if each.path == "site/x.html"]
    assert {each.code for each in found} & {"bad-page", "payload-changed"}
    assert min(each.line for each in found if each.code in ("bad-page", "payload-changed")) >= 10


def test_a_page_over_the_limit_is_refused_without_being_read(tmp_path: Path) -> None:
    made.write(tmp_path)
    with (tmp_path / "site" / "big.html").open("wb") as file:
        file.truncate(max(50 * 1024 * 1024, PAGE_LIMIT + 1))
    found = verify(tmp_path, tmp_path / "site").refusals
    assert [(each.path, each.code) for each in found] == [("site/big.html", "too-large")]


def test_a_page_that_is_not_utf_8_is_refused_at_its_byte(tmp_path: Path) -> None:
    made.write(tmp_path)
    (tmp_path / "site" / "x.html").write_bytes(b"<p>\n ab\xff</p>")
    found = verify(tmp_path, tmp_path / "site").refusals
    assert [(each.code, each.line, each.column) for each in found] == [("bad-encoding", 2, 4)]


def test_a_loop_of_symbolic_links_is_refused(tmp_path: Path) -> None:
    made.write(tmp_path)
    (tmp_path / "site" / "loop").symlink_to(tmp_path / "site", target_is_directory=True)
    (tmp_path / "site" / "self.html").symlink_to("self.html")
    found = verify(tmp_path, tmp_path / "site").refusals
    assert {(each.path, each.code) for each in found} == {
        ("site/loop", "bad-page"),
        ("site/self.html", "bad-page"),
    }


@pytest.mark.parametrize("name", ["empty", "missing"])
def test_a_folder_without_a_site_is_refused(name: str, tmp_path: Path) -> None:
    made.write(tmp_path)
    if name == "empty":
        (tmp_path / name).mkdir()
    found = verify(tmp_path, tmp_path / name).refusals
    assert {each.code for each in found} == {"bad-page"}


def test_a_payload_nested_three_thousand_levels_is_refused(tmp_path: Path) -> None:
    deep = '{"a":' * 3000 + "1" + "}" * 3000
    digest = hashlib.sha256(deep.encode()).hexdigest()
    mark = made.leaf("/results/tokens/value", "places(2)", "2.60").replace(made.Payload().sha256, digest)
    found = _refusals(tmp_path, {made.PATH: deep, FINDING: made.page(f"<p>{mark}</p>")})
    assert ("bad-payload", FINDING) in {(each.code, each.path) for each in found}


def test_an_expression_nested_three_thousand_levels_is_refused(tmp_path: Path) -> None:
    deep = "[&quot;neg&quot;," * 3000 + "1" + "]" * 3000
    mark = made.derived([], "1/1", "places(0)", "1").replace('"[]"', f'"{deep}"')
    found = _refusals(tmp_path, {FINDING: made.page(f"<p>{mark}</p>")})
    assert ("bad-template", FINDING) in {(each.code, each.path) for each in found}


JSON_FAULTS = {
    "a key twice": b'{"a": 1, "a": 2}',
    "a comma at the end": b'{"a": 1,}',
    "a missing comma": b'{"a": 1 "b": 2}',
    "a missing colon": b'{"a" 1}',
    "not a number": b'{"a": NaN}',
    "infinity": b'{"a": -Infinity}',
    "a leading zero": b'{"a": 01}',
    "a raw line feed in a string": b'{"a": "x\ny"}',
    "something after the value": b'{"a": 1} 2',
    "brackets that cross": b'{"a": [1}]',
    "an open container": b'{"a": 1',
    "nothing": b"",
}


@pytest.mark.parametrize("data", JSON_FAULTS.values(), ids=JSON_FAULTS.keys())
def test_bytes_that_are_not_strict_json_are_refused(data: bytes) -> None:
    with pytest.raises(Unreadable):
        Document(data).at(("a",))


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.binary(max_size=200))
def test_random_bytes_as_page_payload_and_index_never_break_the_audit(tmp_path: Path, data: bytes) -> None:
    made.write(tmp_path)
    for path in (
        FINDING,
        made.PATH,
        "site/search/search_index.json",
        "findings/terms.toml",
        "site/x.css",
        "site/x.xml",
    ):
        (tmp_path / path).write_bytes(data)
    verify(tmp_path, tmp_path / "site")


_PARTS = st.sampled_from(
    [
        "<data ",
        'class="num"',
        ">",
        "</data>",
        "<a href='",
        "x.html#L1'",
        "<!--",
        "-->",
        "<pre data-verbatim=",
        '"a#L1-L2"',
        "<span class='claim' ",
        "data-claim='[]'",
        "</span>",
        "{{",
        "7",
        "&#55",
        "<nav>",
        "<script>",
        "</script>",
        "\u202e",
    ]
)


@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.lists(_PARTS, max_size=12))
def test_random_pieces_of_markup_never_break_the_audit(tmp_path: Path, parts: list[str]) -> None:
    made.write(tmp_path, {FINDING: made.page(" ".join(parts))})
    verify(tmp_path, tmp_path / "site")
