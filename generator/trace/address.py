"""What a reader points at: an id with a statement, a page of the site, a line or a field of a payload."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

from generator.record.payload import Payload
from generator.record.record import LANDING, Record
from generator.record.tree import Node
from generator.render.site import MADE

_LINE = re.compile(r"L([1-9][0-9]{0,8})")
_ID = re.compile(r"[FKE]-[0-9]+")
_AT_LINE = re.compile(r"(?P<path>.+\.(?:json|md)):(?P<line>[1-9][0-9]{0,8})(?::[0-9]+)?")

COLLECTED = ("kill-criteria.html", "errata.html")
"""Pages whose sources are named by the fragment."""

LISTS = frozenset(f"{name.removesuffix('.md')}.html" for name in MADE)
"""Pages that the generator makes; what stands there stands on a page of its own too."""


class Unknown(Exception):
    """Nothing in this record is meant by a reference; the message says what would be."""


@dataclass(frozen=True)
class InSource:
    """A source, and what the reference says after the hash: a statement, or on a page any anchor."""

    path: str
    anchor: str = ""
    on_page: bool = False


@dataclass(frozen=True)
class InPayload:
    """A payload, or some of its fields by their pointers."""

    payload: Payload
    pointers: tuple[str, ...] = ()
    whole: bool = True


Target = InSource | InPayload


def resolve(record: Record, reference: str) -> Target:
    """What a reference means, with or without scheme, host and folders before it; raises Unknown."""
    path, fragment = _split(reference)
    for tail in _tails(path):
        found = _source(record, tail, fragment) or _payload(record, tail, fragment)
        if found is not None:
            return found
        if tail in LISTS:
            raise Unknown(f"{tail} is a list that the generator makes. Name one of its entries by its id.")
    name = reference if len(reference) <= 80 else f"{reference[:79]}…"
    raise Unknown(
        f"There is no {name} in this record. Name an id (F-01), a statement (F-01#tokens), a payload "
        "(acceptance/lookup), or paste the address of a page, a line or a field."
    )


def _split(reference: str) -> tuple[str, str]:
    """The path of an address and its fragment; a line after a colon is a fragment too."""
    try:
        parts = urlsplit(reference.strip())
    except ValueError:
        return "", ""
    path, fragment = unquote(parts.path), unquote(parts.fragment)
    if (parts.netloc or fragment) and path.endswith("/"):
        path += "index.html"
    if at_line := _AT_LINE.fullmatch(path):
        path, fragment = at_line["path"], fragment or f"L{at_line['line']}"
    return path, fragment


def _tails(path: str) -> Iterator[str]:
    """A path without more and more of its first folders, the longest first."""
    parts = [part for part in path.split("/") if part not in ("", ".")]
    yield from ("/".join(parts[at:]) for at in range(len(parts)))


def _source(record: Record, path: str, fragment: str) -> InSource | None:
    """The source of an id, of a page, or of a file."""
    if path in COLLECTED and (named := _ID.match(fragment)):
        path, fragment = named[0], fragment[named.end() :].lstrip("-")
    for each in record.sources:
        on_page = path == page(each.path)
        if on_page or path in (each.id if _ID.fullmatch(each.id) else "", each.path):
            return InSource(each.path, fragment.removeprefix(f"{each.id}-"), on_page)
    return None


def page(path: str) -> str:
    """The page that a source becomes."""
    if path == LANDING:
        return "index.html"
    return path.removeprefix("site_src/").removesuffix(".md") + ".html"


def _payload(record: Record, path: str, fragment: str) -> InPayload | None:
    """The payload of a page, a file, or a name, and what the fragment picks from it."""
    stem = path.removesuffix(".html").removesuffix(".json")
    names = (f"{stem}.json", f"payloads/{stem}.json")
    payload = next((record.payloads[name] for name in names if name in record.payloads), None)
    if payload is None:
        return None
    if line := _LINE.fullmatch(fragment):
        found = tuple(on_line(payload, int(line[1])))
        if not found:
            raise Unknown(f"Line {line[1]} of {payload.path} holds no value.")
        return InPayload(payload, found, whole=False)
    if fragment.startswith("/"):
        return InPayload(payload, (_field(payload, fragment),), whole=False)
    if fragment:
        raise Unknown(
            f"{payload.path} has no place {fragment}: a place is a line, L12, or a field, /results/x."
        )
    return InPayload(payload)


def _field(payload: Payload, pointer: str) -> str:
    """The pointer of a scalar: of the value where a quantity is named; raises Unknown."""
    try:
        node = payload.at(pointer)
    except (KeyError, ValueError):
        raise Unknown(f"{payload.path} has no field {pointer}.") from None
    if "value" in node.members:
        return f"{pointer}/value"
    if node.kind in ("object", "array"):
        known = ", ".join(list(node.members)[:12])
        raise Unknown(f"{pointer} of {payload.path} is an {node.kind}. {f'It has {known}.' if known else ''}")
    return pointer


def on_line(payload: Payload, line: int) -> Iterator[str]:
    """The pointers of the scalars that begin on a line."""
    stack: list[tuple[str, Node]] = [("", payload.root)]
    while stack:
        pointer, node = stack.pop()
        if node.line > line or node.source.line(node.end) < line:
            continue
        below = list(children(pointer, node))
        if not below and node.kind not in ("object", "array") and node.line == line:
            yield pointer
        stack.extend(reversed(below))


def children(pointer: str, node: Node) -> Iterator[tuple[str, Node]]:
    """The values right below one, each with its pointer."""
    named = node.members.items() if node.kind == "object" else enumerate(node.items)
    for key, value in named:
        yield f"{pointer}/{str(key).replace('~', '~0').replace('/', '~1')}", value
