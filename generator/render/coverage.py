"""The page of coverage: what the audit proved, page by page, and every exemption that was used.

It is laid out with an empty place, which is filled once all other pages are finished. Marks are counted here
as they stand in the finished files, exemptions as the audit met them; the audit then re-derives both, so a
mark that was written and never proved stops the build.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

from markupsafe import Markup

from generator.audit import Audit, Coverage
from generator.audit.coverage import PROVED
from generator.render.environment import part
from generator.render.mark import Marker
from generator.render.page import Page
from generator.render.tally import Tally
from generator.report.refusal import Refusal, Report

URL = "coverage.html"
PLACE = '<div id="coverage-of-this-site"></div>'
"""Where the tables go, once every other page is finished."""

KINDS = {
    "numbers": "numbers, each traced to its line",
    "derived": "derived numbers, each with its expression",
    "claims": "claims, each bound to a comparison",
    "computed": "numbers computed from the sources, those of this page among them",
    "name": "names of the list of terms",
    "id": "ids of findings, kill criteria and errata",
    "quoted text": "texts quoted from payloads",
    "verbatim lines": "lines of files shown as they are",
    "line numbers": "line numbers beside them",
    "illustration": "digits in illustrations",
    "footnote": "marks of footnotes",
    "theme": "numerals of the theme, by place",
}
"""What is counted, as a reader is told."""

_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_MARK = re.compile(r"<data\s[^>]*?\bclass=[\"']?num(?:\s(text|derived|computed))?[\"'\s>]")
_CLAIM = re.compile(r"<span\s[^>]*?\bdata-claim=")
_NAMES = {"": "numbers", "derived": "derived", "computed": "computed"}


def page() -> Page:
    """The page with its place still empty."""
    html = part("coverage_header.html.j2", place=Markup(PLACE))
    source = URL.removesuffix(".html") + ".md"
    return Page(source, "Coverage", "", lambda _: html, lambda text: text, searchable=False, listed=True)


def complete(audited: Audit, site: Path) -> Report:
    """Fill the page of a site that the audit passed, and have it audited too; the report on all pages."""
    file = site / URL
    html = file.read_text("utf-8") if file.is_file() else ""
    if html.count(PLACE) != 1:
        message = "The place for the tables is gone from the page. Take out the plugin that rewrites it."
        return Report([Refusal(f"{audited.folder.prefix}{URL}", 1, 1, "bad-page", "", message)])
    file.write_text(html.replace(PLACE, _tables(_written(audited.coverage(), site))), "utf-8", newline="")
    return audited.again([URL])


def _written(coverage: Coverage, site: Path) -> Coverage:
    """The marks that stand in the finished files, with those that this page is going to hold."""
    marks = {path: _marks((site / path).read_text("utf-8")) for path in coverage.marks}
    beside = marks[URL]["computed"]
    marks[URL]["computed"] = 1  # any number but none: that there is one decides how many rules there are
    marks[URL]["computed"] = beside + len(Coverage(marks, coverage.exempt).values())
    return Coverage(marks, coverage.exempt)


def _marks(html: str) -> Counter[str]:
    """How many marks of each kind a page holds, outside comments."""
    shown = _COMMENT.sub("", html) if "<!--" in html else html
    found = Counter(_NAMES[kind] for kind in _MARK.findall(shown) if kind in _NAMES)
    found["claims"] = len(_CLAIM.findall(shown)) if "data-claim" in shown else 0
    return found


def _tables(coverage: Coverage) -> str:
    """The totals, the counts of each file, and the exemptions, each printed by its rule."""
    values = coverage.values()
    counts, used = coverage.counts(), sorted(coverage.used())
    marker = Marker(URL, Tally(values))
    return part(
        "coverage.html.j2",
        mark=marker.made,
        link=marker.link,
        large=coverage.large,
        kinds={kind: words for kind, words in KINDS.items() if f"coverage:{kind}" in values},
        proved=[kind for kind in KINDS if kind in PROVED and counts[kind]],
        exempt=[kind for kind in KINDS if kind not in PROVED and counts[kind]],
        files={path: coverage.counts(path) for path in coverage.files()},
        used=[(kind, what) for kind in KINDS for found, what in used if found == kind],
    )
