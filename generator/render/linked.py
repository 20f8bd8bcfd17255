"""What a page says to machines, as schema.org JSON-LD; each value in it names its number on the page."""

from __future__ import annotations

import json
from collections.abc import Mapping
from posixpath import relpath

from generator.record.record import Record
from generator.record.source import Source
from generator.render.mark import payload_url
from generator.render.numbers import Entry, swhid
from generator.render.page import Page


def script(record: Record, page: Page, entries: Mapping[str, Entry]) -> str:
    """The script element for the head of a finished page."""
    text = json.dumps(described(record, page, entries), ensure_ascii=False, separators=(",", ":"))
    safe = text.replace("<", "\\u003c")
    return f'<script type="application/ld+json">{safe}</script>\n'


def described(record: Record, page: Page, entries: Mapping[str, Entry]) -> dict[str, object]:
    """A finding is an article on data sets, a payload is a data set, anything else is a page."""
    about: dict[str, object] = {"@context": "https://schema.org", "@id": "", "@type": "WebPage"}
    finding = next((each for each in record.findings if page.url == f"findings/{each.id}.html"), None)
    path = page.url.removesuffix(".html") + ".json"
    if finding:
        about |= {"@type": "ScholarlyArticle", "isBasedOn": _based_on(record, page.url, finding)}
    elif path in record.payloads:
        about |= _dataset(record, path)
    about["name"] = page.title
    if page.url != "index.html":
        about["isPartOf"] = {"@type": "WebSite", "@id": _link(page.url, "index.html")}
    if finding and entries:
        about["mentions"] = [
            {"@type": "PropertyValue", "@id": f"#{name}", "value": entry["shown"]}
            for name, entry in entries.items()
        ]
    return about


def _based_on(record: Record, url: str, finding: Source) -> list[dict[str, object]]:
    return [
        {"@type": "Dataset", "@id": _link(url, payload_url(path))}
        for path in dict.fromkeys(finding.payloads.values())
        if path in record.payloads
    ]


def _dataset(record: Record, path: str) -> dict[str, object]:
    name = path.rpartition("/")[2]
    download = {"@type": "DataDownload", "contentUrl": {"@id": name}, "encodingFormat": "application/json"}
    return {
        "@type": "Dataset",
        "sameAs": {"@id": swhid(record.payloads[path].data)},
        "distribution": download,
    }


def _link(url: str, target: str) -> str:
    return relpath(target, url.rpartition("/")[0] or ".")
