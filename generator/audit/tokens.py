"""Splits HTML into tags and text, strictly: what a browser would have to guess at is refused.

A lenient reader can be made to see less than a browser shows. This one accepts quoted attributes, closed
comments and escaped angle brackets, and stops at anything else.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from html import unescape


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


BLOCKS = _words(
    "address article aside blockquote body br button caption dd desc details div dl dt fieldset "
    "figcaption figure footer form g h1 h2 h3 h4 h5 h6 head header hr html img input legend li main "
    "menu nav ol optgroup option p pre search section select summary svg table tbody td text tfoot th "
    "thead tr ul video audio canvas urlset url loc lastmod"
)
"""Elements at which a run of text ends; text is joined over every other one."""

_ATTRIBUTE = r"""[^\s"'<>/=]++(?:\s*+=\s*+(?:"[^"]*+"|'[^']*+'|[^\s"'=<>`]++))?+"""
_ATTRIBUTES = rf"(?:\s++{_ATTRIBUTE})*+\s*+/?"
_RAW = "script|style|title|textarea|noscript|iframe"
TOKEN = re.compile(
    r"(?P<text>[^<]++)"
    rf"|<(?P<raw>{_RAW})(?P<rawattributes>{_ATTRIBUTES})>"
    r"(?P<content>.*?)</(?P=raw)\s*+>"
    rf"|<(?!(?:{_RAW})[\s/>])(?P<name>[a-zA-Z][a-zA-Z0-9:-]*+)(?P<attributes>{_ATTRIBUTES})>"
    r"|</(?P<end>[a-zA-Z][a-zA-Z0-9:-]*+)\s*+>"
    r"|<!--(?!-?>)(?P<comment>.*?)-->"
    r"|<!(?P<doctype>doctype\b[^<>]*+)>"
    r"|<\?(?P<declaration>xml\b[^<>]*+)>",
    re.DOTALL | re.IGNORECASE,
)
QUIET = frozenset({"script", "style", "noscript"})
"""Elements that show nothing of their own, so that text runs on past them."""

_BORDER = rf"(?:{'|'.join(sorted(BLOCKS))})"
_INLINE = (
    rf"[^<]++|<(?!(?:{_RAW}|{_BORDER})[\s/>])[a-zA-Z][a-zA-Z0-9:-]*+{_ATTRIBUTES}>"
    rf"|</(?!{_BORDER}[\s>])[a-zA-Z][a-zA-Z0-9:-]*+\s*+>|<!--(?!-?>).*?-->"
    rf"|<(?P<quiet>{'|'.join(sorted(QUIET))}){_ATTRIBUTES}>.*?</(?P=quiet)\s*+>"
)
RUN = re.compile(rf"(?:<{_BORDER}{_ATTRIBUTES}>|</{_BORDER}\s*+>)?(?:{_INLINE})*+", re.DOTALL | re.IGNORECASE)
"""A run of text and inline tags, with the block tag that opens it."""

_PAIR = re.compile(r"""([^\s"'<>/=]++)(?:\s*+=\s*+(?:"([^"]*+)"|'([^']*+)'|([^\s"'=<>`]++)))?+""")
_REFUSED = frozenset({"plaintext", "xmp", "noembed", "noframes", "frameset", "object", "embed", "applet"})
"""Elements whose content a browser reads by rules of their own, or that show what no reader of HTML sees."""


class Malformed(ValueError):
    """Markup whose meaning depends on error recovery, with its offset."""

    def __init__(self, offset: int, message: str) -> None:
        self.offset = offset
        super().__init__(message)


def tokens(html: str, start: int = 0, end: int | None = None) -> Iterator[re.Match[str]]:
    """Every token in order; raises Malformed at the first that is none."""
    place, stop = start, len(html) if end is None else end
    for match in TOKEN.finditer(html, start, stop):
        if match.start() != place:
            raise Malformed(place, "This is no well-formed tag, comment or text.")
        place = match.end()
        kind = match.lastgroup
        if kind == "comment" and ("--!>" in match["comment"] or "<!--" in match["comment"]):
            raise Malformed(match.start(), "Browsers end this comment elsewhere than it reads.")
        if kind == "attributes" and match["name"].lower() in _REFUSED:
            raise Malformed(match.start(), f"<{match['name'].lower()}> cannot be read as text.")
        yield match
    if place != stop:
        raise Malformed(place, "This is no well-formed tag, comment or text.")


@lru_cache(maxsize=20_000)
def attributes(written: str) -> Mapping[str, str]:
    """Attributes as a browser reads them: lower-case names, entities decoded, the first of two alike wins."""
    found: dict[str, str] = {}
    for name, double, single, bare in _PAIR.findall(written):
        found.setdefault(name.lower(), unescape(double or single or bare))
    return found
