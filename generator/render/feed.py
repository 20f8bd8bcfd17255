"""The errata as an Atom feed (RFC 4287). Numbers in it repeat the errata page, where each is traced."""

from __future__ import annotations

from collections.abc import Iterable
from uuid import NAMESPACE_URL, uuid5
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from generator.errata.effects import Effects
from generator.number.number import Made
from generator.render.errata import FEED, URL

ATOM = "http://www.w3.org/2005/Atom"
NEVER = "1970-01-01"
"""The day of a feed without entries."""


def atom(site: str, traced: Iterable[Effects]) -> bytes:
    """The feed of a site of that name, newest entry first; links are relative to the feed."""
    entries = list(traced)[::-1]
    feed = Element("feed", {"xmlns": ATOM})
    day = entries[0].erratum.source.string("date") if entries else NEVER
    _head(feed, "Errata", f"feed of errata: {site}", day)
    SubElement(feed, "link", {"rel": "self", "type": "application/atom+xml", "href": FEED})
    SubElement(feed, "link", {"rel": "alternate", "type": "text/html", "href": URL})
    SubElement(SubElement(feed, "author"), "name").text = site
    for each in entries:
        _entry(feed, each)
    indent(feed)
    written: bytes = tostring(feed, "utf-8", xml_declaration=True)
    return written + b"\n"


def _entry(feed: Element, effects: Effects) -> None:
    source = effects.erratum.source
    said = [source.string(key) for key in ("finding", "statement", "date", "reason")]
    entry = SubElement(feed, "entry")
    title = f"{source.id} corrects a sentence of {source.string('finding')}"
    _head(entry, title, "\n".join((source.id, *said)), source.string("date"))
    SubElement(entry, "link", {"rel": "alternate", "type": "text/html", "href": f"{URL}#{source.id}"})
    SubElement(entry, "summary").text = " ".join([source.string("reason"), *_change(effects)])


def _head(element: Element, title: str, name: str, day: str) -> None:
    """What a feed and its entries have in common; an id hangs on content alone, not on an address."""
    SubElement(element, "id").text = uuid5(NAMESPACE_URL, name).urn
    SubElement(element, "title").text = title
    SubElement(element, "updated").text = f"{day}T00:00:00Z"


def _change(effects: Effects) -> list[str]:
    """The sentence of the errata page on the corrected value."""
    numbers = [each.number for each in effects.erratum.corrected]
    texts = [each.text for each in numbers if not isinstance(each, Made)]
    return [f"{texts[0]} should read {texts[1]}."] if len(texts) == 2 else []
