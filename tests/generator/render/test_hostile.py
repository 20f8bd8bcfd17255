"""What a payload or an author writes is text in the page, and nothing that is read causes a traceback."""

from __future__ import annotations

import os
from pathlib import Path

import lxml.html
import pytest
import sample_record
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from generator.render import site
from generator.render.publish import publish
from generator.report.refusal import Refused

SCRIPT = "</data><script>alert('x')</script>\\\" onmouseover=\\\"alert('y')"


def test_texts_of_a_payload_are_escaped_everywhere(tmp_path: Path) -> None:
    changes = {
        "payloads/acceptance/lookup.json": sample_record.PAYLOAD.replace('"greedy"', f'"{SCRIPT}"').replace(
            "How many tokens", f"{SCRIPT} How many"
        ),
        "payloads/SHA256SUMS": None,
        "findings/F-02.md": sample_record.NULL.replace(
            "title: The margin is not", "title: The <b>margin</b> & <script>alert('z')</script> is not"
        ),
    }
    root = sample_record.write(tmp_path, changes)
    publish(root, root / "site")
    for file in (root / "site").rglob("*.html"):
        page = lxml.html.document_fromstring(file.read_bytes())
        assert not [
            script
            for script in page.xpath("//script[not(@type='application/ld+json')]/text()")
            if "alert(" in script
        ], file
        assert not page.xpath("//@onmouseover"), file
    finding = lxml.html.document_fromstring((root / "site/findings/F-02.html").read_bytes())
    assert finding.findtext(".//title").startswith("The <b>margin</b> & <script>alert('z')</script> is not")


RESERVED = [
    "site_src/errata.md",
    "site_src/findings/index.md",
    "site_src/payloads/more.md",
    "site_src/index.md",
]


@pytest.mark.parametrize("path", RESERVED)
def test_a_page_where_the_generator_puts_its_own_is_refused(tmp_path: Path, path: str) -> None:
    root = sample_record.write(tmp_path, {path: "# Mine\n"})
    report = site.judge(*site.gather(root))
    assert [(each.path, each.code) for each in report.refusals] == [(path, "bad-template")]


def test_a_record_may_have_its_front_page_in_site_src(tmp_path: Path) -> None:
    root = sample_record.write(tmp_path, {"site_src/index.md": "# Mine\n", "templates/landing.md.j2": None})
    publish(root, root / "site")
    assert "Mine" in (root / "site/index.html").read_text()


def test_a_file_name_that_is_not_utf8_is_refused(tmp_path: Path) -> None:
    root = sample_record.write(tmp_path)
    (root / "findings" / os.fsdecode(b"F-\xff.md")).write_bytes(b"x")
    report = site.judge(*site.gather(root))
    assert [(each.path, each.code) for each in report.refusals] == [("findings/F-\\udcff.md", "bad-encoding")]


def test_yaml_that_refers_to_itself_is_refused(tmp_path: Path) -> None:
    text = sample_record.FINDING.replace("record: acceptance", "record: &x [*x]")
    report = site.judge(*site.gather(sample_record.write(tmp_path, {"findings/F-01.md": text})))
    assert ("findings/F-01.md", "bad-front-matter") in [(each.path, each.code) for each in report.refusals]


MARKUP = [
    "{{",
    "}}",
    "{%",
    "%}",
    "{#",
    "#}",
    "-",
    "a",
    ".results",
    ".",
    "|",
    "places(2)",
    "(",
    ")",
    '"',
    "'",
    "1",
    "/",
]
WORDS = [
    "claim",
    "endclaim",
    "statement",
    "endstatement",
    "verbatim",
    "\n",
    "\n\n",
    " ",
    "<b>",
    "`",
    "F-01",
    "é",
    "\0",
]


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(body=st.lists(st.sampled_from([*MARKUP, *WORDS]), max_size=30).map("".join))
def test_any_text_is_judged_without_a_traceback(tmp_path: Path, body: str) -> None:
    root = sample_record.write(tmp_path, {"findings/F-01.md": sample_record.FINDING + body})
    site.judge(*site.gather(root))


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    data=st.binary(max_size=60),
    name=st.sampled_from(["findings/F-01.md", "payloads/a/b.json", "findings/terms.toml"]),
)
def test_any_bytes_are_judged_without_a_traceback(tmp_path: Path, data: bytes, name: str) -> None:
    root = sample_record.write(tmp_path, {name: data})
    try:
        site.build(root)
    except Refused as refused:
        assert refused.refusals
    else:
        assert name == "findings/terms.toml"
