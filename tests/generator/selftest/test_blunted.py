"""A gate with one check taken out makes the selftest fail, and name what slipped through."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
import sample_record

from generator.audit import drawing, mark, note, other, page, predicate, stylesheet, surface
from generator.audit.beside import Beside
from generator.audit.comparison import Comparison
from generator.audit.evidence import Evidence
from generator.audit.linking import Linking
from generator.audit.reading import Context
from generator.audit.texts import Texts
from generator.gate import display
from generator.gate import source as gate
from generator.gate.numerals import Judgement, words
from generator.number import exact, expression
from generator.number.syntax import Literal
from generator.record import checksums
from generator.selftest import pages, sources
from generator.selftest.cases import Form
from generator.selftest.run import GROUPS, plant
from generator.selftest.share import Share
from generator.selftest.workplace import Workplace, prepare

FORMS = [
    Form("1", "Accuracy is 95%.", "untraced-number"),
    Form("31", "three of the runs", "untraced-word"),
]
"""A number and a number word; the whole table is planted by the command itself."""

DRAWN = """---
id: F-03
title: Drawn
record: acceptance
status: open
regime: "{{ a.regime.target }}"
payloads:
  a: payloads/acceptance/lookup.json
---
{% figure "forest" %}
| draft | tokens |
|---|---|
| lookup | {{ a.results.tokens_per_check | ci(2) }} |
{% endfigure %}
"""

ERRATUM = """---
id: E-1
finding: F-01
statement: gain
date: 2024-05-01
kind: wording
reason: "Read: its rate of tokens."
payloads: {}
---
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the sample record, with a figure, and its site."""
    root = sample_record.write(
        tmp_path_factory.mktemp("record"), {"findings/F-03.md": DRAWN, "findings/errata/E-1.md": ERRATUM}
    )
    folder = tmp_path_factory.mktemp("copy")
    prepare(root, folder)
    return folder


@pytest.fixture(autouse=True)
def few_forms(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (sources, pages):
        monkeypatch.setattr(module, "forms", lambda side, names, ids: FORMS)


def _nothing(*_: Any, **__: Any) -> Iterator[Any]:
    return iter(())


def _leaf_unproved(attributes: Any, text: str, evidence: Evidence) -> mark.Proof:
    """The place is proved, the value is not."""
    mark._place(attributes, evidence)
    return mark.Proof("number", mark._lands(attributes), pointer=attributes["data-ptr"])


def _place_unproved(attributes: Any, evidence: Evidence) -> Any:
    """The value under the pointer, wherever the mark says it stands."""
    return evidence.value(attributes["data-src"], attributes["data-ptr"], attributes["data-sha256"])


def _literal_allowed(self: Any, token: Any) -> Literal:
    return Literal(Fraction(int(token.text)), token.offset)


OPEN = page.Reader._open
JUDGE = exact.judge
HOLDS = predicate.Trace.holds


def _live_unread(self: page.Reader, name: str, written: str, token: Any) -> None:
    """What a script will fill is left to the script."""
    OPEN(self, name, written, token)
    if "data-live" in written:
        self._skip = self.html.index("</div>", token.end())


def _true_source(*arguments: Any) -> Any:
    return replace(JUDGE(*arguments), holds=True)


def _true_page(self: Any, node: Any, depth: int = 0) -> bool:
    HOLDS(self, node, depth)
    return True


def _literal_on_page(self: Any, text: str) -> predicate.Operand:
    return predicate.Operand(Fraction(text), None)


BLUNTED: dict[str, tuple[str, object, str, Callable[..., Any], set[str]]] = {
    "values are not compared": (
        "digits",
        mark,
        "_leaf",
        _leaf_unproved,
        {"a digit of a number that is shown"},
    ),
    "digests are not compared": (
        "places",
        Evidence,
        "hashed",
        lambda self, path, sha256: self.read(path),
        {"a digest", "a digest in an expression", "the digest of a block"},
    ),
    "places are not compared": (
        "places",
        mark,
        "_place",
        _place_unproved,
        {"a span"},
    ),  # a line is tied to its link as well
    "pointers are not resolved to their place": (
        "pointers",
        mark,
        "_place",
        _place_unproved,
        {"a pointer to an equal neighbour"},
    ),
    "links are not followed": ("places", Linking, "follow", lambda *_: None, {"the line of a link"}),
    "blocks are taken as they are": (
        "places",
        page.Reader,
        "_verbatim",
        lambda self, given, token: setattr(self, "_skip", self.html.index("</pre>", token.end())),
        {"the lines of a block", "the digest of a block"},
    ),
    "copies are not compared": (
        "places",
        Beside,
        "_copy",
        lambda self, file: None,
        {"a changed copy of a payload", "a changed copy of the checksums"},
    ),
    "carried payloads are not compared": (
        "places",
        Beside,
        "_carried",
        lambda self, file: None,
        {"a script that carries a payload, a changed byte"},
    ),
    "known files are not compared": (
        "places",
        Beside,
        "_known",
        lambda self, file: None,
        {"a digest that a script knows"},
    ),
    "figures are not drawn again": (
        "places",
        drawing,
        "judge",
        _nothing,
        {"a figure, a moved path", "a figure, a path taken away"},
    ),
    "checksums are not compared": ("places", checksums, "check", _nothing, {"a checksum"}),
    "no text of a page is judged": (
        "typed",
        Context,
        "judge",
        lambda self, text: Judgement(),
        {"a number typed by hand"},
    ),
    "attributes are not read": (
        "pages",
        surface,
        "spoken",
        lambda name, given: [],
        {"a page, alt", "a page, title attribute", "a page, aria-label", "a page, description"},
    ),
    "what a script fills is not read": (
        "pages",
        page.Reader,
        "_open",
        _live_unread,
        {"a page, element that a script fills"},
    ),
    "programs are known by their names": (
        "places",
        other,
        "is_known",
        lambda *_: True,
        {"a changed program of the site", "a program that nobody knows"},
    ),
    "further texts are not read": (
        "pages",
        Beside,
        "_other",
        lambda *_: None,
        {"a file: table of values", "a file: data", "a file: text without a suffix"},
    ),
    "stylesheets are not read": (
        "pages",
        stylesheet,
        "printed",
        _nothing,
        {"a page, style", "a file: stylesheet"},
    ),
    "linked data is not read": (
        "pages",
        Texts,
        "linked_data",
        lambda *_: None,
        {"a page, linked data"},
    ),
    "the search index is not read": (
        "pages",
        Beside,
        "_search",
        lambda self, file: None,
        {"a file: title in the search index", "a file: text in the search index"},
    ),
    "other files are not read": (
        "pages",
        Beside,
        "read",
        lambda self: None,
        {"a file: sitemap", "a file: feed", "a file: drawing in a file", "a file: plain text"},
    ),
    "titles need no passage that they repeat": (
        "pages",
        Comparison,
        "compare",
        lambda *_: None,
        {"a page, title", "a page, navigation", "a page, table of contents"},
    ),
    "number words pass on pages": ("pages", words, "spans", _nothing, {"a page, body", "a file: feed"}),
    "number words pass in sources": (
        "sources",
        words,
        "spans",
        _nothing,
        {"a source: finding, body", "a source: mkdocs.yml, nav"},
    ),
    "front matter is not judged": (
        "sources",
        gate,
        "_front_matter",
        lambda *_: None,
        {"a source: finding, title", "a source: page, description", "a source: label of a verdict"},
    ),
    "the configuration is not judged": (
        "sources",
        display,
        "configuration",
        _nothing,
        {"a source: mkdocs.yml, site_name", "a source: mkdocs.yml, nav"},
    ),
    "reasons of names are not judged": (
        "sources",
        display,
        "reasons",
        _nothing,
        {"a source: terms.toml, reason"},
    ),
    "literals pass in sources": (
        "literals",
        expression._Parser,
        "literal",
        _literal_allowed,
        {"a source: literal in an expression"},
    ),
    "literals pass on pages": (
        "literals",
        predicate.Trace,
        "_literal",
        _literal_on_page,
        {"a page: literal in an expression", "a page: literal in place of a field"},
    ),
    "claims are true in sources": (
        "claims",
        exact,
        "judge",
        _true_source,
        {"a source: claim made false"},
    ),
    "claims are true on pages": (
        "claims",
        predicate.Trace,
        "holds",
        _true_page,
        {"a page: claim made false"},
    ),
    "notes of errata are not missed": (
        "notes",
        note,
        "judge",
        _nothing,
        {"a page: note of an erratum missing"},
    ),
}


@pytest.mark.parametrize("group", GROUPS)
def test_a_sharp_gate_catches_all(group: str, folder: Path) -> None:
    tally = plant(Workplace(folder), group, Share())
    assert tally.misses == []
    assert tally.planted == tally.caught
    assert tally.planted.total() > 0


@pytest.mark.parametrize(("group", "owner", "name", "blunt", "kinds"), BLUNTED.values(), ids=BLUNTED.keys())
def test_a_blunted_gate_is_found_out(
    group: str,
    owner: object,
    name: str,
    blunt: Callable[..., Any],
    kinds: set[str],
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    workplace = Workplace(folder)
    monkeypatch.setattr(owner, name, blunt)
    tally = plant(workplace, group, Share())
    assert {kind for kind in tally.planted if tally.caught[kind] < tally.planted[kind]} >= kinds
    assert len(tally.misses) == tally.planted.total() - tally.caught.total()
    assert all(re.match(r"[^:]+:[0-9]+: missed: ", miss) for miss in tally.misses)
    assert not tally.holds(0)
