"""Faults of values: each digit of each cited number changed, and every digest with it."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from hashlib import sha1
from html import escape

from generator.record.payload import Payload
from generator.record.tree import Node
from generator.render.script import KNOWN, carried
from generator.selftest import exact
from generator.selftest.fault import Fault
from generator.selftest.mark import Mark
from generator.selftest.places import EXPRESSIONS, digest
from generator.selftest.workplace import SITE, Workplace

GIVEN_AWAY = frozenset({"payload-changed", "place-mismatch", "bad-payload", "unknown-field"})
"""What a digit that was changed with all its digests must not be refused for."""

LISTS = (KNOWN, "numbers.json")
"""Files of a site that state the digests of payloads beside the pages."""

_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")


@dataclass
class Cited:
    """A number of a payload, and the marks that rest on it."""

    payload: Payload
    node: Node
    numbers: list[Mark] = field(default_factory=list)
    derived: list[Mark] = field(default_factory=list)
    claims: list[Mark] = field(default_factory=list)


@dataclass(frozen=True)
class Change:
    """Another way to write a number, and the refusals that are due for it, by page."""

    lexeme: str
    due: Mapping[str, Counter[str]]


def digits(workplace: Workplace) -> Iterator[Fault]:
    """Every digit of every number that a page shows or compares, one at a time.

    The first digit of each payload is planted with all that states the digest of the payload: its copy,
    the list of checksums, every page; the first of each number with the pages that show it. For the others
    the shortest of these pages is judged: one refusal stops a site.

    Where only a comparison rests on a number, most digits make no difference: then another digit is
    tried, and a place at which none makes one is left out and counted.
    """
    cited = sorted(_cited(workplace).items())
    shown = [(pointer, each) for (_, pointer), each in cited if each.numbers or each.derived]
    compared = [(pointer, each) for (_, pointer), each in cited if not (each.numbers or each.derived)]
    for kind, numbers in (
        ("a digit of a number that is shown", shown),
        ("a digit of a number that is only compared", compared),
    ):
        stated: set[str] = set()
        for pointer, each in numbers:
            whole = each.payload.path not in stated
            stated.add(each.payload.path)
            yield from _digits(workplace, kind, pointer, each, whole=whole)


def _digits(workplace: Workplace, kind: str, pointer: str, cited: Cited, *, whole: bool) -> Iterator[Fault]:
    """The first digit with every file that states the digest, the others on the pages that are concerned."""
    first = True
    for index, digit in enumerate(cited.node.lexeme):
        if not digit.isdigit():
            continue
        change = next(_changes(workplace, pointer, cited, index), None)
        if change is None:
            workplace.left_out["digits on which nothing that is shown or claimed depends"] += 1
            continue
        everywhere = first and whole
        pages = list(change.due) if first else [min(change.due, key=lambda path: len(workplace.text(path)))]
        due = sum((change.due[path] for path in pages), Counter[str]())
        what = f"{pointer}: {cited.node.lexeme} → {change.lexeme}"
        restated = workplace.pages if everywhere else pages
        changes = partial(_restated, workplace, cited, change, restated, whole=everywhere)
        barred = _given_away(workplace, cited.payload.path, restated)
        yield Fault(kind, cited.payload.path, cited.node.line, what, due, changes, barred)
        first = False


def _given_away(workplace: Workplace, payload: str, pages: Iterable[str]) -> frozenset[str]:
    """What must not be refused; a figure that is drawn again stands elsewhere once its number differs."""
    stated = workplace.digest(payload)
    drawn = any(stated in workplace.text(path) for path in workplace.drawn.intersection(pages))
    return GIVEN_AWAY - {"place-mismatch"} if drawn else GIVEN_AWAY


def _cited(workplace: Workplace) -> dict[tuple[str, str], Cited]:
    """Every number on which a page rests, by path and pointer."""
    found: dict[tuple[str, str], Cited] = {}

    def cited(path: str, pointer: str) -> Cited:
        payload = workplace.record.payloads[path]
        return found.setdefault((path, pointer), Cited(payload, payload.at(pointer)))

    for mark in workplace.marks:
        if mark.is_leaf and not mark.is_text:
            cited(mark.attributes["data-src"], mark.attributes["data-ptr"]).numbers.append(mark)
        for name in EXPRESSIONS:
            tree = json.loads(mark.attributes.get(name, "[]"))
            for path, pointer in dict.fromkeys((leaf[0], leaf[1]) for leaf in exact.leaves(tree)):
                each = cited(path, pointer)
                (each.claims if name == "data-claim" else each.derived).append(mark)
    return found


def _changes(workplace: Workplace, pointer: str, cited: Cited, index: int) -> Iterator[Change]:
    """Other digits at one place of a number that make a difference to some page."""
    lexeme = cited.node.lexeme
    for step in range(1, 10):
        digit = str((int(lexeme[index]) + step) % 10)
        changed = lexeme[:index] + digit + lexeme[index + 1 :]
        if _NUMBER.fullmatch(changed):
            due = _due(workplace, pointer, cited, Fraction(changed))
            if due:
                yield Change(changed, due)


def _due(workplace: Workplace, pointer: str, cited: Cited, value: Fraction) -> dict[str, Counter[str]]:
    """What must be refused, by page, once the number has another value."""

    def read(path: str, where: str) -> Fraction:
        if (path, where) == (cited.payload.path, pointer):
            return value
        return Fraction(workplace.record.payloads[path].at(where).lexeme)

    due: dict[str, Counter[str]] = {}
    for mark in cited.numbers:
        due.setdefault(mark.path, Counter())["display-mismatch"] += 1
    try:
        for mark in cited.derived:
            result = exact.value(json.loads(mark.attributes["data-expression"]), read)
            if f"{result.numerator}/{result.denominator}" != mark.attributes["value"]:
                due.setdefault(mark.path, Counter())["display-mismatch"] += 1
        for mark in cited.claims:
            if not exact.holds(json.loads(mark.attributes["data-claim"]), read):
                due.setdefault(mark.path, Counter())["claim-false"] += 1
    except ZeroDivisionError:
        return {}
    return due


def _restated(
    workplace: Workplace, cited: Cited, change: Change, pages: Iterable[str], *, whole: bool
) -> dict[str, str]:
    """The number changed, and its new digest wherever the old one stood: on some pages, or everywhere."""
    payload, node = cited.payload, cited.node
    data = payload.data[: node.start] + change.lexeme.encode() + payload.data[node.end :]
    changed = data.decode("utf-8")
    changes = _listed(workplace, payload.path, changed) if whole else {payload.path: changed}
    digests = {workplace.digest(path): digest(text) for path, text in changes.items()}
    for path in pages:
        page = _page(workplace, path, payload.path, node.line, changed)
        page = _exchanged(page, digests)
        if page != workplace.text(path):
            changes[path] = page
    if whole:
        copies = {
            SITE + path: text for path, text in changes.items() if (workplace.root / SITE / path).exists()
        }
        changes |= copies | _beside(workplace, changes)
    return changes


def _beside(workplace: Workplace, changes: Mapping[str, str]) -> dict[str, str]:
    """The scripts that carry changed payloads, and the lists that state their digests."""
    payloads = {path: text for path, text in changes.items() if path in workplace.record.payloads}
    digests = {
        named(workplace.text(path)): named(text)
        for path, text in payloads.items()
        for named in (digest, _blob)
    }
    scripts = {f"{SITE}{path}.js": carried(path, text.encode()).decode() for path, text in payloads.items()}
    lists = [SITE + name for name in LISTS if (workplace.root / SITE / name).is_file()]
    return scripts | {path: _exchanged(workplace.text(path), digests) for path in lists}


def _blob(text: str) -> str:
    """The name that git gives a file with this text."""
    data = text.encode("utf-8")
    return sha1(b"blob %d\0" % len(data) + data).hexdigest()


def _listed(workplace: Workplace, payload: str, changed: str) -> dict[str, str]:
    """The payload and every file below payloads/ that states a digest which changes with it."""
    changes: dict[str, str] = {}
    further = {payload: changed}
    while further != changes:
        changes = further
        digests = {workplace.digest(path): digest(text) for path, text in changes.items()}
        restated = {path: _exchanged(workplace.text(path), digests) for path in workplace.evidence}
        further = {path: text for path, text in restated.items() if text != workplace.text(path)}
        further[payload] = changed
    return changes


def _exchanged(text: str, digests: Mapping[str, str]) -> str:
    """A text with new digests for old ones."""
    for old, new in digests.items():
        text = text.replace(old, new)
    return text


def _page(workplace: Workplace, path: str, payload: str, line: int, changed: str) -> str:
    """A page on which every block of the payload's lines shows the changed line."""
    page = workplace.text(path)
    blocks = [mark for mark in workplace.marks if mark.path == path and _shows(mark, payload, line)]
    old = escape(workplace.text(payload).split("\n")[line - 1], quote=False)
    new = escape(changed.split("\n")[line - 1], quote=False)
    for block in reversed(blocks):
        at = block.opened
        for _ in range(line - _lines(block)[0]):
            at = page.index("\n", at) + 1
        at = page.index(old, at)
        page = page[:at] + new + page[at + len(old) :]
    return page


def _shows(mark: Mark, payload: str, line: int) -> bool:
    """Whether a mark is a block that shows this line of the payload."""
    if mark.attributes.get("data-verbatim", "").partition("#")[0] != payload:
        return False
    first, last = _lines(mark)
    return first <= line <= last


def _lines(mark: Mark) -> tuple[int, int]:
    first, last = re.findall(r"L([0-9]+)", mark.attributes["data-verbatim"].rpartition("#")[2])
    return int(first), int(last)
