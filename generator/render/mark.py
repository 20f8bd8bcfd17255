"""The marks that numbers, claims and statements leave in a page, as the auditor reads them back."""

from __future__ import annotations

import json
from dataclasses import dataclass
from html import escape
from pathlib import PurePosixPath
from urllib.parse import quote

from markupsafe import Markup

from generator.number.claim import Judgement
from generator.number.number import Bracketed, Derived, Leaf, Made, Number, Prefix, Shown
from generator.render.tally import Tally


def payload_url(path: str) -> str:
    """The page of a payload, from the root of the site."""
    return PurePosixPath(path).with_suffix(".html").as_posix()


def reference_url(name: str) -> str:
    """The page, and the place in it, of a finding, a kill criterion or an erratum."""
    page = {"F": f"findings/{name}.html", "K": f"kill-criteria.html#{name}", "E": f"errata.html#{name}"}
    return page[name[0]]


def plain(number: Number, tally: Tally) -> str:
    """A number as a plain string, for titles, tables of contents and the search index."""
    if isinstance(number, Bracketed):
        return f"{number.value.text} [{number.low.text}, {number.high.text}]"
    return tally.text(number.rule) if isinstance(number, Made) else number.text


@dataclass(frozen=True)
class Marker:
    """Writes marks for one page; links are relative to its address."""

    url: str
    tally: Tally

    def link(self, target: str) -> str:
        """An address from the root of the site, as seen from this page."""
        path, hash_, anchor = target.partition("#")
        return "../" * self.url.count("/") + quote(path) + hash_ + anchor

    def number(self, number: Number) -> Markup:
        """The mark of any number."""
        if isinstance(number, Shown):
            return self.shown(number)
        if isinstance(number, Bracketed):
            return self.bracketed(number)
        return self.made(number.rule) if isinstance(number, Made) else self.derived(number)

    def shown(self, number: Shown) -> Markup:
        """A leaf: one value of a payload with its place and its digest."""
        leaf = number.leaf
        textual = number.form == "text"
        value = leaf.node.text if textual else leaf.node.lexeme
        return Markup(
            f'<data class="num{" text" if textual else ""}" value="{escape(value)}"'
            f' data-src="{escape(leaf.payload.path)}" data-ptr="{escape(leaf.pointer)}"'
            f' data-line="{leaf.node.line}" data-span="{leaf.node.start}-{leaf.node.end}"'
            f' data-sha256="{leaf.payload.sha256}" data-format="{number.form}">'
            f'<a href="{self.line(leaf)}">{escape(number.text)}</a></data>'
        )

    def line(self, leaf: Leaf) -> str:
        """The address of the line that a leaf stands on."""
        return self.link(f"{payload_url(leaf.payload.path)}#L{leaf.node.line}")

    def bracketed(self, number: Bracketed) -> Markup:
        """An estimate and its interval."""
        parts = [self.shown(each) for each in (number.value, number.low, number.high)]
        return Markup('<span class="ci">{} [{}, {}]</span>').format(*parts)

    def derived(self, number: Derived) -> Markup:
        """The exact result of an expression, with the expression."""
        value = number.value
        return Markup(
            f'<data class="num derived" value="{value.numerator}/{value.denominator}"'
            f' data-expression="{_attribute(number.prefix)}" data-format="{number.form}">'
            f'<a href="{self.line(number.leaves[0])}">{escape(number.text)}</a></data>'
        )

    def made(self, rule: str) -> Markup:
        """A number of the generator's own, with its rule."""
        text = self.tally.text(rule)
        mark = Markup('<data class="num computed" data-computed="{}" value="{}">{}</data>')
        return mark.format(rule, text, text)

    def claim(self, prefix: Prefix, extra: str = "") -> Markup:
        """The opening tag around words that are bound to a condition."""
        return Markup(f'<span class="claim{extra}" data-claim="{_attribute(prefix)}">')

    def judged(self, judgement: Judgement, kind: str) -> Markup:
        """The words of a judgement as a badge, bound to its condition where it has one."""
        slug = judgement.words.replace(" ", "-") if kind != "verdict" else ""
        classes = f"badge {kind}" + (f" {kind}-{slug}" if slug else "")
        words = escape(judgement.words)
        if judgement.prefix is None:
            return Markup(f'<span class="{escape(classes)}">{words}</span>')
        return self.claim(judgement.prefix, f" {escape(classes)}") + Markup(f"{words}</span>")

    def reference(self, name: str) -> Markup:
        """The id of a finding, a kill criterion or an erratum as a link to it."""
        return Markup(f'<a class="ref" href="{self.link(reference_url(name))}">{name}</a>')


def _attribute(prefix: Prefix) -> str:
    return escape(json.dumps(prefix, ensure_ascii=False, separators=(",", ":")))
