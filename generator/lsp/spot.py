"""What stands at a place of a source while it is being typed: an expression, an alias, an id, prose.

It reads the text alone, so that it answers where markup is not closed yet.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

Kind = Literal["print", "condition", "tag", "payload", "key", "prose"]

FIELD = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*|\[\"[^\"\n]*\"\]|\['[^'\n]*'\])*")
"""The name of a field: an alias and the keys below it."""

KEY = re.compile(r"\.([A-Za-z_]\w*)|\[[\"']([^\"'\n]*)[\"']\]")

_TAG = re.compile(r"\{%-?\s*(?P<name>[a-z]*)(?P<space>\s*)")
_RULE = re.compile(r"(?:holds_when|null_when|fires_when|old|new):[ \t]*[\"']?(?P<value>[^\n]*?)[\"']?[ \t]*$")
_LABELLED = re.compile(
    r"[ \t]+(?:\"[^\"\n]*\"|'[^'\n]*'|[^:\n]+):[ \t]*[\"']?(?P<value>[^\n]*?)[\"']?[ \t]*$"
)
_FRONT = re.compile(r"---[ \t]*\n(?P<front>.*?)(?:^(?:---|\.\.\.)[ \t]*$|\Z)", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True)
class Spot:
    """A kind of text from start to end, as offsets in characters."""

    kind: Kind
    start: int
    end: int


def at(text: str, offset: int) -> Spot:
    """What stands around an offset."""
    front = _FRONT.match(text)
    inside = _markup(text, offset)
    if inside:
        return inside
    if front and front.start("front") <= offset <= front.end("front"):
        return _front(text, offset, front.start("front"))
    return _line(text, offset, "prose")


def field(text: str, spot: Spot, offset: int) -> re.Match[str] | None:
    """The field of an expression at an offset, None where there is none."""
    found = FIELD.finditer(text, spot.start, spot.end)
    return next((each for each in found if each.start() <= offset <= each.end()), None)


def keys(name: str) -> tuple[str, tuple[str, ...]]:
    """The alias of a field's name and the keys below it."""
    alias = re.match(r"\w*", name)
    return (alias[0] if alias else ""), tuple(each[1] or each[2] for each in KEY.finditer(name))


def _markup(text: str, offset: int) -> Spot | None:
    """The inside of braces that open before an offset and do not close before it."""
    opened = max(text.rfind("{{", 0, offset), text.rfind("{%", 0, offset))
    closed = max(text.rfind("}}", 0, offset), text.rfind("%}", 0, offset))
    if opened < 0 or closed > opened or text.find("\n\n", opened, offset) >= 0:
        return None
    printed = text[opened + 1] == "{"
    close = text.find("}}" if printed else "%}", offset)
    line = text.find("\n\n", offset)
    end = min(each for each in (close, line, len(text)) if each >= 0)
    if printed:
        return Spot("print", opened + 2 + text.startswith("-", opened + 2), end)
    tag = _TAG.match(text, opened, end)
    if tag and tag["name"] == "claim" and tag["space"] and offset >= tag.end():
        return Spot("condition", tag.end(), end)
    return Spot("tag", opened + 2, end)


def _front(text: str, offset: int, start: int) -> Spot:
    """A rule, a payload's path or a key in the front matter."""
    line = _line(text, offset, "key")
    written = text[line.start : line.end]
    block = _block(text, start, line.start)
    rule = _RULE.match(written) or (_LABELLED.match(written) if block == "verdict_when" else None)
    if rule and offset >= line.start + rule.start("value"):
        kind: Kind = "print" if written.startswith(("old", "new")) else "condition"
        return Spot(kind, line.start + rule.start("value"), line.start + rule.end("value"))
    if block == "payloads" and written[:1].isspace() and ":" in text[line.start : offset]:
        at_value = text.index(":", line.start) + 1
        return Spot(
            "payload", at_value + len(text[at_value:offset]) - len(text[at_value:offset].lstrip()), line.end
        )
    return line if not written[:1].isspace() else Spot("prose", line.start, line.end)


def _block(text: str, start: int, end: int) -> str:
    """The last key of the front matter that begins a line before an offset."""
    begun = re.findall(r"^([a-z_]+):", text[start:end], re.MULTILINE)
    return str(begun[-1]) if begun else ""


def _line(text: str, offset: int, kind: Kind) -> Spot:
    end = text.find("\n", offset)
    return Spot(kind, text.rfind("\n", 0, offset) + 1, len(text) if end < 0 else end)
