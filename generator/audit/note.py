"""Proves that every erratum stands beside the statement that it corrects, where a reader meets it.

A note is an aside below the paragraph, the heading or the table in which the statement ends. Between the
two there is the rest of that block, and there may be other notes; nothing else begins there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from html import unescape

from generator.audit.fault import Placed
from generator.audit.tokens import BLOCKS, Malformed, attributes, tokens

CODE = "bad-erratum"

_STATEMENT = re.compile(r"<(span|div)\b[^<>]*\bdata-statement\b[^<>]*>", re.IGNORECASE)
_ALIAS = re.compile(r"(?:^|[{,])\s*[\"']?(\w+)[\"']?\s*:\s*[\"']?(payloads/[^\s\"',}#]+\.json)", re.MULTILINE)
_FIELD = re.compile(r"\s*([A-Za-z_]\w*)((?:\s*(?:\.\s*\w+|\[\s*(?:\"[^\"]*\"|'[^']*')\s*\]))+)")
_KEY = re.compile(r"\.\s*(\w+)|\[\s*[\"']([^\"']*)[\"']\s*\]")
_ROWS = frozenset({"td", "th", "tr", "tbody", "thead", "table"})


@dataclass(frozen=True)
class Erratum:
    """One erratum as its source says it: what it corrects, why, and the field that should read otherwise."""

    name: str
    finding: str
    statement: str
    reason: str
    field: tuple[str, str] | None

    def touches(self, given: Mapping[str, str]) -> bool:
        """Whether a mark prints the corrected field, or a part of the corrected estimate."""
        if self.field is None:
            return False
        pointer = given.get("data-ptr", "")
        return given.get("data-src") == self.field[0] and f"{pointer}/".startswith(f"{self.field[1]}/")


def read(front: Mapping[str, str], payloads: str) -> Erratum:
    """An erratum from the scalars of its front matter and the lines of its payloads."""
    paths = aliases(payloads)
    named = _FIELD.match(front.get("old", ""))
    keys = [key or quoted for key, quoted in _KEY.findall(named[2])] if named else []
    known = named is not None and named[1] in paths
    field = (paths[named[1]], "".join(f"/{key}" for key in keys)) if named and known else None
    plain = front.get("reason", "") if not re.search(r"\\|''", front.get("reason", "")) else ""
    return Erratum(front.get("id", ""), front.get("finding", ""), front.get("statement", ""), plain, field)


def aliases(payloads: str) -> dict[str, str]:
    """Paths by alias, from the lines below the payloads of a front matter."""
    return dict(_ALIAS.findall(payloads))


def judge(page: str, html: str, errata: Mapping[str, Erratum]) -> Iterator[Placed]:
    """The notes that a page of a finding lacks, or has elsewhere than beside their statements."""
    finding = page.removeprefix("findings/").removesuffix(".html")
    if not page.startswith("findings/") or not errata:
        return
    found: set[str] = set()
    for start in _STATEMENT.finditer(html):
        given = attributes(start[0][len(start[1]) + 1 : -1])
        name = given.get("data-statement", "")
        try:
            end, marks = _inside(html, start.start())
            wanted = [each for each in errata.values() if _is_due(each, finding, name, marks)]
            notes = _beside(html, end) if wanted else {}
        except Malformed:
            return  # refused where the page is read
        found.update(each.name for each in wanted if (each.finding, each.statement) == (finding, name))
        for each in wanted:
            yield from _missing(each, notes, start.start())
    for each in errata.values():
        if each.finding == finding and each.name not in found:
            message = f'The page has no statement "{each.statement}", which {each.name} corrects.'
            yield Placed(0, CODE, message)


def _is_due(erratum: Erratum, finding: str, statement: str, marks: list[Mapping[str, str]]) -> bool:
    own = (erratum.finding, erratum.statement) == (finding, statement)
    return own or any(erratum.touches(each) for each in marks)


def _missing(erratum: Erratum, notes: Mapping[str, str], offset: int) -> Iterator[Placed]:
    if erratum.name not in notes:
        yield Placed(offset, CODE, f"{erratum.name} corrects this statement, and its note is not beside it.")
    elif " ".join(erratum.reason.split()) not in notes[erratum.name]:
        yield Placed(
            offset, CODE, f"The note of {erratum.name} beside this statement does not give its reason."
        )


def _inside(html: str, start: int) -> tuple[int, list[Mapping[str, str]]]:
    """Where the element that begins there ends, and the marks in it."""
    depth, element, marks = 0, "", list[Mapping[str, str]]()
    for token in tokens(html, start):
        if token.lastgroup == "attributes":
            name = token["name"].lower()
            element = element or name
            depth += name == element
            if name == "data":
                marks.append(attributes(token["attributes"]))
        elif token.lastgroup == "end" and token["end"].lower() == element:
            depth -= 1
            if depth == 0:
                return token.end(), marks
    raise Malformed(start, "The statement has no end.")


def _beside(html: str, start: int) -> dict[str, str]:
    """The notes that follow a place before any other block begins: their texts by the errata they name."""
    notes: dict[str, str] = {}
    text, table, note = "", _is_in_table(html, start), False
    for token in tokens(html, start):
        name = (token["name"] or token["end"] or "").lower()
        if token.lastgroup == "text" and note:
            text += unescape(token[0])
        elif name == "aside":
            note = token.lastgroup == "attributes" and "erratum-note" in token["attributes"]
            if not note:
                words = " ".join(text.split())
                notes[words.partition(" ")[0]] = words
                text = ""
        elif name == "table" and token.lastgroup == "end":
            table = False
        elif (
            token.lastgroup == "attributes" and not note and name in BLOCKS and not (table and name in _ROWS)
        ):
            break
    return notes


def _is_in_table(html: str, at: int) -> bool:
    """Whether a place stands inside a table."""
    return html.rfind("<table", 0, at) > html.rfind("</table", 0, at)
