"""Blocks that show lines of a file as they are, and the line numbers beside them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from html import unescape

from generator.audit.evidence import Evidence
from generator.audit.fault import Fault
from generator.audit.tokens import attributes, tokens

REFERENCE = re.compile(r"(?P<path>[^#]+)#L(?P<first>[1-9][0-9]{0,8})-L(?P<last>[1-9][0-9]{0,8})")
_CODE = re.compile(r"<code>(.*)</code>", re.DOTALL)
_LINE = re.compile(r'<span id="L([1-9][0-9]*)"(?: class="?[a-z-]+"?)?>([^<]*)</span>')
_CLOSING = re.compile(r"</pre\s*>", re.IGNORECASE)
_INLINE = frozenset({"code", "span", "a", "mark", "b", "em", "strong"})
_KEPT = frozenset({"id", "class", "href", "aria-hidden"})


@dataclass(frozen=True)
class Lines:
    """Lines first to last of a file, as shown on a page from one offset to another."""

    path: str
    first: int
    last: int
    start: int
    end: int
    text: str = ""
    anchored: bool = False

    def holds(self, path: str, line: int) -> bool:
        """Whether a link to the line's anchor lands here."""
        return self.anchored and path == self.path and self.first <= line <= self.last


def block(html: str, start: int, given: Mapping[str, str], evidence: Evidence) -> Lines:
    """The verbatim block whose content starts at an offset; raises Fault unless it equals the file."""
    match = REFERENCE.fullmatch(given["data-verbatim"])
    if not match:
        raise Fault("untraced-number", "A verbatim block names its lines as path#L1-L2.")
    first, last = int(match["first"]), int(match["last"])
    data = evidence.hashed(match["path"], given.get("data-sha256", "")).data
    expected = _slice(data, first, last, match["path"])
    end = _end(html, start)
    text, anchors = _read(html, start, end, first)
    if text.removesuffix("\n") != expected.removesuffix("\n"):
        number = _first_difference(text, expected) + first
        raise Fault("display-mismatch", f"The block differs from {match['path']} at line {number}.")
    if anchors not in (0, last - first + 1):
        raise Fault("place-mismatch", "Some lines of the block have an anchor and some have none.")
    return Lines(match["path"], first, last, start, end, text, anchors > 0)


def gutter(html: str, start: int, given: Mapping[str, str]) -> Lines:
    """The line numbers whose list starts at an offset; raises Fault unless they count first to last."""
    match = REFERENCE.fullmatch(given["data-gutter"])
    end = _end(html, start)
    if not match:
        raise Fault("untraced-number", "Line numbers name their lines as path#L1-L2.")
    first, last = int(match["first"]), int(match["last"])
    shown = unescape(re.sub(r"</?(?:span|a|code)\b[^<>]*>", "", html[start:end])).split()
    if last - first + 1 != len(shown) or any(text != str(first + i) for i, text in enumerate(shown)):
        raise Fault("place-mismatch", f"The line numbers do not count from {first} to {last}.")
    return Lines(match["path"], first, last, start, end)


def after(html: str, start: int) -> int:
    """Where the content of a block ends that starts there; the start itself where nothing closes it."""
    closing = _CLOSING.search(html, start)
    return closing.start() if closing else start


def _end(html: str, start: int) -> int:
    closing = _CLOSING.search(html, start)
    if not closing:
        raise Fault("bad-page", "The block is not closed.")
    return closing.start()


def _slice(data: bytes, first: int, last: int, path: str) -> str:
    """Lines of a file, as git counts them."""
    lines = data.split(b"\n")
    count = len(lines) - (lines[-1] == b"")
    if not first <= last <= count:
        raise Fault("place-mismatch", f"{path} has {count} lines, not {last}.")
    try:
        return b"\n".join(lines[first - 1 : last]).decode("utf-8")
    except UnicodeDecodeError:
        raise Fault("bad-encoding", f"{path} is not UTF-8.") from None


def _read(html: str, start: int, end: int, first: int) -> tuple[str, int]:
    """The text of a block and how many lines have an anchor; each must name the line on which it stands."""
    if found := _plainly(html[start:end], first):
        return found
    parts: list[str] = []
    line = first
    anchors = 0
    for token in tokens(html, start, end):
        if token.lastgroup == "text":
            parts.append(unescape(token[0]) if "&" in token[0] else token[0])
            line += token[0].count("\n")
        elif token.lastgroup == "attributes" and token["attributes"]:
            given = attributes(token["attributes"])
            anchor = given.get("id")
            if token["name"].lower() not in _INLINE or not given.keys() <= _KEPT:
                raise Fault("display-mismatch", "A verbatim block holds text and line anchors only.")
            if anchor is not None and anchor != f"L{line}":
                raise Fault("place-mismatch", f"The anchor {anchor} stands on line {line}.")
            anchors += anchor is not None
        elif token.lastgroup not in ("attributes", "end"):
            raise Fault("display-mismatch", "A verbatim block holds text and line anchors only.")
    return "".join(parts), anchors


def _plainly(block: str, first: int) -> tuple[str, int] | None:
    """The same for a block of the usual shape, one anchored span a line; None where it has another."""
    code = _CODE.fullmatch(block)
    lines = [_LINE.fullmatch(line) for line in code[1].split("\n")] if code else [None]
    if any(line is None or line[1] != str(number) for number, line in enumerate(lines, first)):
        return None
    return unescape("\n".join(line[2] for line in lines if line)), len(lines)


def _first_difference(left: str, right: str) -> int:
    pairs = zip(left.split("\n"), right.split("\n"), strict=False)
    return next((index for index, (a, b) in enumerate(pairs) if a != b), 0)
