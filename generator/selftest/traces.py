"""Faults of traces: numbers without their marks, and pointers that are not the number's."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial

from generator.record.pointer import unparse
from generator.record.tree import Node, grow
from generator.selftest.fault import Fault
from generator.selftest.mark import Mark
from generator.selftest.workplace import Workplace

_NUMERAL = re.compile("[0-9a-f]*[0-9][0-9a-f.,-]*")
"""A count, a date, a version or a digest."""


def on_page(kind: str, mark: Mark, what: str, code: str, page: Callable[[], str]) -> Fault:
    """A fault at a mark, which leaves its page as it is made."""
    return Fault(kind, mark.path, mark.line, what, {code: 1}, lambda: {mark.path: page()})


def typed(workplace: Workplace) -> Iterator[Fault]:
    """Every bound number replaced by its own correct text; bound names and quoted texts are no numbers."""
    for mark in workplace.marks:
        if not mark.is_shown or mark.is_text:
            continue
        if "data-computed" in mark.attributes and not _NUMERAL.fullmatch(mark.text):
            workplace.left_out["computed marks that show a name"] += 1
            continue
        code = "untraced-word" if mark.attributes.get("data-format") == "words" else "untraced-number"
        yield on_page("a number typed by hand", mark, mark.text, code, mark.typed)


def pointers(workplace: Workplace) -> Iterator[Fault]:
    """Every pointer exchanged for that of the nearest equal value of the same payload."""
    files = [path for path in workplace.evidence if path.endswith(".json")]
    equal = {path: _equals(grow(workplace.text(path).encode())) for path in files}
    for mark in workplace.marks:
        if not mark.is_leaf:
            continue
        path, pointer = mark.attributes["data-src"], mark.attributes["data-ptr"]
        line = int(mark.attributes["data-line"])
        others = [each for each in equal[path](pointer) if each[1] != pointer]
        if not others:
            workplace.left_out["pointers without an equal neighbour"] += 1
            continue
        other = min(others, key=lambda each: (abs(each[0] - line), each[1]))[1]
        page = partial(mark.changed, "data-ptr", other)
        yield on_page("a pointer to an equal neighbour", mark, f"{pointer} → {other}", "place-mismatch", page)


def _equals(root: Node) -> Callable[[str], list[tuple[int, str]]]:
    """From the pointer of a value to line and pointer of every value that is written the same."""
    places: dict[tuple[str, str], list[tuple[int, str]]] = {}
    written: dict[str, tuple[str, str]] = {}
    waiting: list[tuple[tuple[str, ...], Node]] = [((), root)]
    while waiting:
        tokens, node = waiting.pop()
        waiting.extend(((*tokens, key), each) for key, each in node.members.items())
        waiting.extend(((*tokens, str(index)), each) for index, each in enumerate(node.items))
        if node.kind in ("number", "string"):
            pointer, key = unparse(tokens), (node.kind, node.lexeme)
            places.setdefault(key, []).append((node.line, pointer))
            written[pointer] = key
    return lambda pointer: places[written[pointer]]
