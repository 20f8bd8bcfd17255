"""A record as it was saved, and what would stand against one of its sources as an editor holds it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from generator.errata import effects
from generator.gate import source as gate
from generator.gate import verdict
from generator.ledger import frozen
from generator.ledger import line as ledger
from generator.number.evaluate import Evaluation, evaluate
from generator.record import record as records
from generator.record import source as sources
from generator.record.record import Record
from generator.record.source import Source
from generator.render import site
from generator.render.tally import Tally, count
from generator.report.refusal import Refusal, Refused, Report

UNSEEN = frozenset({"untracked-source", "unused-term"})
"""Codes that no editor shows: a text that is being written differs from its commit, and names come and go."""


@dataclass(frozen=True)
class Desk:
    """A record with its sources evaluated, and the report that `findings check` makes of it."""

    record: Record
    evaluations: dict[str, Evaluation]
    report: Report

    @cached_property
    def tally(self) -> Tally:
        """The numbers that the generator itself makes."""
        evaluations = self.evaluations.values()
        return count(self.record, evaluations, effects.trace(self.record.payloads, evaluations))


def read(root: Path) -> Desk:
    """Read and judge everything below a root."""
    record, evaluations = site.gather(root)
    return Desk(record, evaluations, site.judge(record, evaluations))


def saved(desk: Desk, path: str) -> Report:
    """What stands against a file as it was saved."""
    return Report(_seen(desk.report.refusals, path), _seen(desk.report.warnings, path))


def source(desk: Desk, path: str, text: str) -> Source | None:
    """The source that a text would be; as it was saved where its front matter cannot be read."""
    try:
        return sources.parse(path, text)
    except Refused:
        return desk.evaluations[path].source if path in desk.evaluations else None


def typed(desk: Desk, path: str, text: str) -> Report:
    """What stands against a text at a path, as `findings check` would say of the file.

    The other sources count as they were saved. What only the critic, the history of the ledger or the list of
    experiments shows is told once the file is saved.
    """
    try:
        changed = sources.parse(path, text)
    except Refused as refused:
        return Report(list(refused.refusals))
    record = records.revised(desk.record, changed)
    evaluation = evaluate(record, changed)
    report = gate.check_sources([changed], record.terms, record.ids)
    told = {each.path for each in record.refusals} | {each.text for each in record.refusals}
    refusals = [each for each in evaluation.refusals if not site.follows(each, told)]
    refusals += site.further(report.refusals, [evaluation])
    evaluations = {**desk.evaluations, path: evaluation}
    refusals += [*record.refusals, *site.reserved(record), *verdict.faults(evaluations.values())]
    refusals += [*site.corrected(record, evaluations), *_frozen(desk.record.root, path, text)]
    seen = _seen(refusals, path)
    if path in frozen.of_older_gate(record.root):
        own = set(report.refusals)
        warnings = [*report.warnings, *(each for each in seen if each in own)]
        return Report([each for each in seen if each not in own], _seen(warnings, path))
    return Report(seen, _seen(report.warnings, path))


def _seen(refusals: list[Refusal], path: str) -> list[Refusal]:
    """Those of one file that an editor shows, each once, in order."""
    return sorted({each for each in refusals if each.path == path and each.code not in UNSEEN})


def _frozen(root: Path, path: str, text: str) -> Iterator[Refusal]:
    """A registered text that is being changed, at the first line that differs from the file."""
    found = ledger.parse(ledger.text(root)).of(path)
    if found is None or ledger.digest(text.encode()) == found[1].source:
        return
    file = root / path
    was = file.read_bytes().decode("utf-8", "replace") if file.is_file() else ""
    pairs = zip(was.split("\n"), text.split("\n"), strict=False)
    line = next((at for at, (one, other) in enumerate(pairs, 1) if one != other), 1)
    message = f"{found[1].id} is registered and may not change. Restore it; a correction is an erratum."
    yield Refusal(path, line, 1, ledger.CODE, "", message)
