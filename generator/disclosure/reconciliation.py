"""Every experiment of the engine's list is published, unrun with a reason, or withheld with a reason."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from generator.disclosure import deviations
from generator.record import experiments
from generator.record.experiments import Experiment
from generator.record.record import Record
from generator.record.source import Source
from generator.report.refusal import Refusal

KINDS = ("unrun", "withheld")
"""What an experiment can be instead of published."""


@dataclass(frozen=True)
class Entry:
    """An experiment that is not published, and why."""

    source: Source
    name: str
    reason: str

    def refusal(self, code: str, message: str) -> Refusal:
        """A refusal at the name of the entry."""
        place = self.source.place(f"experiments.{self.name}:key")
        return Refusal(self.source.path, *place, code, self.name, message)


def entries(record: Record, kind: str) -> tuple[Entry, ...]:
    """The experiments that were not run, or that are withheld."""
    source = record.disclosure(kind)
    listed = source.front.get("experiments") if source else None
    if source is None or not isinstance(listed, dict):
        return ()
    return tuple(Entry(source, str(name), str(reason)) for name, reason in listed.items())


def faults(record: Record) -> Iterator[Refusal]:
    """Everything in which the record and the list of experiments do not agree."""
    for source in record.disclosures:
        yield from _lines(source)
    yield from deviations.faults(record)
    said = [entry for kind in KINDS for entry in entries(record, kind)]
    yield from _unknown(record, said)
    for each in record.experiments.rows if record.experiments else ():
        yield from _accounted(record, each, [entry for entry in said if entry.name == each.name])


def _unknown(record: Record, said: list[Entry]) -> Iterator[Refusal]:
    """Entries of experiments that the list does not have, or where there is no list."""
    if record.experiments is None and (record.root / experiments.PATH).exists():
        return
    known = record.experiments.by_name if record.experiments else {}
    there = f"It has: {', '.join(known)}." if known else "There is no such list."
    for entry in said:
        if entry.name not in known:
            message = f"{experiments.PATH} has no experiment {entry.name}. {there}"
            yield entry.refusal("unknown-id", message)


def _accounted(record: Record, experiment: Experiment, said: list[Entry]) -> Iterator[Refusal]:
    """One experiment is in exactly one of the three states."""
    there = [path for path in experiment.payloads if path in record.payloads]
    cited = any(each.kind == "finding" for path in there for each in record.citing(path))
    for entry in said[1:]:
        message = f"{entry.name} stands in {said[0].source.path} as well. It is one or the other."
        yield entry.refusal("duplicate-id", message)
    for entry in said if there else ():
        message = f"{entry.name} has a payload here, {there[0]}. Publish it, or take the payload out."
        yield entry.refusal("duplicate-id", message)
    if not said and not (cited and len(there) == len(experiment.payloads)):
        message = (
            f"{experiment.name} {_lack(experiment, there)}. Publish it, or say why not in findings/UNRUN.md "
            "or findings/WITHHELD.md."
        )
        yield Refusal(experiments.PATH, *experiment.place, "unaccounted", experiment.name, message)


def _lack(experiment: Experiment, there: list[str]) -> str:
    """Why an experiment is not published."""
    missing = [path for path in experiment.payloads if path not in there]
    if missing:
        return f"lacks {missing[0]}"
    return "is cited by no finding" if there else "makes no payload yet"


def _lines(source: Source) -> Iterator[Refusal]:
    """Each entry begins on a line of its own, so that a change of one shows as such."""
    key = "deviations" if source.kind == "deviations" else "experiments"
    listed = source.front.get(key)
    names = [f"{key}.{name}:key" for name in listed] if isinstance(listed, dict) else []
    if isinstance(listed, list):
        names = [f"{key}.{index}.date:key" for index in range(len(listed))]
    above = source.place(f"{key}:key")[0]
    for name in names:
        line, column = source.place(name)
        if line == above:
            message = "Each entry begins on a line of its own."
            yield Refusal(source.path, line, column, "bad-front-matter", "", message)
        above = line
