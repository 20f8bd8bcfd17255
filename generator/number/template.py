"""Splits a source into prose, expressions and tags, each with its place."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from generator.number.fragment import Fragment
from generator.report.refusal import Refused

Kind = Literal["prose", "print", "tag"]

_QUOTED = r"\"[^\"\n]*\"|'[^'\n]*'"
_MARKUP = re.compile(
    rf"""\{{\{{ (?P<print> (?: {_QUOTED} | [^"'{{}}] | \}}(?!\}}) )*? ) \}}\}}
    | \{{% (?P<tag> (?: {_QUOTED} | [^"'%] | %(?!\}}) )*? ) %\}}
    | \{{\# (?P<comment> .*? ) \#\}}
    | (?P<stray> \{{\{{ | \{{% | \{{\# | \}}\}} | %\}} | \#\}} )""",
    re.VERBOSE | re.DOTALL,
)
_TAG = re.compile(r"-?\s*(?P<name>[A-Za-z_]\w*)\s*")

_STRAY = "Template markup that is opened and not closed, or closed and not opened."


@dataclass(frozen=True)
class Part:
    """Prose from start to end; what stands between braces; or a tag with its arguments from start to end."""

    kind: Kind
    start: int
    end: int
    name: str = ""
    offset: int = 0


def split(fragment: Fragment) -> list[Part]:
    """The parts of a text in order; raises Refused at markup that is not complete."""
    parts = list(_parts(fragment))
    return [part for part in parts if part.kind != "prose" or part.start < part.end]


def _parts(fragment: Fragment) -> Iterator[Part]:
    text, at = fragment.text, 0
    for match in _MARKUP.finditer(text):
        start, end = match.span()
        if match["stray"]:
            refusal = fragment.refusal(start, "bad-template", match["stray"], _STRAY)
            raise Refused([refusal])
        yield Part("prose", at, _trim_end(text, at, start) if text[start + 2] == "-" else start)
        if match["print"] is not None:
            yield _print(match)
        elif match["tag"] is not None:
            yield _tag(fragment, match)
        at = _trim_start(text, end) if text[end - 3] == "-" else end
    yield Part("prose", at, len(text))


def _print(match: re.Match[str]) -> Part:
    start, end = match.span("print")
    inner = match["print"]
    return Part("print", start + inner.startswith("-"), end - (len(inner) > 1 and inner.endswith("-")))


def _tag(fragment: Fragment, match: re.Match[str]) -> Part:
    start, end = match.span("tag")
    name = _TAG.match(fragment.text, start, end)
    if name is None:
        refusal = fragment.refusal(match.start(), "bad-template", match[0][:40], "The tag has no name.")
        raise Refused([refusal])
    end -= match["tag"].endswith("-")
    return Part("tag", name.end(), max(end, name.end()), name["name"], match.start())


def _trim_end(text: str, at: int, end: int) -> int:
    """Where prose ends that markup with a hyphen follows: its white space is left out."""
    return at + len(text[at:end].rstrip())


def _trim_start(text: str, at: int) -> int:
    """Where prose starts that markup with a hyphen precedes."""
    return len(text) - len(text[at:].lstrip())
