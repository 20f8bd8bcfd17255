"""The pass over the errata: a dated table that rules on every statement of a record, authored as data."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from generator.errata.effects import Traced
from generator.number import erratum
from generator.number.evaluate import Evaluation
from generator.record.source import Source
from generator.report.refusal import Refusal

STANDS, CORRECTED, WITHDRAWN = RULINGS = ("stands", "corrected", "withdrawn")
_KEYS = ("statement", "ruling", "erratum", "reason")
_STATEMENT = re.compile(r"(F-[0-9]+)#([a-z][a-z0-9-]*)")


@dataclass(frozen=True)
class Ruling:
    """One row: the statement, what is ruled on it, by which erratum it is corrected, and why."""

    place: str
    finding: str
    statement: str
    ruling: str
    erratum: str
    reason: str


def rows(source: Source) -> Iterator[Ruling]:
    """The rows of a pass, as far as they can be read."""
    listed = source.front.get("rulings")
    for index, row in enumerate(listed if isinstance(listed, list) else ()):
        texts = {key: row.get(key, "") if isinstance(row, dict) else "" for key in _KEYS}
        finding, _, statement = str(texts["statement"]).partition("#")
        ruled = (str(texts[key]) for key in ("ruling", "erratum", "reason"))
        yield Ruling(f"rulings.{index}", finding, statement, *ruled)


def faults(
    source: Source, evaluations: Mapping[str, Evaluation], traced: Traced, today: datetime.date | None = None
) -> Iterator[Refusal]:
    """What a pass does not say of its record, or says wrongly."""
    yield from erratum.dated(source, today or datetime.datetime.now(datetime.UTC).date())
    name = source.string("record")
    findings = {
        each.source.id: each
        for each in evaluations.values()
        if each.source.kind == "finding" and each.source.string("record") == name
    }
    if not findings:
        yield _refusal(source, "record", name, "No finding belongs to this record.")
    reader = _Reader(source, findings, traced)
    yield from reader.faults()


def _refusal(source: Source, key: str, text: str, message: str) -> Refusal:
    return Refusal(source.path, *source.place(key), "bad-erratum", text, message)


@dataclass(frozen=True)
class _Reader:
    """Holds the rows of a pass against the findings and the errata."""

    source: Source
    findings: Mapping[str, Evaluation]
    traced: Traced

    def faults(self) -> Iterator[Refusal]:
        seen: set[tuple[str, str]] = set()
        for row in rows(self.source):
            yield from self._keys(row)
            if fault := self._statement(row):
                yield self._at(row, "statement", f"{row.finding}#{row.statement}", fault)
            elif (row.finding, row.statement) in seen:
                text = f"{row.finding}#{row.statement}"
                yield self._at(row, "statement", text, "This statement is ruled on above already.")
            else:
                seen.add((row.finding, row.statement))
                yield from self._ruling(row)
        yield from self._missing(seen)

    def _at(self, row: Ruling, key: str, text: str, message: str) -> Refusal:
        place = f"{row.place}.{key}"
        return _refusal(self.source, place if place in self.source.front_lines else row.place, text, message)

    def _keys(self, row: Ruling) -> Iterator[Refusal]:
        listed = self.source.front["rulings"]
        written = listed[int(row.place.rpartition(".")[2])] if isinstance(listed, list) else {}
        for key, value in written.items():
            if key not in _KEYS:
                yield self._at(row, key, key, f'"{key}" is no key of a ruling. Known: {", ".join(_KEYS)}.')
            elif not isinstance(value, str) or not value.strip():
                yield self._at(row, key, key, f'"{key}" is a text that says something.')

    def _statement(self, row: Ruling) -> str:
        """Why a row is about nothing, empty where it is about a statement of the record."""
        if not _STATEMENT.fullmatch(f"{row.finding}#{row.statement}"):
            return "A ruling is about a statement, as in F-01#tokens."
        if row.finding not in self.findings:
            return f"The record has no finding {row.finding}."
        known = self.findings[row.finding].statements
        if row.statement not in known:
            return f'{row.finding} has no statement "{row.statement}". It has: {", ".join(known)}.'
        return ""

    def _ruling(self, row: Ruling) -> Iterator[Refusal]:
        if row.ruling not in RULINGS:
            yield self._at(row, "ruling", row.ruling, f"A ruling is one of {', '.join(RULINGS)}.")
        elif row.ruling == CORRECTED:
            if self.traced.whole and row.erratum not in self._errata(row):
                message = f"No erratum {row.erratum or 'is named that'} corrects this statement."
                yield self._at(row, "erratum", row.erratum, message)
        elif row.erratum:
            message = f"What {row.ruling} is corrected by no erratum."
            yield self._at(row, "erratum", row.erratum, message)
        elif row.ruling == WITHDRAWN and not row.reason.strip():
            yield self._at(row, "ruling", row.ruling, "A withdrawal says why, under reason.")
        elif row.ruling == STANDS:
            yield from self._standing(row)

    def _standing(self, row: Ruling) -> Iterator[Refusal]:
        """A statement does not stand that an erratum had corrected by the day of the pass."""
        for name, date in self._errata(row).items():
            if date <= self.source.string("date"):
                yield self._at(row, "ruling", row.ruling, f"{name} of {date} corrects this statement.")

    def _errata(self, row: Ruling) -> dict[str, str]:
        """The errata that touch a statement, and their dates."""
        return {
            each.erratum.source.id: each.erratum.source.string("date")
            for each in self.traced.effects
            for note in each.notes
            if (note.source.id, note.statement) == (row.finding, row.statement)
        }

    def _missing(self, seen: Iterable[tuple[str, str]]) -> Iterator[Refusal]:
        """Statements that no row is about."""
        ruled = set(seen)
        for finding, evaluation in self.findings.items():
            for statement in evaluation.statements:
                if (finding, statement) not in ruled:
                    message = "The pass does not rule on this statement."
                    yield _refusal(self.source, "rulings", f"{finding}#{statement}", message)
