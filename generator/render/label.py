"""A label as a critic read it: whether it agrees, how few prompts decide it, what other readings say."""

from __future__ import annotations

from collections.abc import Iterator

from markupsafe import Markup

from generator.number.number import Leaf, Shown
from generator.number.unit import NONE
from generator.record.payload import Payload
from generator.record.tree import Node
from generator.render.block import Book
from generator.render.mark import Marker

URL = "critic.html"
READINGS = {
    "bootstrap_t": "bootstrap-t intervals",
    "cluster_t": "cluster-robust intervals",
    "without_two": "the most influential pair of prompts left out",
}
"""Other readings of the same state, by their field."""


def critics(book: Book) -> list[Payload]:
    """The payloads that a critic emitted."""
    return [each for each in book.record.payloads.values() if each.kind == "critic"]


def on(book: Book, marker: Marker, identifier: str) -> Iterator[dict[str, object]]:
    """Every label of one source, as the critics of the record read it."""
    for payload in critics(book):
        judged = payload.at("/labels").members.get(identifier)
        for kind, node in judged.members.items() if judged else ():
            yield label(marker, payload, identifier, f"/labels/{identifier}/{kind}", node)


def label(marker: Marker, payload: Payload, identifier: str, at: str, judged: Node) -> dict[str, object]:
    agrees = judged.members.get("agrees")
    return {
        "reference": marker.reference(identifier),
        "published": judged.members["published"].text,
        "agrees": {"true": "agrees", "false": "does not agree"}.get(agrees.kind if agrees else "", "no rule"),
        "fragility": _fragility(marker, payload, f"{at}/fragility", judged),
        "others": list(_others(judged)),
        "same": optional(marker, payload, f"{at}/robustness/same_seeds"),
        "seeds": optional(marker, payload, f"{at}/robustness/seeds"),
    }


def _fragility(marker: Marker, payload: Payload, at: str, judged: Node) -> dict[str, object]:
    """How many prompts have to go before the label changes; nothing where it rests on none."""
    found = judged.members.get("fragility")
    clusters = found.members.get("clusters") if found else None
    if found is None or (clusters is not None and clusters.lexeme == "0"):
        return {}
    flips = found.members.get("flips_after")
    exact = found.members.get("exact")
    return {
        "flips": _number(marker, payload, f"{at}/flips_after") if flips and flips.kind == "number" else "",
        "exact": bool(exact and exact.kind == "true"),
        "tried": optional(marker, payload, f"{at}/tried"),
        "clusters": optional(marker, payload, f"{at}/clusters"),
    }


def _others(judged: Node) -> Iterator[str]:
    """The readings under which the label comes out otherwise."""
    robustness = judged.members.get("robustness")
    for field, words in READINGS.items():
        read = robustness.members.get(field) if robustness else None
        if read is not None and read.kind == "string" and read.text != judged.members["published"].text:
            yield f"{read.text} by {words}"


def optional(marker: Marker, payload: Payload, where: str) -> Markup | str:
    try:
        return _number(marker, payload, where)
    except KeyError:
        return ""


def _number(marker: Marker, payload: Payload, where: str) -> Markup:
    """A number of the payload as it is written there."""
    node = payload.at(where)
    return marker.shown(Shown(Leaf(payload, where, node, NONE), "plain", node.lexeme))
