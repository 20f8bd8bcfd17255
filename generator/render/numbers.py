"""Every traced number of the finished pages as one document, for other tools to cite by address."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from hashlib import sha1
from html import unescape

from generator.record.payload import Payload

PATH = "numbers.json"
SCHEMA = "specdec-sidechannels/numbers/1"

_MARK = re.compile(r'<data class="num(?: derived)?" ([^>]*)>(?:<a [^>]*>)?([^<]*)<')
_ATTRIBUTE = re.compile(r'([a-z-]+)="([^"]*)"')

Entry = dict[str, object]


def listed(html: str) -> dict[str, Entry]:
    """The numbers of a finished page by their ids: what is shown, its exact value, its form, its place.

    A number that was read has path, pointer, line and byte span; a derived one has its expression, whose
    leaves are path, pointer and digest. Texts, and numbers of the generator's own, are not among them.
    """
    return dict(_entries(html))


def _entries(html: str) -> Iterator[tuple[str, Entry]]:
    for written, shown in _MARK.findall(html):
        given = {name: unescape(value) for name, value in _ATTRIBUTE.findall(written)}
        if "id" not in given:
            continue
        entry: Entry = {"shown": unescape(shown), "value": given["value"], "form": given["data-format"]}
        if "data-expression" in given:
            entry["expression"] = json.loads(given["data-expression"])
        else:
            start, _, end = given["data-span"].partition("-")
            line = int(given["data-line"])
            entry |= {"path": given["data-src"], "pointer": given["data-ptr"], "line": line}
            entry["bytes"] = [int(start), int(end)]
        yield given["id"], entry


def document(pages: Mapping[str, Mapping[str, Entry]], payloads: Mapping[str, Payload]) -> bytes:
    """The document: payloads with digest and identifier, then the numbers by page and id."""
    known = {
        path: {"sha256": each.sha256, "swhid": swhid(each.data)} for path, each in sorted(payloads.items())
    }
    sorted_pages = {url: pages[url] for url in sorted(pages) if pages[url]}
    made = {"schema": SCHEMA, "payloads": known, "pages": sorted_pages}
    return f"{json.dumps(made, ensure_ascii=False, separators=(',', ':'))}\n".encode()


def swhid(data: bytes) -> str:
    """The Software Heritage identifier of some content, whose digest is that of a git blob."""
    digest = sha1(b"blob %d\0" % len(data) + data).hexdigest()
    return f"swh:1:cnt:{digest}"
