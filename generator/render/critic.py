"""The page of the critic: each label as published and as recomputed, and how few prompts decide it."""

from __future__ import annotations

from generator.record.payload import Payload
from generator.render import block
from generator.render.block import Book
from generator.render.environment import part
from generator.render.label import URL, critics, label, optional
from generator.render.mark import Marker, payload_url
from generator.render.page import Page
from generator.render.sheet import Sheet


def page(book: Book) -> Page:
    """Every critic of the record, label by label."""
    marker = Marker(URL, book.tally)
    sheet = Sheet(URL, marker, "critic", lambda _: "")
    read = [_critic(book, marker, each) for each in critics(book)]
    markdown = sheet.mark(part("critic.html.j2", critics=read))
    return Page("critic.md", "Critic", markdown, sheet.finish, sheet.plain, listed=True)


def _critic(book: Book, marker: Marker, payload: Payload) -> dict[str, object]:
    """One critic: who it is, how many labels it judged, and each of them."""
    known = book.record.ids
    labels = payload.at("/labels").members
    return {
        "name": block.quoted(marker, payload, "/name"),
        "url": marker.link(payload_url(payload.path)),
        "program": block.quoted(marker, payload, "/regime/program"),
        "independence": block.quoted(marker, payload, "/regime/independence"),
        "judged": optional(marker, payload, "/results/labels/value"),
        "agreeing": optional(marker, payload, "/results/agreeing/value"),
        "labels": [
            label(marker, payload, identifier, f"/labels/{identifier}/{kind}", judged)
            for identifier, by_kind in labels.items()
            if identifier in known
            for kind, judged in by_kind.members.items()
        ],
    }
