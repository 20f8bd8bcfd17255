"""The marks that numbers, claims and statements leave in a page, as the auditor reads them back."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from html import escape
from pathlib import PurePosixPath
from urllib.parse import quote

from markupsafe import Markup

from generator.number.claim import Judgement
from generator.number.number import Bracketed, Derived, Leaf, Made, Number, Prefix, Shown
from generator.number.piece import ClaimStart, End, Piece, Printed, Prose
from generator.render.tally import Tally


@cache
def payload_url(path: str) -> str:
    """The page of a payload, from the root of the site."""
    return PurePosixPath(path).with_suffix(".html").as_posix()


def reference_url(name: str) -> str:
    """The page, and the place in it, of a finding, a kill criterion or an erratum."""
    page = {"F": f"findings/{name}.html", "K": f"kill-criteria.html#{name}", "E": f"errata.html#{name}"}
    return page[name[0]]


def plain(number: Number, tally: Tally) -> str:
    """A number as a plain string, for titles, tables of contents and the search index."""
    return tally.text(number.rule) if isinstance(number, Made) else number.text


def claimed(pieces: Iterable[Piece], start: ClaimStart, tally: Tally) -> str:
    """The words that a claim binds, as a plain string; the pieces begin with it."""
    words = ""
    for piece in pieces:
        if isinstance(piece, End) and piece.of is start:
            break
        words += piece.text if isinstance(piece, Prose) else ""
        words += plain(piece.number, tally) if isinstance(piece, Printed) else ""
    return " ".join(words.split())


@dataclass(frozen=True)
class Marker:
    """Writes marks for one page; links are relative to its address."""

    url: str
    tally: Tally

    def link(self, target: str) -> str:
        """An address from the root of the site, as seen from this page."""
        path, hash_, anchor = target.partition("#")
        return _up(self.url.count("/"), path) + hash_ + anchor

    def number(self, number: Number) -> Markup:
        """The mark of any number."""
        if isinstance(number, Made):
            return self.made(number.rule)
        if isinstance(number, Shown):
            html = self.shown(number)
        else:
            html = self.bracketed(number) if isinstance(number, Bracketed) else self.derived(number)
        told = isinstance(number, Shown) and number.form == "text"
        return html if told else _reported(html, number)

    def shown(self, number: Shown) -> Markup:
        """A leaf: one value of a payload with its place and its digest."""
        leaf = number.leaf
        node, line = leaf.node, leaf.node.line
        source, digest = _origin(leaf.payload.path, leaf.payload.sha256)
        textual = number.form == "text"
        value = escape(node.text) if textual else node.lexeme
        return Markup(
            f'<data class="num{" text" if textual else ""}" value="{value}"{source}'
            f' data-ptr="{escape(leaf.pointer)}" data-line="{line}" data-span="{node.start}-{node.end}"'
            f'{digest} data-format="{number.form}">'
            f'<a href="{self.line(leaf, line)}">{escape(number.text)}</a></data>'
        )

    def key(self, leaf: Leaf, name: str) -> Markup:
        """Some keys of the pointer of a leaf, joined by dots, as the name of what stands there."""
        node, line = leaf.node, leaf.node.line
        source, digest = _origin(leaf.payload.path, leaf.payload.sha256)
        return Markup(
            f'<data class="num text" value="{escape(name)}"{source} data-ptr="{escape(leaf.pointer)}"'
            f' data-line="{line}" data-span="{node.start}-{node.end}"{digest} data-format="key">'
            f'<a href="{self.line(leaf, line)}">{escape(name)}</a></data>'
        )

    def line(self, leaf: Leaf, line: int) -> str:
        """The address of a line of the payload of a leaf."""
        return f"{_up(self.url.count('/'), payload_url(leaf.payload.path))}#L{line}"

    def bracketed(self, number: Bracketed) -> Markup:
        """An estimate and its interval."""
        parts = [self.shown(each) for each in (number.value, number.low, number.high)]
        return Markup('<span class="ci">{} [{}, {}]</span>').format(*parts)

    def derived(self, number: Derived) -> Markup:
        """The exact result of an expression, with the expression."""
        value, first = number.value, number.leaves[0]
        return Markup(
            f'<data class="num derived" value="{value.numerator}/{value.denominator}"'
            f' data-expression="{_attribute(number.prefix)}" data-format="{number.form}">'
            f'<a href="{self.line(first, first.node.line)}">{escape(number.text)}</a></data>'
        )

    def made(self, rule: str) -> Markup:
        """A number of the generator's own, with its rule."""
        text = self.tally.text(rule)
        mark = Markup('<data class="num computed" data-computed="{}" value="{}">{}</data>')
        return mark.format(rule, text, text)

    def claim(self, prefix: Prefix, extra: str = "") -> Markup:
        """The opening tag around words that are bound to a condition."""
        return Markup(f'<span class="claim{extra}" data-claim="{_attribute(prefix)}">')

    def judged(self, judgement: Judgement, kind: str, *, bare: bool = False) -> Markup:
        """The words of a judgement as a badge, bound to its condition where it has one.

        A bare one is bound to nothing here: the page of its finding states the condition.
        """
        slug = judgement.words.replace(" ", "-") if kind != "verdict" else ""
        classes = f"badge {kind}" + (f" {kind}-{slug}" if slug else "")
        words = escape(judgement.words)
        if bare or judgement.prefix is None:
            return Markup(f'<span class="{escape(classes)}">{words}</span>')
        return self.claim(judgement.prefix, f" {escape(classes)}") + Markup(f"{words}</span>")

    def reference(self, name: str) -> Markup:
        """The id of a finding, a kill criterion or an erratum as a link to it."""
        return Markup(f'<a class="ref" href="{self.link(reference_url(name))}">{name}</a>')


SIGNS = {"~": "≈ ", ">": "> ", "<": "< "}
"""What stands before a figure of others, by the qualifier of its source."""


def _reported(html: Markup, number: Shown | Bracketed | Derived) -> Markup:
    """The mark of a figure of others behind the word for it and its sign; any other mark as it is."""
    leaf = next(iter(number.leaves))
    if all(each.payload.kind != "reported" for each in number.leaves):
        return html
    sign = "" if isinstance(number, Derived) else SIGNS.get(_qualifier(leaf), "")
    word = Markup('<span class="reported"><span class="reported-word">reported </span>{}{}</span>')
    return word.format(sign, html)


def _qualifier(leaf: Leaf) -> str:
    try:
        return leaf.payload.at(f"{leaf.pointer.rpartition('/')[0]}/qualifier").text
    except KeyError:
        return ""


@cache
def _up(depth: int, path: str) -> str:
    """A path from the root of the site, as seen from some folders below it."""
    return "../" * depth + quote(path)


@cache
def _origin(path: str, sha256: str) -> tuple[str, str]:
    """The attributes of a mark that name a payload and its digest."""
    return f' data-src="{escape(path)}"', f' data-sha256="{sha256}"'


def _attribute(prefix: Prefix) -> str:
    return escape(json.dumps(prefix, ensure_ascii=False, separators=(",", ":")))
