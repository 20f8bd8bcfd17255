"""Pages carry every number with its place, keep their links when numbers change, and show payloads whole."""

from __future__ import annotations

import hashlib
import re
from fractions import Fraction
from html import unescape
from pathlib import Path

import lxml.html
import pytest
import sample_record

from generator.render.publish import publish

Page = lxml.html.HtmlElement


def page(root: Path, name: str) -> Page:
    return lxml.html.document_fromstring((root / "site" / name).read_bytes())


def text(element: Page) -> str:
    return " ".join(element.text_content().split())


def test_every_leaf_names_the_bytes_it_was_read_from(built: Path) -> None:
    data = (built / "payloads/acceptance/lookup.json").read_bytes()
    leaves = page(built, "findings/F-01.html").xpath("//data[@data-ptr]")
    assert len(leaves) > 15
    for leaf in leaves:
        start, end = map(int, leaf.get("data-span").split("-"))
        written = data[start:end].decode()
        assert written == leaf.get("value") or written == f'"{leaf.get("value")}"'
        assert data[:start].count(b"\n") + 1 == int(leaf.get("data-line"))
        assert leaf.get("data-sha256") == hashlib.sha256(data).hexdigest()
        assert leaf.find("a").get("href") == f"../payloads/acceptance/lookup.html#L{leaf.get('data-line')}"


def test_every_form_prints_in_prose_headings_tables_and_lists(built: Path) -> None:
    found = {
        (mark.get("data-format"), text(mark))
        for mark in page(built, "findings/F-01.html").xpath("//data[@value]")
    }
    assert found >= {
        ("places(2)", "2.60"),
        ("plain", "84"),
        ("group", "14,456,199,684"),
        ("signed(3)", "−0.007"),
        ("percent(1)", "12.5%"),
        ("sig(3)", "1.50 × 10⁻⁶"),
        ("ordinal", "2nd"),
        ("signed(4)", "+0.0021"),
        ("words", "two"),
        ("times(2)", "2.60×"),
        ("text", "SmolLM2-135M-Instruct"),
    }


def test_a_derived_number_carries_its_exact_value(built: Path) -> None:
    (derived,) = page(built, "findings/F-01.html").find_class("derived")
    numerator, denominator = map(int, derived.get("value").split("/"))
    assert Fraction(numerator, denominator) == Fraction("2.5978")
    assert derived.get("data-expression").startswith('["/",["payloads/acceptance/lookup.json",')


def test_a_number_at_the_start_of_a_line_stays_in_its_paragraph(built: Path) -> None:
    paragraphs = [text(each) for each in page(built, "findings/F-01.html").xpath("//p")]
    assert "84. This line starts with a number and stays a paragraph. F-02 says more." in paragraphs


def test_heading_ids_leave_numbers_out_so_that_an_erratum_breaks_no_link(built: Path) -> None:
    ids = [
        heading.get("id")
        for heading in page(built, "findings/F-01.html").xpath(
            "//article//h1 | //article//h2[not(ancestor::footer)]"
        )
    ]
    assert ids == ["looking-back-in-the-prompt-emits-tokens-a-check", "what-bytes-buy"]


def test_titles_and_tables_of_contents_take_the_plain_text(built: Path) -> None:
    finding = page(built, "findings/F-01.html")
    assert finding.findtext(".//title").startswith("Looking back in the prompt emits 2.60 tokens a check")
    contents = [text(link) for link in finding.xpath("//nav[@aria-label='Table of contents']//a")]
    assert "What 14,456,199,684 bytes buy" in contents


def test_ids_in_running_text_become_links(built: Path) -> None:
    links = {text(link): link.get("href") for link in page(built, "findings/F-02.html").find_class("ref")}
    assert links["K-1"] == "../kill-criteria.html#K-1"
    assert page(built, "kill-criteria.html").get_element_by_id("K-1") is not None


def test_statements_have_addresses_inline_and_as_blocks(built: Path) -> None:
    inline = page(built, "findings/F-01.html").get_element_by_id("F-01-gain")
    block = page(built, "findings/F-02.html").get_element_by_id("F-02-margin")
    assert (inline.tag, block.tag) == ("span", "div")
    assert len(block.findall("p")) == 2


def test_badges_are_bound_to_their_rules(built: Path) -> None:
    badges = {
        text(badge): badge.get("data-claim", "")
        for badge in page(built, "findings/F-01.html").find_class("badge")
    }
    assert list(badges) == ["holds", "faster than plain decoding"]
    assert all(claim.startswith('[">",') for claim in badges.values())
    (outcome,) = page(built, "kill-criteria.html").find_class("outcome")
    assert text(outcome) == "did not fire"
    assert outcome.get("data-claim").startswith('["not",["<",')


def test_a_payload_page_shows_the_file_line_by_line(built: Path) -> None:
    payload = page(built, "payloads/acceptance/lookup.html")
    lines = sample_record.PAYLOAD.removesuffix("\n").split("\n")
    (block,) = payload.xpath("//pre[@data-verbatim and contains(@class, 'lines')]")
    assert block.text_content() == "\n".join(lines)
    assert block.get("data-verbatim") == f"payloads/acceptance/lookup.json#L1-L{len(lines)}"
    assert payload.get_element_by_id("L19").text_content() == lines[18]
    gutter = payload.find_class("gutter")[0].text_content().split("\n")
    assert gutter == [str(number) for number in range(1, len(lines) + 1)]


def test_a_long_payload_is_cut_after_its_last_cited_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("generator.render.page.LINE_LIMIT", 10)
    root = sample_record.write(tmp_path)
    publish(root, root / "site")
    payload = page(root, "payloads/acceptance/lookup.html")
    (block,) = payload.xpath("//pre[@data-verbatim and contains(@class, 'lines')]")
    assert block.get("data-verbatim") == "payloads/acceptance/lookup.json#L1-L43"
    assert "the rest is in the raw file" in payload.text_content()


def test_a_payload_page_says_who_cites_each_line(built: Path) -> None:
    (cites,) = page(built, "payloads/acceptance/lookup.html").find_class("cites")
    rows = cites.text_content().removeprefix("\n").split("\n")
    assert rows[18] == "front page F-01"
    assert rows[32] == "F-01 F-02"
    assert rows[0] == ""


def test_a_payload_page_has_digest_command_checksum_and_raw_file(built: Path) -> None:
    payload = page(built, "payloads/acceptance/lookup.html")
    digest = hashlib.sha256(sample_record.PAYLOAD.encode()).hexdigest()
    facts = {text(term): text(term.getnext()) for term in payload.xpath("//dl[contains(@class,'facts')]/dt")}
    assert facts["Made by"] == "engine run acceptance --draft lookup"
    assert facts["Digest"] == digest
    assert facts["Cited by"] == "front page, F-01, F-02, K-1"
    assert f"{digest}  payloads/acceptance/lookup.json" in payload.text_content()
    assert (built / "site/payloads/acceptance/lookup.json").read_text() == sample_record.PAYLOAD


def test_the_front_page_counts_and_lists(built: Path) -> None:
    front = page(built, "index.html")
    computed = {mark.get("data-computed"): text(mark) for mark in front.find_class("computed")}
    assert computed.pop("read-at") == "not released yet"
    numbers = sum(
        len(page(built, f"findings/{name}.html").xpath("//data[contains(@class, 'num')]"))
        - len(page(built, f"findings/{name}.html").xpath("//data[@data-format='text' or @data-computed]"))
        for name in ("F-01", "F-02")
    )
    assert computed == {"findings-count": "2", "findings-count:holds": "1", "numbers-count": str(numbers)}
    assert [text(each) for each in front.xpath("//p[@class='entry-head']/a")] == ["F-01", "F-02"]


def test_verbatim_lines_are_those_of_the_file(built: Path) -> None:
    (block,) = page(built, "reading.html").xpath("//pre[@data-verbatim]")
    assert block.text_content() == "\n".join(sample_record.PAYLOAD.split("\n")[1:3])


def test_nothing_is_asked_of_another_host(built: Path) -> None:
    for file in (built / "site").rglob("*.html"):
        found = page(built, file.relative_to(built / "site").as_posix())
        loads = found.xpath("//script/@src | //link[not(@rel='canonical')]/@href | //img/@src")
        assert not [address for address in loads if "//" in address], file


def test_internal_links_lead_somewhere(built: Path) -> None:
    site = built / "site"
    for file in site.rglob("*.html"):
        if file.name == "404.html":
            continue
        for href in page(built, file.relative_to(site).as_posix()).xpath("//article//a/@href"):
            path, _, anchor = unescape(href).partition("#")
            target = (file.parent / path).resolve() if path else file
            if "//" not in href:
                assert target.is_file(), (file, href)
                assert not anchor or re.search(rf'id="{re.escape(anchor)}"', target.read_text()), (file, href)


@pytest.mark.parametrize("name", ["payloads/acceptance/lookup.html", "L12"])
def test_payload_pages_stay_out_of_the_search_index(built: Path, name: str) -> None:
    index = (built / "site/search/search_index.json").read_text()
    assert name not in index
    assert "findings/F-01.html" in index
