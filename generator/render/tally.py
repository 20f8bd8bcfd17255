"""The numbers that the generator itself makes, by name of the rule that gives each."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from generator.disclosure import deviations, reconciliation
from generator.errata import rulings
from generator.errata.effects import Traced
from generator.number.claim import FIRED, NOT_FIRED, UNTESTED
from generator.number.evaluate import Evaluation
from generator.number.number import Bracketed, Derived, Number, Shown
from generator.record import manifest
from generator.record.keys import STATUSES
from generator.record.record import Record
from generator.record.source import Source


@dataclass(frozen=True)
class Tally:
    """Values by rule; the auditor recomputes each from the sources."""

    values: dict[str, str]

    def text(self, rule: str) -> str:
        """The value of a rule; KeyError where the table has no such rule."""
        return self.values[rule]


def count(record: Record, evaluations: Collection[Evaluation], traced: Traced) -> Tally:
    """Apply every rule of the table."""
    findings = record.findings
    values: dict[str, object] = {
        "findings-count": len(findings),
        "payloads-count": len(record.payloads),
        "kills-count": len(record.kills),
        "errata-count": len(record.errata),
        "numbers-count": sum(_numbers(each, traced) for each in evaluations),
    }
    for status in STATUSES:
        values[f"findings-count:{status}"] = sum(each.string("status") == status for each in findings)
    outcomes = [each.status.words for each in evaluations if each.source.kind == "kill" and each.status]
    for outcome in (FIRED, NOT_FIRED, UNTESTED):
        values[f"kills-count:{outcome.replace(' ', '-')}"] = outcomes.count(outcome)
    for path, payload in record.payloads.items():
        values[f"cited-by-count:{path}"] = len(record.citing(path))
        values[f"sha256:{path}"] = payload.sha256
    for erratum in record.errata:
        values[f"erratum-date:{erratum.id}"] = erratum.string("date")
    if record.errata_pass:
        values |= _ruled(record.errata_pass)
    values |= _disclosed(record)
    values |= _read_at(record)
    if record.version:
        values["version"] = record.version
    return Tally({rule: str(value) for rule, value in values.items()})


def _disclosed(record: Record) -> dict[str, object]:
    """How much was not run or is withheld, of how much; and the days of the deviations."""
    bent = deviations.entries(record)
    counts: dict[str, object] = {
        f"{kind}-count": len(reconciliation.entries(record, kind)) for kind in reconciliation.KINDS
    }
    counts |= {"deviations-count": len(bent)} | {f"deviation-date:{each.number}": each.date for each in bent}
    return counts | ({"experiments-count": len(record.experiments.rows)} if record.experiments else {})


def _read_at(record: Record) -> dict[str, object]:
    """The tag at which payloads were read: all of them, those of a finding and its errata, or one."""
    digests = {path: each.sha256 for path, each in record.payloads.items()}
    about: dict[str, set[str]] = {each.id: set(each.payloads.values()) for each in record.findings}
    for each in record.errata:
        about.get(each.string("finding"), set()).update(each.payloads.values())
    about |= {path: {path} for path in digests}
    tags = {f"read-at:{name}": manifest.tag(record.manifest, digests, paths) for name, paths in about.items()}
    return {"read-at": manifest.tag(record.manifest, digests), **tags}


def _ruled(source: Source) -> dict[str, object]:
    """The day of a pass over the errata and how it ruled."""
    ruled = [row.ruling for row in rulings.rows(source)]
    counts = {f"rulings-count:{each}": ruled.count(each) for each in rulings.RULINGS}
    return {"pass-date": source.string("date"), "rulings-count": len(ruled), **counts}


def _numbers(evaluation: Evaluation, traced: Traced) -> int:
    """What stands on the page of a finding: its numbers, and those of the notes beside them."""
    if evaluation.source.kind != "finding":
        return 0
    notes = (note for each in traced.effects for note in each.notes if note.source is evaluation.source)
    shown = [*evaluation.printed, *(number for note in notes for number in note.numbers)]
    return leaves(shown) + sum(isinstance(number, Derived) for number in shown)


def leaves(numbers: Iterable[Number]) -> int:
    """How many of them are read straight from a payload; an interval is three, a text is none."""
    return sum(_size(number) for number in numbers)


def _size(number: Number) -> int:
    if isinstance(number, Bracketed):
        return 3
    return int(isinstance(number, Shown) and number.form != "text")
