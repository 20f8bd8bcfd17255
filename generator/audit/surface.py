"""Which parts of a finished page a person sees or hears, and which numerals the theme makes there.

Numerals of the theme pass by place, never by value. Each row is a place; the tests visit all of them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from generator.audit.stylesheet import PROVED


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


SPOKEN = _words(
    "title alt aria-label aria-description aria-roledescription aria-valuetext aria-valuenow placeholder "
    "label summary data-title data-linenos data-md-annotation-id srcdoc abbr"
)
"""Attributes whose text is seen or heard, on any element."""

VALUED = _words("button input li meter option progress")
"""Elements that show their value attribute."""

SPOKEN_HINT = re.compile(r"(?i)\b(?:" + "|".join(sorted(SPOKEN | PROVED)) + r")\s*=").search

META = _words(
    "generator viewport theme-color color-scheme robots referrer twitter:card og:url og:image "
    "og:image:width og:image:height og:image:type og:type og:locale twitter:image msapplication-tilecolor"
)
"""Metadata that is read by programs: the theme's generator and viewport among them."""

XML_PLACES = _words(
    "loc lastmod changefreq priority link guid id updated published pubdate lastbuilddate ttl generator"
)
"""Elements of sitemaps and feeds that hold addresses and times."""

FEED_PASSAGES = frozenset({"summary"})
"""Elements of a feed whose text repeats a page that the feed links to."""

THEME_STYLESHEETS = re.compile(r"assets/stylesheets/(?:main|palette)\.[0-9a-f]{8}\.min\.css")
"""Stylesheets of the theme, which number the annotations that its script finds."""


def spoken(name: str, attributes: Mapping[str, str]) -> list[tuple[str, str]]:
    """Attribute names and texts that an element shows."""
    found = [(key, text) for key, text in attributes.items() if key in SPOKEN and text]
    if not is_mark(name, attributes):
        found += [(key, text) for key, text in attributes.items() if key in PROVED and text]
    if name in VALUED and attributes.get("type", "") != "hidden" and attributes.get("value"):
        found.append(("value", attributes["value"]))
    if name == "meta" and "http-equiv" not in attributes and attributes.get("content"):
        key = attributes.get("name", attributes.get("property", "")).lower()
        if key not in META:
            found.append(("content", attributes["content"]))
    return found


def theme_place(name: str, attributes: Mapping[str, str]) -> str:
    """The metadata for programs that an element is, in words; empty where it is none."""
    key = attributes.get("name", attributes.get("property", "")).lower() if name == "meta" else ""
    return f"meta {key}" if key in META and "content" in attributes else ""


def is_mark(name: str, attributes: Mapping[str, str]) -> bool:
    """An element whose own attributes are proved one by one."""
    if name == "data":
        return "num" in attributes.get("class", "").split()
    return (name == "span" and "data-claim" in attributes) or (
        name == "pre" and "data-verbatim" in attributes
    )


ERROR_HEADING = "heading for unknown addresses"


def is_error_heading(page: str, heading: bool) -> bool:
    """The heading of the page that servers show for an unknown address."""
    return heading and page.rpartition("/")[2] == "404.html"


def is_footnote_mark(attributes: Mapping[str, str]) -> bool:
    """A footnote's number, made by the renderer, which counts them."""
    classes = attributes.get("class", "").split()
    return "footnote-ref" in classes and attributes.get("href", "").startswith("#fn")


def is_footnote_return(key: str, attributes: Mapping[str, str]) -> bool:
    """The title of the link back from a footnote."""
    classes = attributes.get("class", "").split()
    return (
        key == "title" and "footnote-backref" in classes and attributes.get("href", "").startswith("#fnref")
    )
