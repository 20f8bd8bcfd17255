"""Proves that every erratum stands beside what it corrects, wherever a reader meets it.

A note is an aside below the paragraph, the heading or the table in which a statement, a number or a claim
ends. Between the two there is the rest of that block, and there may be other notes; nothing else begins
there. Titles, conditions, outcomes and bars have no such place: there the entry of a list names the erratum,
and the header of a finding or the section of a kill criterion gives it with its reason.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from html import unescape

from generator.audit.erratum import Corrections, Erratum, Field
from generator.audit.fault import Placed
from generator.audit.tokens import BLOCKS, Malformed, attributes, tokens

CODE = "bad-erratum"

_ROWS = frozenset({"td", "th", "tr", "tbody", "thead", "table"})
_VOID = frozenset({"br", "hr", "img", "input", "link", "meta", "source", "wbr", "base", "col", "area"})
_TELLING = re.compile(r"(?:errata|errata-pass|changes)\.html|payloads/.*")
"""Pages that tell of the corrections themselves, or show a payload with the history of its values."""

_OWN = frozenset({"erratum-note", "correction", "effects"})
_QUOTED = re.compile(r"/(?:name|question|schema)|/provenance/.*")
"""What lists and headers say of a payload; what is corrected of it stands on the payload's own page."""

_LEAF = re.compile(r'\["(payloads/[^"\\]+\.json)","((?:[^"\\]|\\.)*)","[0-9a-f]{64}"\]')
_CORRECTION = re.compile(r'<div class="correction"[^<>]*>\s*<p[^<>]*>\s*<a\b[^<>]*>(E-[0-9]+)</a>')
_NAMED = re.compile(r">(E-[0-9]+)</a>")


@dataclass
class _Frame:
    """An open element that matters: what it is, where it begins, and how far a section has come."""

    tag: str
    kind: str
    start: int
    body: bool = False


@dataclass(frozen=True)
class _Mark:
    """A number or a claim: its place, its end, what it rests on, and what it stands in."""

    start: int
    end: int
    fields: tuple[Field, ...]
    frame: _Frame | None
    statement: int


@dataclass(frozen=True)
class _Due:
    """A note that has to stand beside a statement, or beside a number or claim outside any."""

    erratum: Erratum
    start: int
    what: str
    end: int = 0


@dataclass
class _Notes:
    """The notes below a place: where they begin, and their texts by the errata they name."""

    start: int
    told: dict[str, list[str]]


def judge(page: str, html: str, errata: Mapping[str, Erratum], corrections: Corrections) -> Iterator[Placed]:
    """The notes that a page lacks, or has elsewhere than beside what they correct."""
    if not errata or _TELLING.fullmatch(page):
        return
    finding = page.removeprefix("findings/").removesuffix(".html") if page.startswith("findings/") else ""
    own = [each for each in errata.values() if finding and each.finding == finding]
    if not own and not any(path in html for path in corrections.paths):
        return
    try:
        statements, marks = _walk(html)
        due = [*_own(own, statements), *_all(html, errata, corrections, marks)]
        yield from _settled(html, due)
    except Malformed:
        return  # refused where the page is read


def _own(own: list[Erratum], statements: Mapping[str, int]) -> Iterator[_Due | Placed]:
    """The statements of a finding that errata name."""
    for each in own:
        if not each.worded and (each.old is None or each.new is None):
            yield Placed(0, CODE, f"The fields of {each.name} cannot be read again from its source.")
        if each.statement not in statements:
            message = f'The page has no statement "{each.statement}", which {each.name} corrects.'
            yield Placed(0, CODE, message)
        else:
            yield _Due(each, statements[each.statement], "statement")


def _all(
    html: str, errata: Mapping[str, Erratum], corrections: Corrections, marks: list[_Mark]
) -> Iterator[_Due | Placed]:
    """What is due for every number and claim that rests on a corrected field."""
    framed: set[tuple[int, str]] = set()
    for mark in marks:
        for name in dict.fromkeys(name for field in mark.fields for name in corrections.of(field)):
            if mark.frame is None and mark.statement < 0:
                yield _Due(errata[name], mark.start, "number", mark.end)
            elif mark.frame is None:
                yield _Due(errata[name], mark.statement, "statement")
            elif (mark.frame.start, name) not in framed:
                framed.add((mark.frame.start, name))
                yield from _framed(html, errata[name], mark.frame)


def _settled(html: str, due: list[_Due | Placed]) -> Iterator[Placed]:
    """The faults, and what is due and is not there; statements that share a block have a note each."""
    shared: dict[tuple[int, str], set[int]] = {}
    for each in dict.fromkeys(due):
        if isinstance(each, Placed):
            yield each
            continue
        notes = _beside(html, each.end or _end(html, each.start))
        right = [text for text in notes.told.get(each.erratum.name, ()) if _reasoned(each.erratum, text)]
        units = shared.setdefault((notes.start, each.erratum.name), set())
        units.add(-1 if each.end else each.start)
        if len(right) < len(units):
            what = "does not give its reason" if notes.told.get(each.erratum.name) else "is not beside it"
            message = f"{each.erratum.name} corrects this {each.what}, and its note {what}."
            yield Placed(each.start, CODE, message)


def _reasoned(erratum: Erratum, text: str) -> bool:
    return " ".join(erratum.reason.split()) in text


def _framed(html: str, erratum: Erratum, frame: _Frame) -> Iterator[Placed]:
    """An entry has to name an erratum, a header or a section has to give it with its reason."""
    inner = html[frame.start : _end(html, frame.start)]
    if frame.kind == "entry":
        if erratum.name not in _NAMED.findall(inner):
            message = f"{erratum.name} corrects what this entry shows, and the entry does not name it."
            yield Placed(frame.start, CODE, message)
        return
    given = {found[1]: _text(inner, found.start()) for found in _CORRECTION.finditer(inner)}
    if erratum.name not in given or not _reasoned(erratum, given[erratum.name]):
        message = f"{erratum.name} corrects what stands here, and it is not given here with its reason."
        yield Placed(frame.start, CODE, message)


def _walk(html: str) -> tuple[dict[str, int], list[_Mark]]:
    """Where the statements of a page begin, and every mark outside the notes themselves."""
    stack, statements, marks = list[_Frame](), dict[str, int](), list[_Mark]()
    for token in tokens(html):
        if token.lastgroup == "end":
            _close(stack, token["end"].lower())
        elif token.lastgroup == "attributes" and (name := token["name"].lower()) not in _VOID:
            written = token["attributes"]
            given = attributes(written) if "class" in written or "data-" in written else {}
            if "data-statement" in given:
                statements.setdefault(given["data-statement"], token.start())
            stack.append(_Frame(name, _kind(given), token.start()))
            if fields := tuple(_fields(given)):
                marks += _marked(stack, token, fields)
            if "rule" in given.get("class", "").split() and (section := _last(stack, "section")):
                section.body = False
    return statements, marks


def _close(stack: list[_Frame], tag: str) -> None:
    """Leave an element, and what was left open in it; below its heading begins the body of a section."""
    at = next((index for index in reversed(range(len(stack))) if stack[index].tag == tag), None)
    if at is None:
        return
    del stack[at:]
    if tag == "h2" and stack and stack[-1].kind == "section":
        stack[-1].body = True


def _kind(given: Mapping[str, str]) -> str:
    classes = set(given.get("class", "").split())
    if classes & _OWN:
        return "note"
    if "data-statement" in given:
        return "statement"
    named = {"entry": "entry", "finding-header": "header", "collected": "section"}
    return next((kind for name, kind in named.items() if name in classes), "")


def _last(stack: list[_Frame], kind: str) -> _Frame | None:
    return next((each for each in reversed(stack) if each.kind == kind), None)


def _fields(given: Mapping[str, str]) -> Iterator[Field]:
    """What a mark rests on; the name of a field says nothing of its value."""
    if "data-ptr" in given and given.get("data-format") != "key":
        yield given.get("data-src", ""), given["data-ptr"]
    for name in ("data-expression", "data-claim"):
        for path, pointer in _LEAF.findall(given.get(name, "")):
            yield path, json.loads(f'"{pointer}"')


def _marked(stack: list[_Frame], token: re.Match[str], fields: tuple[Field, ...]) -> Iterator[_Mark]:
    """The mark that opens there, unless it is one of a note."""
    if any(each.kind == "note" for each in stack):
        return
    statement = _last(stack, "statement")
    frame = _last(stack, "entry") or _last(stack, "header")
    section = _last(stack, "section")
    frame = frame or (section if section and not section.body else None)
    if not statement and all(_QUOTED.fullmatch(pointer) for _, pointer in fields):
        return
    yield _Mark(token.start(), token.end(), fields, frame, statement.start if statement else -1)


def _end(html: str, start: int) -> int:
    """Where the element that begins there ends."""
    depth, element = 0, ""
    for token in tokens(html, start):
        if token.lastgroup == "attributes":
            name = token["name"].lower()
            element = element or name
            depth += name == element
        elif token.lastgroup == "end" and token["end"].lower() == element:
            depth -= 1
            if depth == 0:
                return token.end()
    raise Malformed(start, "The element has no end.")


def _text(html: str, start: int) -> str:
    """The words of the element that begins there."""
    found = (token[0] for token in tokens(html, start, _end(html, start)) if token.lastgroup == "text")
    return " ".join(unescape("".join(found)).split())


def _beside(html: str, start: int) -> _Notes:
    """The notes that follow a place before any other block begins."""
    notes = _Notes(-1, {})
    text, table, note = "", _is_in_table(html, start), False
    for token in tokens(html, start):
        name = (token["name"] or token["end"] or "").lower()
        if token.lastgroup == "text" and note:
            text += unescape(token[0])
        elif name == "aside":
            note = token.lastgroup == "attributes" and "erratum-note" in token["attributes"]
            if note:
                notes.start = notes.start if notes.start >= 0 else token.start()
            else:
                words, text = " ".join(text.split()), ""
                notes.told.setdefault(words.partition(" ")[0], []).append(words)
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
