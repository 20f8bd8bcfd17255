"""Where a payload comes from, in its own words: command, commit, device, versions, models, inputs."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from generator.record import pointer as pointers
from generator.record.payload import Payload
from generator.record.tree import Node

KINDS = {
    "payload": "measured",
    "registered": "registered in advance",
    "reported": "reported by others",
    "critic": "recomputed by a critic",
}


def describe(payload: Payload) -> list[str]:
    """A payload and what made it, one fact a line."""
    return [payload.path, *(f"    {line}" for line in _facts(payload))]


def command(payload: Payload) -> list[str]:
    """The words of the command that made a payload, none where it names none."""
    node = at(payload, "/provenance/command")
    if node is None:
        return []
    if node.kind == "string":
        try:
            return shlex.split(node.text)
        except ValueError:
            return []
    return [word.text for word in node.items if word.kind == "string"]


def at(payload: Payload, pointer: str) -> Node | None:
    """The value under a pointer, None where there is none."""
    try:
        return payload.at(pointer)
    except KeyError:
        return None


def owner(payload: Payload, pointer: str) -> Node | None:
    """The quantity or estimate that a value, or a bound of it, belongs to."""
    tokens = pointers.parse(pointer)
    for depth in (1, 2):
        node = at(payload, pointers.unparse(tokens[:-depth])) if len(tokens) > depth else None
        if node is not None and "value" in node.members:
            return node
    return None


def quantity(payload: Payload, pointer: str) -> str:
    """Unit, interval, method and size behind a value, empty for a plain scalar."""
    node = owner(payload, pointer)
    return "" if node is None else about(node)


def about(node: Node) -> str:
    """Unit, interval, method and size of a quantity or an estimate."""
    return ", ".join(_about(node))


def _about(node: Node) -> Iterator[str]:
    given = {key: _plain(value) for key, value in node.members.items()}
    if given.get("unit"):
        yield given["unit"]
    if "low" in given and "high" in given:
        level = f" at level {given['level']}" if "level" in given else ""
        yield f"[{given['low']}, {given['high']}]{level}"
    if given.get("method"):
        yield given["method"]
    yield from (f"{given[key]} {key}" for key in ("resamples", "clusters", "observations") if key in given)
    if given.get("machine") == "true":
        yield "depends on the machine"


def _facts(payload: Payload) -> Iterator[str]:
    yield f"digest {payload.sha256}"
    yield f"{KINDS.get(payload.kind, payload.kind)}, {payload.schema}"
    words = command(payload)
    yield f"made by {shlex.join(words)}" if words else "made by a command that the payload does not name"
    if commit := at(payload, "/provenance/commit"):
        dirty = at(payload, "/provenance/dirty")
        yield f"at commit {_plain(commit)}{', with changes' if dirty and dirty.kind == 'true' else ''}"
    if device := at(payload, "/provenance/device"):
        yield f"on {_plain(device)}"
    versions = at(payload, "/provenance/versions")
    if versions and versions.members:
        yield f"with {', '.join(f'{name} {_plain(node)}' for name, node in versions.members.items())}"
    for key in ("models", "inputs"):
        found = at(payload, f"/provenance/{key}")
        for each in found.items if found else ():
            name = each.members.get("name") or each.members.get("path")
            digest = each.members.get("sha256")
            yield f"{key[:-1]} {_plain(name)}  {_plain(digest)}"


def _plain(node: Node | None) -> str:
    """A text without its quotation marks, any other scalar as written, a list with commas."""
    if node is None:
        return "unnamed"
    if node.kind == "array":
        return ", ".join(_plain(item) for item in node.items)
    return " ".join(node.text.split()) if node.kind == "string" else node.lexeme
