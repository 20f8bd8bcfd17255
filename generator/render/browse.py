"""What leads from one part of a record to the next: sources, commands, neighbours."""

from __future__ import annotations

from collections.abc import Iterator

from markupsafe import Markup

from generator.number.number import Leaf, Shown
from generator.number.unit import NONE
from generator.record.payload import Payload
from generator.record.source import Source
from generator.render import block, label
from generator.render.block import Book
from generator.render.mark import Marker, payload_url


def cited(book: Book, marker: Marker, source: Source) -> Iterator[Markup | str]:
    """Links to the pages of the payloads that a finding stands on, by their names."""
    for each in _payloads(book, source):
        name = block.quoted(marker, each, "/name")
        yield name or Markup('<a href="{}">payload</a>').format(marker.link(payload_url(each.path)))


def foot(book: Book, marker: Marker, source: Source) -> dict[str, object]:
    """What stands below a finding: payloads with their commands, the critic, history, neighbours."""
    before, after = _neighbours(book, source)
    payloads = [
        {**block.payload_entry(book, marker, each), "command": list(command(marker, each))}
        for each in _payloads(book, source)
    ]
    return {
        "id": source.id,
        "payloads": payloads,
        "critic": list(label.on(book, marker, source.id)),
        "critic_page": marker.link(label.URL),
        "registered": source.id in book.orders,
        "ledger": marker.link("registered.html"),
        "corrections": [marker.reference(each.erratum.source.id) for each in book.traced.on(source)],
        "before": marker.reference(before) if before else "",
        "after": marker.reference(after) if after else "",
    }


def _payloads(book: Book, source: Source) -> Iterator[Payload]:
    found = book.record.payloads
    return (found[path] for path in dict.fromkeys(source.payloads.values()) if path in found)


def _neighbours(book: Book, source: Source) -> tuple[str, str]:
    """The ids of the findings before and after one, empty at either end."""
    ids = ["", *(each.source.id for each in book.of_kind("finding")), ""]
    at = ids.index(source.id)
    return ids[at - 1], ids[at + 1]


def command(marker: Marker, document: Payload) -> Iterator[Markup | str]:
    """The words of the command that made a payload."""
    try:
        node = document.at("/provenance/command")
    except KeyError:
        return
    if node.kind == "string":
        yield block.quoted(marker, document, "/provenance/command")
    for index, word in enumerate(node.items):
        if word.kind == "string":
            found = Leaf(document, f"/provenance/command/{index}", word, NONE)
            yield marker.shown(Shown(found, "text", word.text))


def named(marker: Marker, document: Payload, pointer: str, key: str) -> Iterator[Markup | str]:
    """One text of each entry of a list of a payload: the names of models, the paths of inputs."""
    try:
        count = len(document.at(pointer).items)
    except KeyError:
        return
    for index in range(count):
        if found := block.quoted(marker, document, f"{pointer}/{index}/{key}"):
            yield found
