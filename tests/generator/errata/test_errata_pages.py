"""Built and audited: the original stays, the erratum stands beside it, and the audit re-derives both."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import corrected_record as record
import lxml.etree
import lxml.html
import pytest
import sample_record
from test_errata_checks import PASS, ROWS, ruled

from generator import audit
from generator.render.publish import publish

SECOND = record.erratum(2, date="2024-06-01", before="b", after="c", reason="So was the recount.")
WORDED = record.wording(
    3, date="2024-05-20", statement="margin", finding="F-02", reason="Too sure of itself."
)
TABLE = sample_record.PAGE.replace(
    "title: How to read this\n", f"title: T\npayloads: {{a: {record.LOOKUP}}}\n"
)
TABLE += """
| what | how many |
|---|---|
| tokens | {{ a.results.tokens_per_check | places(1) }} |

## What {{ a.results.tokens_per_check | places(1) }} tokens buy

- first, {% claim a.results.tokens_per_check > a.results.vanilla %}more{% endclaim %}
    - and below
"""

Page = lxml.html.HtmlElement


@pytest.fixture(scope="module")
def corrected(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A chain of two errata and one of words, with a pass over all, as a site."""
    changes = {
        record.FIRST: record.erratum(1) + "\nThe tape was read backwards.\n",
        record.SECOND: SECOND,
        record.THIRD: WORDED,
        PASS: ruled([*ROWS[:2], ("F-02#margin", "corrected", "E-3", "")]),
        "site_src/reading.md": TABLE,
    }
    root = record.write(tmp_path_factory.mktemp("corrected"), changes)
    publish(root, root / "site")
    return root


def page(root: Path, name: str) -> Page:
    return lxml.html.document_fromstring((root / "site" / name).read_bytes())


def words(element: Page) -> str:
    return " ".join(element.text_content().split())


def test_the_sentence_and_its_number_stay_as_they_were(corrected: Path) -> None:
    statement = page(corrected, "findings/F-01.html").get_element_by_id("F-01-tokens")
    assert words(statement) == "A check emits 2.60 [2.41, 2.80] tokens over 84 prompts."
    assert statement.get("class") == "statement corrected"
    values = [mark.get("value") for mark in statement.xpath(".//data")]
    assert values == ["2.5978", "2.4102", "2.8041", "84"]
    assert [words(each) for each in statement.find_class("outdated")] == ["2.60 [2.41, 2.80]"]


def test_each_erratum_stands_below_the_paragraph_of_its_statement_and_is_traced(corrected: Path) -> None:
    finding = page(corrected, "findings/F-01.html")
    paragraph = finding.get_element_by_id("F-01-tokens").getparent()
    notes = []
    while (paragraph := paragraph.getnext()) is not None and paragraph.tag == "aside":
        notes.append(words(paragraph))
    assert notes == [
        "E-1 (value, 2024-05-01): Rounds were counted at the wrong end. 2.60 [2.41, 2.80] should read 0.90 "
        "[0.80, 0.99].",
        "E-2 (value, 2024-06-01): So was the recount. 0.90 [0.80, 0.99] should read 2.70 [2.50, 2.90].",
        "E-1 (value, 2024-05-01): Rounds were counted at the wrong end. 2.60× should read 0.90×. “more than "
        "plain decoding” no longer holds.",
        "E-2 (value, 2024-06-01): So was the recount. 0.90× should read 2.70×. “more than plain decoding” "
        "now holds.",
    ]
    (first, *_) = finding.find_class("erratum-note")
    sources = [mark.get("data-src") for mark in first.xpath(".//data[@data-src]")]
    assert sources == [record.LOOKUP] * 3 + [record.RECOUNT] * 3
    assert first.xpath(".//a[@class='ref']/@href") == ["../errata.html#E-1"]


def test_the_head_of_a_finding_says_that_it_is_corrected_and_which_rules_turned_over(corrected: Path) -> None:
    (header,) = page(corrected, "findings/F-01.html").find_class("finding-header")
    assert [words(each) for each in header.find_class("badge")][-1] == "corrected"
    first, second = (words(each) for each in header.find_class("correction"))
    assert "2.60 should read 0.90. The rule for “holds” no longer holds." in first
    assert "The verdict “faster than plain decoding” becomes “as fast as plain decoding”" in first
    assert "The rule for “holds” now holds" in second


def test_lists_name_the_errata_of_a_finding(corrected: Path) -> None:
    for name in ("index.html", "findings/index.html"):
        entries = [words(each) for each in page(corrected, name).find_class("entry-head")]
        assert any("F-01 holds" in each and each.endswith("corrected by E-1, E-2") for each in entries)
        assert any("F-02 null" in each and each.endswith("corrected by E-3") for each in entries)


def test_every_page_that_cites_the_old_field_carries_the_erratum(corrected: Path) -> None:
    (landing, _) = page(corrected, "index.html").find_class("erratum-note")
    assert "2.60 should read 0.90." in words(landing)
    assert landing.getprevious().tag == "p"
    reading = page(corrected, "reading.html")
    table, _, heading, _, item, _ = reading.find_class("erratum-note")
    assert "2.6 should read 0.9." in words(table)
    assert "table" in (table.getprevious().tag, *(each.tag for each in table.getprevious()))
    assert heading.getprevious().tag == "h2"
    assert heading.getprevious().get("id") == "what-tokens-buy"
    assert item.getparent().tag == "li" and item.getnext().tag in ("aside", "ul")
    assert "“more” no longer holds" in words(item)


def test_a_kill_criterion_says_that_its_outcome_turned_over(corrected: Path) -> None:
    kill = words(page(corrected, "kill-criteria.html").get_element_by_id("K-1"))
    assert "The outcome “did not fire” becomes “fired”." in kill
    assert "The outcome “fired” becomes “did not fire”." in kill


def test_the_page_of_errata_is_sorted_by_date_and_lists_the_effects_of_each(corrected: Path) -> None:
    errata = page(corrected, "errata.html")
    assert [each.get("id") for each in errata.find_class("collected")] == ["E-2", "E-3", "E-1"]
    first = words(errata.get_element_by_id("E-1"))
    assert "E-1 corrects a sentence of F-01 (value, 2024-05-01)" in first
    assert "The tape was read backwards." in first
    for where in ("front page", "F-01", "K-1", "a page"):
        assert where in [
            words(each) for each in errata.get_element_by_id("E-1").xpath(".//li//a[@class='ref']")
        ]
    assert "“more than plain decoding” no longer holds" in first


def test_an_erratum_of_words_stands_beside_its_statement_without_numbers(corrected: Path) -> None:
    finding = page(corrected, "findings/F-02.html")
    statement = finding.get_element_by_id("F-02-margin")
    assert statement.get("class") == "statement corrected"
    note = statement.getnext()
    assert words(note) == "E-3 (wording, 2024-05-20): Too sure of itself."


def test_a_payload_page_tells_the_history_of_its_values(corrected: Path) -> None:
    (history,) = page(corrected, "payloads/acceptance/lookup.html").find_class("history")
    rows = [words(each) for each in history.findall("li")]
    assert "2.5978 should read 0.9012 (E-1, 2024-05-01)" in rows
    assert "0.9012 should read 2.7034 (E-2, 2024-06-01)" in rows
    assert len(rows) == 6


def test_the_pass_counts_how_it_ruled_and_shows_each_statement(corrected: Path) -> None:
    passed = page(corrected, "errata-pass.html")
    (header,) = passed.find_class("index-header")
    assert (
        "on 2024-07-01: 3 in all, of which 0 stand as written, 3 are corrected and 0 are withdrawn"
        in words(header)
    )
    rows = [words(each) for each in passed.find_class("ruling")]
    assert (
        rows[0]
        == "F-01 · a sentence corrected by E-1 A check emits 2.60 [2.41, 2.80] tokens over 84 prompts."
    )
    assert len(rows) == 3


ATOM = "{http://www.w3.org/2005/Atom}"


def test_the_feed_is_valid_atom_with_stable_ids_and_no_address_elsewhere(
    corrected: Path, tmp_path: Path
) -> None:
    feed = lxml.etree.fromstring((corrected / "site/errata.xml").read_bytes())
    assert feed.tag == f"{ATOM}feed"
    for element in (feed, *feed.findall(f"{ATOM}entry")):
        for name in ("id", "title", "updated"):
            assert len(element.findall(f"{ATOM}{name}")) == 1, name
        assert element.findtext(f"{ATOM}id").startswith("urn:uuid:")
    assert feed.find(f"{ATOM}author/{ATOM}name").text == "Sample"
    assert {each.get("rel") for each in feed.findall(f"{ATOM}link")} == {"self", "alternate"}
    assert not [each for each in feed.iter(f"{ATOM}link") if "//" in each.get("href")]
    entries = feed.findall(f"{ATOM}entry")
    dates = [each.findtext(f"{ATOM}updated") for each in entries]
    assert dates == ["2024-06-01T00:00:00Z", "2024-05-20T00:00:00Z", "2024-05-01T00:00:00Z"]
    assert feed.findtext(f"{ATOM}updated") == dates[0]
    assert entries[2].findtext(f"{ATOM}summary") == (
        "Rounds were counted at the wrong end. 2.60 [2.41, 2.80] should read 0.90 [0.80, 0.99]."
    )
    ids = [each.findtext(f"{ATOM}id") for each in entries]
    assert len(set(ids)) == 3
    alone = record.write(tmp_path, {record.FIRST: record.erratum(1)})
    publish(alone, alone / "site")
    earlier = lxml.etree.fromstring((alone / "site/errata.xml").read_bytes())
    assert earlier.findtext(f"{ATOM}entry/{ATOM}id") == ids[2]
    assert earlier.findtext(f"{ATOM}id") == feed.findtext(f"{ATOM}id")


def test_a_record_without_errata_has_a_feed_without_entries(built: Path) -> None:
    feed = lxml.etree.fromstring((built / "site/errata.xml").read_bytes())
    assert feed.findtext(f"{ATOM}id") and not feed.findall(f"{ATOM}entry")


FORGED = {
    "a number of the feed": ("errata.xml", "0.90 [", "0.91 [", "untraced-number"),
    "a number of the feed, spelled otherwise": ("errata.xml", "0.90 [", "&#57;.90 [", "untraced-number"),
    "a number in the title of an entry": ("errata.xml", "corrects a", "corrects 7", "untraced-number"),
    "a corrected value": ("findings/F-01.html", ">0.90</a>", ">0.91</a>", "display-mismatch"),
    "a claim that turned over": (
        "errata.html",
        "[&quot;not&quot;,[&quot;&gt;",
        "[&quot;and&quot;,[&quot;&gt;",
        "claim-false",
    ),
    "a count of the pass": (
        "errata-pass.html",
        'data-computed="rulings-count:corrected" value="3">3<',
        'data-computed="rulings-count:corrected" value="2">2<',
        "display-mismatch",
    ),
    "a kind of ruling that is none": (
        "errata-pass.html",
        'data-computed="rulings-count:corrected"',
        'data-computed="rulings-count:upheld"',
        "untraced-number",
    ),
    "the day of the pass": (
        "errata-pass.html",
        'data-computed="pass-date" value="2024-07-01">2024-07-01<',
        'data-computed="pass-date" value="2024-07-02">2024-07-02<',
        "display-mismatch",
    ),
}


@pytest.mark.parametrize("name", FORGED)
def test_the_audit_re_derives_what_a_page_of_errata_shows(corrected: Path, name: str) -> None:
    path, old, new, code = FORGED[name]
    file = corrected / "site" / path
    text = file.read_bytes()
    assert old.encode() in text
    try:
        file.write_bytes(text.replace(old.encode(), new.encode(), 1))
        refusals = audit.verify(corrected, corrected / "site").refusals
    finally:
        file.write_bytes(text)
    assert code in [each.code for each in refusals if each.path.endswith(path)]


def test_numbers_on_pages_of_findings_are_counted_with_their_corrections(corrected: Path) -> None:
    (shown,) = page(corrected, "index.html").xpath("//data[@data-computed='numbers-count']/@value")
    marks = "//article//data[@class='num' or @class='num derived']"
    names = [f"findings/F-0{number}.html" for number in (1, 2)]
    assert int(shown) == sum(len(page(corrected, name).xpath(marks)) for name in names)


def test_the_payload_that_is_corrected_keeps_its_bytes(corrected: Path) -> None:
    copy = (corrected / "site" / record.LOOKUP).read_bytes()
    assert hashlib.sha256(copy).hexdigest() == hashlib.sha256(sample_record.PAYLOAD.encode()).hexdigest()
    assert json.loads(copy)["results"]["tokens_per_check"]["value"] == 2.5978
