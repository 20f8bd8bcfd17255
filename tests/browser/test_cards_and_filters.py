"""A number opens its card by mouse, touch and keyboard; lists are filtered; search works from a file."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

FINDING = "findings/F-01.html"
NUMBER = ".statement .num[data-src] >> nth=0"
CARD = ".card"


def said(page) -> str:
    page.wait_for_selector(".card dl > :nth-child(5)", state="attached")
    return page.locator(CARD).inner_text()


def test_the_mouse_opens_a_card_that_says_where_a_number_comes_from(watched, small: Path) -> None:
    page = watched.open((small / FINDING).as_uri())
    page.hover(NUMBER)
    text = said(page)
    for each in (
        "2.5978",
        "tokens per check",
        "[2.4102, 2.8041]",
        "lookup.json:",
        "/results/tokens_per_check/value",
    ):
        assert each in text, text
    assert "engine run acceptance" in text and "SHA-256" in text
    assert page.locator(".card a").first.get_attribute("href").split("#")[1].startswith("L")
    page.locator(CARD).get_by_role("button", name="Verify").click()
    page.get_by_text("Re-computed here, and equal.").wait_for()
    page.keyboard.press("Escape")
    assert page.locator(CARD).count() == 0


def test_a_derived_number_shows_its_formula(watched, small: Path) -> None:
    page = watched.open((small / FINDING).as_uri())
    page.hover(".num[data-expression] >> nth=0")
    text = said(page)
    assert "tokens_per_check ÷ vanilla" in text
    assert "tokens_per_check = 2.5978 tokens per check" in text
    assert "engine run acceptance" in text and text.count("SHA-256") == 1
    assert page.locator(".card li").get_by_role("button", name="Copy").count() == 2


def test_fields_of_one_name_are_told_apart_by_their_payloads(watched, tampered: Path) -> None:
    file = tampered / FINDING
    text = file.read_text("utf-8")
    at = text.index("data-expression")
    changed = re.sub(
        r"(?<=payloads/acceptance/)lookup(.json&quot;,&quot;/results/)vanilla",
        r"other\1tokens_per_check",
        text[at:],
        count=1,
    )
    assert changed != text[at:]
    file.write_text(text[:at] + changed, "utf-8")
    page = watched.open(file.as_uri())
    page.hover(".num[data-expression] >> nth=0")
    assert "lookup.tokens_per_check ÷ other.tokens_per_check" in said(page)


class TestTouch:
    @pytest.fixture
    def options(self) -> dict[str, object]:
        return {"has_touch": True, "viewport": {"width": 390, "height": 800}}

    def test_a_tap_opens_a_card_and_does_not_leave_the_page(self, watched, small: Path) -> None:
        page = watched.open((small / FINDING).as_uri())
        address = page.url
        page.tap(NUMBER)
        assert "2.5978" in said(page) and page.url == address
        box = page.locator(CARD).bounding_box()
        assert box["x"] >= 0 and box["x"] + box["width"] <= 390
        page.tap(".eyebrow")
        assert page.locator(CARD).count() == 0


def test_numbers_are_no_tab_stops_until_a_switch_says_so(watched, small: Path) -> None:
    page = watched.open((small / FINDING).as_uri())
    link = page.locator(".statement .num[data-src] a").first
    assert link.get_attribute("tabindex") == "-1"
    switch = page.get_by_role("switch", name="Numbers as tab stops")
    switch.focus()
    page.keyboard.press("Enter")
    assert switch.get_attribute("aria-checked") == "true" and link.get_attribute("tabindex") is None
    page.keyboard.press("Tab")
    assert "2.5978" in said(page) or page.locator(CARD).count() == 1
    page.keyboard.press("Tab")
    assert page.evaluate("Boolean(document.activeElement.closest('.card'))")
    page.keyboard.press("Escape")
    assert page.locator(CARD).count() == 0
    page.reload()
    page.wait_for_selector("html[data-findings=ready]", state="attached")
    assert page.get_by_role("switch").get_attribute("aria-checked") == "true"


def test_every_number_has_an_address_of_its_own(watched, small: Path) -> None:
    page = watched.open((small / FINDING).as_uri())
    names = page.eval_on_selector_all(
        ".num[data-src], .num[data-expression]", "all => all.map(each => each.id)"
    )
    assert names and all(name.startswith("n-") for name in names) and len(set(names)) == len(names)
    page.goto(f"{(small / FINDING).as_uri()}#n-lookup.tokens_per_check.low")
    assert page.locator(".num:target").inner_text() == "2.41"


def test_findings_are_filtered_and_the_address_keeps_it(watched, site: Path) -> None:
    page = watched.open((site / "findings/index.html").as_uri())
    entries = page.locator(".listing .entry:visible")
    total = entries.count()
    page.get_by_label("Text").fill("F-05")
    assert entries.count() < total and "text=F-05" in page.url
    watched.open(page.url)
    assert page.locator(".listing .entry:visible").count() < total
    page.get_by_label("Text").fill("no such words anywhere")
    assert page.locator(".listing .entry:visible").count() == 0
    page.get_by_label("Text").fill("")
    page.get_by_label("Sort by").select_option("title")
    titles = page.locator(".listing .entry .entry-title").all_inner_texts()
    assert titles == sorted(titles, key=str.casefold)


@pytest.mark.parametrize(("facet", "choice"), [("Stream", "S1, tapped units"), ("Scheme", "prompt lookup")])
def test_findings_are_filtered_by_stream_and_scheme(watched, site: Path, facet: str, choice: str) -> None:
    page = watched.open((site / "findings/index.html").as_uri())
    entries = page.locator(".listing .entry:visible")
    total = entries.count()
    page.get_by_label(facet).select_option(choice)
    chosen = entries.count()
    assert 0 < chosen < total and f"{facet.lower()}=" in page.url
    watched.open(page.url)
    assert page.locator(".listing .entry:visible").count() == chosen


@pytest.mark.parametrize(
    ("words", "wanted"),
    [("F-05", "F-05"), ("intervals do not meet", "F-02"), ("replay", "F-08"), ("erratum", "glossary")],
)
def test_search_finds_ids_claims_and_terms_from_a_file(watched, site: Path, words: str, wanted: str) -> None:
    page = watched.open((site / "index.html").as_uri())
    page.locator(".md-search__input").click()
    page.keyboard.type(words, delay=100)
    page.wait_for_selector(f".md-search-result__link[href*='{wanted}']", state="attached")
    assert watched.complaints == [] and watched.elsewhere == []


def test_no_digest_is_in_the_search_index(site: Path) -> None:
    assert not re.search(r"[0-9a-f]{40}", (site / "search/search_index.json").read_text("utf-8"))
