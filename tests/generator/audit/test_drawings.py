"""What a page draws, and what it says of errata and outcomes, is proved; faults are planted."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import drawn_record
import pytest
import sample_record

from generator import audit
from generator.render.publish import publish


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, audit.Audit]:
    root = sample_record.write(tmp_path_factory.mktemp("drawn"), drawn_record.files())
    publish(root, root / "site")
    judged = audit.Audit(root, root / "site")
    assert not judged.run().refusals
    return root / "site", judged


def _codes(site: tuple[Path, audit.Audit], page: str, text: str) -> set[str]:
    """The codes with which a changed page is refused; the page is put back."""
    folder, judged = site
    file = folder / page
    before = file.read_text("utf-8")
    assert text != before, "the fault changes nothing"
    file.write_text(text, "utf-8")
    try:
        return {each.code for each in judged.again([page]).refusals}
    finally:
        file.write_text(before, "utf-8")


def _text(site: tuple[Path, audit.Audit], page: str) -> str:
    return (site[0] / page).read_text("utf-8")


def _paths(html: str) -> Iterator[re.Match[str]]:
    return re.finditer(r'<path class="([^"]+)" d="([^"]+)"/>', html)


def test_every_kind_is_drawn(site: tuple[Path, audit.Audit]) -> None:
    html = _text(site, "figures.html")
    assert re.findall(r'data-figure="(\w+)"', html) == ["forest", "histogram", "curve", "curve", "frontier"]
    kinds = {each[1].split()[0] for each in _paths(html)}
    assert kinds == {"bar", "interval", "value", "length", "band", "line"}


def test_extremes_of_a_scale_stand_at_its_edges(site: tuple[Path, audit.Audit]) -> None:
    forest = _text(site, "figures.html").partition("</figure>")[0]
    assert 'class="bar" d="M40.0 0V100"' in forest  # plain, the lowest
    assert 'class="interval" d="M625.5 50H960.0"' in forest  # 1.35 to 1.55, the highest


def test_each_moved_path_is_refused(site: tuple[Path, audit.Audit]) -> None:
    html = _text(site, "figures.html")
    for path in list(_paths(html)):
        moved = re.sub(r"[0-9]+\.[0-9]", "123.4", path[2], count=1)
        moved = moved if moved != path[2] else path[2].replace("0", "9", 1)
        text = html[: path.start(2)] + moved + html[path.end(2) :]
        assert _codes(site, "figures.html", text) == {"place-mismatch"}, path[0]


FAULTS = [
    ("a path that is taken away", r'<path class="value"[^>]*>', ""),
    (
        "a path that is added",
        '</svg><span class="ci">',
        '<path class="value" d="M9 50h0"/></svg><span class="ci">',
    ),
    (
        "a drawing that is moved as a whole",
        'class="drawing" viewBox',
        'class="drawing" style="left:1em" viewBox',
    ),
    ("a path that is shifted", '<path class="value"', '<path transform="translate(9)" class="value"'),
    ("another frame", 'viewBox="0 0 1000 100"', 'viewBox="100 0 1000 100"'),
    ("a circle", '</svg><span class="ci">', '<circle cx="5" cy="5" r="9"/></svg><span class="ci">'),
    ("a text in a drawing", "</svg><p", "<text>more</text></svg><p"),
    ("a label that is moved", r'(tick-y" style="--at:)[0-9.]+', r"\g<1>500.0"),
    ("a name that is moved", r'(<p class="point" style="--at:)[0-9.]+', r"\g<1>500.0"),
    ("two names that are exchanged", ">cheap</p>", ">dear</p>"),
    ("a legend that names another line", "</svg>otherwise</li>", "</svg>elsewhere</li>"),
    ("a drawing of another kind", 'data-figure="histogram"', 'data-figure="forest"'),
    ("a kind that is unknown", 'data-figure="histogram"', 'data-figure="pie"'),
    ("a drawing outside a figure", r'<figure class="figure" data-figure="forest">', "<div>"),
]


def test_a_class_that_is_written_otherwise_than_it_is_read_is_refused(
    site: tuple[Path, audit.Audit],
) -> None:
    html = _text(site, "figures.html").replace(' data-figure="forest"', "", 1)
    html = re.sub(r'(class="value" d="M)[0-9.]+', r"\g<1>123.4", html, count=1)
    assert "bad-page" in _codes(site, "figures.html", html.replace('class="drawing"', 'class="draw&#105;ng"'))
    words = '<p title="a">class="a&amp;b" is markup</p></article>'
    assert not _codes(site, "figures.html", _text(site, "figures.html").replace("</article>", words))


@pytest.mark.parametrize(("old", "new"), [each[1:] for each in FAULTS], ids=[each[0] for each in FAULTS])
def test_a_planted_fault_is_refused(site: tuple[Path, audit.Audit], old: str, new: str) -> None:
    text, count = re.subn(old if "[" in old else re.escape(old), new, _text(site, "figures.html"), count=1)
    assert count == 1
    assert "place-mismatch" in _codes(site, "figures.html", text)


def test_the_bar_of_a_criterion_is_drawn_and_judged(site: tuple[Path, audit.Audit]) -> None:
    html = _text(site, "kill-criteria.html")
    assert 'data-figure="forest"' in html and 'class="bar" d="M40.0 0V100"' in html
    text = html.replace('class="bar" d="M40.0', 'class="bar" d="M900.0', 1)
    assert _codes(site, "kill-criteria.html", text) == {"place-mismatch"}


def test_outcomes_are_counted_from_the_rules(site: tuple[Path, audit.Audit]) -> None:
    html = _text(site, "kill-criteria.html")
    assert re.search(r'data-computed="kills-count:did-not-fire" value="2"', html)
    text = html.replace('kills-count:fired" value="0">0<', 'kills-count:fired" value="1">1<')
    assert _codes(site, "kill-criteria.html", text) == {"display-mismatch"}


def test_an_outcome_that_its_rule_does_not_give_is_refused(site: tuple[Path, audit.Audit]) -> None:
    html = _text(site, "kill-criteria.html")
    text = html.replace("outcome-did-not-fire", "outcome-untested").replace(">did not fire<", ">untested<")
    assert "verdict-mismatch" in _codes(site, "kill-criteria.html", text)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('badge outcome outcome-did-not-fire"', 'outcome badge outcome-fired"'),
        ('badge outcome outcome-did-not-fire"', 'outcome-fired"'),
        ("</article>", '<p><span class="badge outcome outcome-fired">fired</span></p></article>'),
    ],
)
def test_an_outcome_in_another_form_than_that_of_a_badge_is_refused(
    site: tuple[Path, audit.Audit], old: str, new: str
) -> None:
    html = _text(site, "kill-criteria.html")
    assert old in html
    text = html.replace(old, new)
    assert "verdict-mismatch" in _codes(site, "kill-criteria.html", text)


def _note(html: str) -> str:
    found = re.search(r'<aside class="erratum-note".*?</aside>', html, re.DOTALL)
    assert found
    return found[0]


NOTES = {
    "it is left out": lambda html: html.replace(_note(html), ""),
    "it stands a paragraph later": lambda html: html.replace(_note(html), f"<p>Words.</p>{_note(html)}"),
    "it stands at the end": lambda html: html.replace(_note(html), "").replace(
        "</article>", f"{_note(html)}</article>"
    ),
    "it names another erratum": lambda html: html.replace(
        _note(html), _note(html).replace(">E-1<", ">F-01<")
    ),
    "it gives another reason": lambda html: html.replace(
        _note(html), _note(html).replace("its rate", "the rate")
    ),
    "its statement is unnamed": lambda html: html.replace(' data-statement="gain"', ""),
    "it is no note": lambda html: html.replace('class="erratum-note"', 'class="remark"'),
}


@pytest.mark.parametrize("fault", NOTES, ids=list(NOTES))
def test_a_note_that_is_not_beside_its_statement_is_refused(
    site: tuple[Path, audit.Audit], fault: str
) -> None:
    text = NOTES[fault](_text(site, "findings/F-01.html"))
    assert "bad-erratum" in _codes(site, "findings/F-01.html", text)
