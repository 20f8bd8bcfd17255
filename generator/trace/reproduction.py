"""Runs the command behind a payload again, in a folder that is thrown away, and compares value by value."""

from __future__ import annotations

import shlex
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Literal, get_args

from generator.number.evaluate import Evaluation
from generator.record import payload as payloads
from generator.record.payload import Payload
from generator.record.record import Record
from generator.record.tree import Node
from generator.trace import origin, program
from generator.trace.address import InPayload, children, resolve
from generator.trace.explanation import part, places
from generator.trace.program import NotRun

Verdict = Literal["equal", "within the interval", "left out", "differs", "outside the interval", "absent"]

GOOD = frozenset({"equal", "within the interval", "left out"})

_ORIGIN = {
    "versions": "/provenance/versions",
    "weights": "/provenance/models",
    "inputs": "/provenance/inputs",
    "configuration": "/config",
}


@dataclass(frozen=True)
class Value:
    """One number of a payload, committed and made again."""

    path: str
    pointer: str
    committed: str
    reproduced: str
    verdict: Verdict

    def __str__(self) -> str:
        return f"{self.path}#{self.pointer}: {self.committed} → {self.reproduced}: {self.verdict}"


@dataclass(frozen=True)
class Outcome:
    """A payload made again: what of its origin is different, what is cited of it, and all its values."""

    path: str
    different: tuple[str, ...]
    cited: tuple[Value, ...]
    values: tuple[Value, ...]

    @property
    def good(self) -> bool:
        return all(each.verdict in GOOD for each in (*self.cited, *self.values))


Cited = Mapping[str, list[str]]
"""The pointers that a reference is about, by payload."""


def cited(record: Record, evaluations: Mapping[str, Evaluation], reference: str) -> Cited:
    """Payloads behind a finding or a statement, or one payload, with the fields to show; raises Unknown."""
    target = resolve(record, reference)
    if isinstance(target, InPayload):
        path = target.payload.path
        own = list(target.pointers)
        found = [(path, each) for each in own] if own else _cited_of(evaluations, path)
        return _grouped([(path, ""), *found])
    evaluation = evaluations[target.path]
    pieces, _ = part(evaluation, target)
    behind = list(places(pieces))
    if not target.anchor:
        behind += [(leaf.payload.path, leaf.pointer) for leaf in evaluation.citations]
    return _grouped(behind)


def _cited_of(evaluations: Mapping[str, Evaluation], path: str) -> list[tuple[str, str]]:
    leaves = (leaf for each in evaluations.values() for leaf in each.citations)
    return [(path, leaf.pointer) for leaf in leaves if leaf.payload.path == path]


def _grouped(behind: list[tuple[str, str]]) -> dict[str, list[str]]:
    grouped: dict[str, list[str]] = {}
    for path, pointer in dict.fromkeys(behind):
        grouped.setdefault(path, []).extend([pointer] if pointer else [])
    return grouped


def reproduce(record: Record, wanted: Cited, say: Callable[[str], None]) -> list[Outcome]:
    """Run every command once and compare what it made.

    say is told what is about to happen. Raises NotRun where nothing can be run or a command fails, and
    Refused where what was made cannot be read.
    """
    commands: dict[tuple[str, ...], list[str]] = {}
    for path in wanted:
        words = tuple(origin.command(record.payloads[path]))
        if words:
            commands.setdefault(words, []).append(path)
        else:
            say(f"{path} names no command that made it; there is nothing to run.")
    if not commands:
        raise NotRun("Nothing here was made by a command.")
    programs = {words: program.find(record.root, words[0]) for words in commands}
    outcomes: list[Outcome] = []
    for words, paths in commands.items():
        outcomes += _again(record, programs[words], list(words), {path: wanted[path] for path in paths}, say)
    return outcomes


def _again(
    record: Record, found: str, words: list[str], wanted: Cited, say: Callable[[str], None]
) -> Iterator[Outcome]:
    """Run one command and compare the payloads that are asked for."""
    minutes = program.minutes(found, words)
    about = "" if minutes is None else f", about {minutes:g} min by its own estimate"
    say(f"Running {shlex.join(words)}{about}.")
    with tempfile.TemporaryDirectory(prefix="findings-", ignore_cleanup_errors=True) as name:
        folder = Path(name).resolve()
        program.run(found, words, folder)
        for path, pointers in wanted.items():
            if not (folder / path).is_file():
                raise NotRun(f"{shlex.join(words)} ended well and did not make {path}.")
            yield compare(record.payloads[path], payloads.read(folder, path), pointers)


def compare(committed: Payload, made: Payload, pointers: list[str]) -> Outcome:
    """Judge every number of the results, and every field that is asked for."""
    different = tuple(
        name for name, each in _ORIGIN.items() if _written(committed, each) != _written(made, each)
    )
    same = not different
    results = dict.fromkeys([*_numbers(committed), *_numbers(made)])
    values = tuple(_value(committed, made, each, same) for each in results)
    fields = [each for each in pointers if not each.startswith(("/provenance", "/schema"))]
    shown = tuple(_value(committed, made, each, same) for each in fields)
    return Outcome(committed.path, different, shown, values)


def _value(committed: Payload, made: Payload, pointer: str, same: bool) -> Value:
    old, new = origin.at(committed, pointer), origin.at(made, pointer)
    was, now = (node.lexeme if node else "absent" for node in (old, new))
    return Value(committed.path, pointer, was, now, _judge(committed, made, pointer, same))


def _judge(committed: Payload, made: Payload, pointer: str, same: bool) -> Verdict:
    """Exact where the origin is the same; else an estimate is judged by its value, bounds with it."""
    owner = origin.owner(committed, pointer)
    old, new = origin.at(committed, pointer), origin.at(made, pointer)
    if owner and "machine" in owner.members and owner.members["machine"].kind == "true":
        return "left out"
    if old is None or new is None:
        return "absent"
    if _equal(old, new):
        return "equal"
    again = origin.owner(made, pointer)
    if same or owner is None or again is None or not {"low", "high"} <= owner.members.keys():
        return "differs"
    low, value, high = (Fraction(each.lexeme) for each in _bounds(owner, again))
    return "within the interval" if low <= value <= high else "outside the interval"


def _bounds(owner: Node, again: Node) -> tuple[Node, Node, Node]:
    return owner.members["low"], again.members["value"], owner.members["high"]


def _equal(old: Node, new: Node) -> bool:
    if old.kind == new.kind == "number":
        return Fraction(old.lexeme) == Fraction(new.lexeme)
    return old.lexeme == new.lexeme


def _written(payload: Payload, pointer: str) -> str:
    node = origin.at(payload, pointer)
    return "".join(node.lexeme.split()) if node else ""


def _numbers(payload: Payload) -> Iterator[str]:
    """The pointers of all numbers in the results, in the order of the file."""
    root = origin.at(payload, "/results")
    stack = [("/results", root)] if root else []
    while stack:
        pointer, node = stack.pop()
        if node.kind == "number":
            yield pointer
        stack.extend(reversed(list(children(pointer, node))))


def report(outcomes: list[Outcome]) -> Iterator[str]:
    """One line a cited number, then one a payload with the rule that it was held to."""
    for outcome in outcomes:
        yield from (str(each) for each in outcome.cited)
        bad = [each for each in outcome.values if each.verdict not in GOOD and each not in outcome.cited]
        yield from (str(each) for each in bad)
    for outcome in outcomes:
        counted = Counter(each.verdict for each in outcome.values)
        counts = ", ".join(f"{counted[each]} {each}" for each in get_args(Verdict) if counted[each])
        rule = "same weights, versions, inputs and configuration: equal is wanted"
        if outcome.different:
            rule = f"different {', '.join(outcome.different)}: within the committed interval is wanted"
        judged = "reproduced" if outcome.good else "NOT reproduced"
        yield f"{judged} {outcome.path}: of {len(outcome.values)} numbers {counts or 'none'} ({rule})"
