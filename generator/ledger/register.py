"""Freezes texts: one line a text at the end of the ledger, written whole or not at all."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Iterator

from generator.disclosure.deviations import allowing
from generator.gate import VERSION
from generator.ledger import line as lines
from generator.ledger.line import ABSENT, CODE, PATH, Line, digest
from generator.number.evaluate import Evaluation
from generator.number.piece import ClaimStart, End, Printed, StatementStart
from generator.record import critic, writing
from generator.record.record import Record
from generator.record.source import Source
from generator.report.refusal import Refusal, Refused


def register(record: Record, evaluations: Iterable[Evaluation], identifiers: Iterable[str]) -> list[Line]:
    """Append a line for each id; raises Refused with everything that stands against it, KeyError for no id.

    The record has passed the gate. Nothing is written where any of the ids is refused.
    """
    known = {
        each.source.id: each for each in evaluations if each.source.kind in ("finding", "kill", "erratum")
    }
    wanted = list(dict.fromkeys(identifiers))
    for each in wanted:
        if each not in known and each not in record.payloads:
            raise KeyError(f"There is no finding, kill criterion, erratum or payload {each} in this record.")
    refusals = [
        *_uncommitted(record),
        *(r for each in wanted for r in _against(record, known.get(each), each)),
    ]
    if refusals:
        raise Refused(refusals)
    return [append(record, each) for each in wanted]


def append(record: Record, identifier: str) -> Line:
    """Add one line to the ledger; the old ledger stays whole until the new one is."""
    written = lines.text(record.root)
    source = next((each for each in record.sources if each.id == identifier), None)
    entry = Line(
        id=identifier,
        source=digest((record.root / _path(source, identifier)).read_bytes()),
        payloads=_payloads(record, source),
        date=datetime.datetime.now(datetime.UTC).date().isoformat(),
        gate=VERSION,
        before=lines.parse(written).last,
    )
    writing.replace(record.root / PATH, f"{written}{entry.text}\n".encode())
    return entry


def _path(source: Source | None, identifier: str) -> str:
    return source.path if source else identifier


def _payloads(record: Record, source: Source | None) -> dict[str, str]:
    named = sorted(set(source.payloads.values())) if source else []
    return {path: record.payloads[path].sha256 if path in record.payloads else ABSENT for path in named}


def _uncommitted(record: Record) -> Iterator[Refusal]:
    """A registration refers to what git keeps, so nothing of the record may differ from its commit."""
    for each in (*record.refusals, *record.warnings):
        if each.code == "untracked-source":
            yield each
    why = record.repository.standing(PATH) if lines.text(record.root) else None
    if why:
        yield Refusal(PATH, 1, 1, "untracked-source", PATH, f"The file {why}. Commit it.")


def _against(record: Record, evaluation: Evaluation | None, identifier: str) -> Iterator[Refusal]:
    """What keeps one text from being registered."""
    if any(each.id == identifier for each in lines.parse(lines.text(record.root)).lines):
        path = _path(evaluation.source if evaluation else None, identifier)
        yield Refusal(
            path, 1, 1, CODE, identifier, f"{identifier} is registered already. A correction is an erratum."
        )
    elif evaluation is not None and evaluation.source.kind == "finding":
        yield from _outside(evaluation)
        yield from _unjudged(record, evaluation)


def _unjudged(record: Record, evaluation: Evaluation) -> Iterator[Refusal]:
    """A label by rule with which no critic agrees, unless a dated ruling lets it pass."""
    source = evaluation.source
    by_rule = {"status": evaluation.status, "verdict": evaluation.verdict}
    wanted = [name for name, judged in by_rule.items() if judged is not None and judged.prefix is not None]
    missing = [name for name in wanted if not critic.agrees(record.payloads, source.id, name)]
    if missing and allowing(record, source.id) is None:
        message = (
            f"No critic of the record agrees with its {missing[0]}. Run engine critic and commit what it "
            'emits, or enter a dated ruling under "allows" in findings/DEVIATIONS.md.'
        )
        yield Refusal(source.path, *source.place("status"), "verdict-mismatch", missing[0], message)


def _outside(evaluation: Evaluation) -> Iterator[Refusal]:
    """Numbers and claims of the text that no statement holds, so that no erratum could stand on them."""
    inside = False
    for piece in evaluation.body:
        if isinstance(piece, StatementStart):
            inside = True
        elif isinstance(piece, End) and isinstance(piece.of, StatementStart):
            inside = False
        elif not inside and isinstance(piece, (Printed, ClaimStart)):
            message = (
                "What counts in a registered finding stands inside a statement, so that it can be corrected."
            )
            yield Refusal(evaluation.source.path, piece.line, piece.column, "bad-template", "", message)
