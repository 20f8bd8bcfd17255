"""Marks pass Markdown as single characters, and are refused where they would print as markup."""

from __future__ import annotations

import markdown
import pytest

from generator.number.number import Made
from generator.number.piece import ClaimStart, End, Piece, Printed, Prose, StatementStart
from generator.render.mark import Marker
from generator.render.sheet import Sheet
from generator.render.tally import Tally
from generator.report.refusal import Refused

MADE = '<data class="num computed" data-computed="findings-count" value="7">7</data>'
NUMBER = Printed(Made("findings-count"), 3, 4)
LINKED = '<data class="num"><a href="x">7</a></data>'


def sheet(url: str = "findings/F-01.html") -> Sheet:
    marker = Marker(url, Tally({"findings-count": "7"}))
    return Sheet("findings/F-01.md", marker, "F-01", lambda _: "", ("plane F-16",))


def render(*pieces: Piece | str) -> str:
    page = sheet()
    written = page.write(Prose(piece) if isinstance(piece, str) else piece for piece in pieces)
    return page.finish(markdown.markdown(written, extensions=["tables", "fenced_code", "toc"]))


def test_a_mark_stands_where_it_was_written() -> None:
    assert render("a ", NUMBER, " b") == f"<p>a {MADE} b</p>"
    assert render("**", NUMBER, "**") == f"<p><strong>{MADE}</strong></p>"
    assert render("- ", NUMBER) == f"<ul>\n<li>{MADE}</li>\n</ul>"


def test_a_mark_makes_no_list_and_no_heading_id() -> None:
    assert render(NUMBER, ". So") == f"<p>{MADE}. So</p>"
    assert render("# So ", NUMBER) == f'<h1 id="so">So {MADE}</h1>'


@pytest.mark.parametrize("before", ["`", "```\n", "[x](", '![x](y "', "    "])
def test_a_number_in_code_or_in_an_attribute_is_refused_at_its_place(before: str) -> None:
    after = {"`": "`", "```\n": "\n```", "[x](": ")", '![x](y "': '")', "    ": ""}[before]
    with pytest.raises(Refused) as caught:
        render(before, NUMBER, after)
    (refusal,) = caught.value.refusals
    assert (refusal.code, refusal.path, refusal.line, refusal.column) == (
        "number-in-code",
        "findings/F-01.md",
        3,
        4,
    )


def test_a_number_that_is_a_link_is_refused_inside_another() -> None:
    page = sheet()
    html = markdown.markdown(f"[see {page.mark(LINKED, '7', 5, 6)}](x.html)")
    with pytest.raises(Refused) as caught:
        page.finish(html)
    (refusal,) = caught.value.refusals
    assert (refusal.code, refusal.line, refusal.column) == ("number-in-code", 5, 6)


REFERENCES = {
    "See F-02.": '<p>See <a class="ref" href="../findings/F-02.html">F-02</a>.</p>',
    "See K-1 and E-2": '<p>See <a class="ref" href="../kill-criteria.html#K-1">K-1</a> and '
    '<a class="ref" href="../errata.html#E-2">E-2</a></p>',
    "`F-02`": "<p><code>F-02</code></p>",
    "[F-02](x.html)": '<p><a href="x.html">F-02</a></p>',
    "sdsc:sideband/F-22": "<p>sdsc:sideband/F-22</p>",
    "PDF-12, F-16": "<p>PDF-12, F-16</p>",
}


@pytest.mark.parametrize("source", REFERENCES)
def test_ids_become_links_outside_links_and_code(source: str) -> None:
    assert render(source) == REFERENCES[source]


def test_claims_and_statements_become_elements() -> None:
    claim, statement = ClaimStart(["<", "0", "1"]), StatementStart("x")
    assert render(statement, "a ", claim, "b", End(claim), End(statement)) == (
        '<p><span class="statement" id="F-01-x" data-statement="x">a '
        '<span class="claim" data-claim="[&quot;&lt;&quot;,&quot;0&quot;,&quot;1&quot;]">b</span></span></p>'
    )


def test_a_block_statement_encloses_its_paragraphs() -> None:
    statement = StatementStart("x", block=True)
    assert render(statement, "\na\n\nb\n", End(statement)) == (
        '<div class="statement" id="F-01-x" data-statement="x">\n<p>a</p>\n<p>b</p>\n</div>'
    )


def test_plain_titles_have_the_text_of_their_marks() -> None:
    page = sheet()
    assert page.plain(page.write([Prose("So "), NUMBER])) == "So 7"
