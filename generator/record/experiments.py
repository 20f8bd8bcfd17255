"""The engine's own list of experiments, against which the record says what it does not publish."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from generator.record import document, envelope
from generator.record.document import Document
from generator.record.front_matter import Place
from generator.record.tree import Node
from generator.report.refusal import Refusal, Refused

PATH = "payloads/experiments.json"


@dataclass(frozen=True)
class Experiment:
    """One experiment: the record it belongs to, what it asks, built or planned, and its payloads by path."""

    name: str
    record: str
    question: str
    state: str
    payloads: tuple[str, ...]
    place: Place


@dataclass(frozen=True)
class Experiments:
    """The list, and the document that it was read from."""

    document: Document
    rows: tuple[Experiment, ...]

    @cached_property
    def by_name(self) -> dict[str, Experiment]:
        return {each.name: each for each in self.rows}

    @property
    def records(self) -> tuple[str, ...]:
        """The records that the experiments belong to, in the order of the list."""
        return tuple(dict.fromkeys(each.record for each in self.rows))

    @property
    def shown(self) -> Iterator[tuple[str, int, int, str]]:
        """Path, line, column and text of everything in the list that a page prints."""
        for node in self.document.at("/experiments").items:
            for key in ("name", "record", "question"):
                value = node.members[key]
                yield PATH, value.line, value.column + 1, value.text


def read(root: Path) -> Experiments | None:
    """The list of a record, None where it has none; raises Refused with the place of what is wrong."""
    if not (root / PATH).exists():
        return None
    found = document.read(root, PATH, (envelope.EXPERIMENTS,))
    rows = [_row(node) for node in found.at("/experiments").items]
    refusals = list(_twice(rows))
    if refusals:
        raise Refused(refusals)
    return Experiments(found, tuple(rows))


def _row(node: Node) -> Experiment:
    name = node.members["name"]
    texts = {key: node.members[key].text for key in ("name", "record", "question", "state")}
    payloads = tuple(each.text for each in node.members["payloads"].items)
    return Experiment(**texts, payloads=payloads, place=(name.line, name.column + 1))


def _twice(rows: list[Experiment]) -> Iterator[Refusal]:
    """An experiment is listed once, and a payload is made by one of them."""
    seen: dict[str, str] = {}
    for each in rows:
        for what in (each.name, *each.payloads):
            if what in seen:
                message = f"{what} is listed already, under {seen[what]}."
                yield Refusal(PATH, *each.place, "duplicate-id", what, message)
            seen.setdefault(what, each.name)
