"""The numbers that the generator itself makes, by name of the rule that gives each."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from generator.number.evaluate import Evaluation
from generator.number.number import Bracketed, Derived, Number, Shown
from generator.record.keys import STATUSES
from generator.record.record import Record


@dataclass(frozen=True)
class Tally:
    """Values by rule; the auditor recomputes each from the sources."""

    values: dict[str, str]

    def text(self, rule: str) -> str:
        """The value of a rule; KeyError where the table has no such rule."""
        return self.values[rule]


def count(record: Record, evaluations: Iterable[Evaluation]) -> Tally:
    """Apply every rule of the table."""
    findings = record.findings
    values: dict[str, object] = {
        "findings-count": len(findings),
        "payloads-count": len(record.payloads),
        "kills-count": len(record.kills),
        "errata-count": len(record.errata),
        "numbers-count": sum(_numbers(each) for each in evaluations),
    }
    for status in STATUSES:
        values[f"findings-count:{status}"] = sum(each.string("status") == status for each in findings)
    for path, payload in record.payloads.items():
        values[f"cited-by-count:{path}"] = len(record.citing(path))
        values[f"sha256:{path}"] = payload.sha256
    for erratum in record.errata:
        values[f"erratum-date:{erratum.id}"] = erratum.string("date")
    if record.version:
        values["version"] = record.version
    return Tally({rule: str(value) for rule, value in values.items()})


def _numbers(evaluation: Evaluation) -> int:
    """What a source adds to the pages of findings: all its numbers, or those that an erratum corrects."""
    if evaluation.source.kind == "erratum":
        shown = [piece.number for piece in evaluation.corrected]
    else:
        shown = list(evaluation.printed) if evaluation.source.kind == "finding" else []
    return leaves(shown) + sum(isinstance(number, Derived) for number in shown)


def leaves(numbers: Iterable[Number]) -> int:
    """How many of them are read straight from a payload; an interval is three, a text is none."""
    return sum(_size(number) for number in numbers)


def _size(number: Number) -> int:
    if isinstance(number, Bracketed):
        return 3
    return int(isinstance(number, Shown) and number.form != "text")
