"""Begins an erratum: composed and judged in memory, then written whole and entered in the ledger."""

from __future__ import annotations

import datetime
import json
import os
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from generator.errata import effects, fields
from generator.errata.effects import Effects
from generator.errata.fields import Request, Unfit
from generator.gate import source as gate
from generator.ledger import line as ledger
from generator.ledger import register
from generator.number import erratum
from generator.number.correction import Correction
from generator.number.evaluate import Evaluation, evaluate
from generator.record import source
from generator.record.record import Record
from generator.report.refusal import Refused

FOLDER = "findings/errata"


@dataclass(frozen=True)
class Draft:
    """An erratum against which nothing stands: its file, the record with it, and what it changes."""

    path: str
    text: str
    record: Record
    effects: Effects


def draft(record: Record, evaluations: Mapping[str, Evaluation], request: Request) -> Draft:
    """Compose an erratum and judge it beside the record; raises Unfit, or Refused with what is wrong."""
    name = f"E-{max((int(each.id.removeprefix('E-')) for each in record.errata), default=0) + 1}"
    path = f"{FOLDER}/{name}.md"
    text = "\n".join(_lines(record, evaluations, request, name)) + "\n"
    written = source.parse(path, text)
    record = replace(record, errata=(*record.errata, written))
    found = evaluate(record, written)
    everything = {**evaluations, path: found}
    report = gate.check_sources([written], record.terms, record.ids)
    faults = (*found.refusals, *report.refusals, *erratum.faults(everything.values()))
    if refusals := [each for each in faults if each.path == path or each.code == "bad-erratum"]:
        raise Refused(refusals)
    traced = effects.trace(record.payloads, everything.values())
    if traced.refusals:
        raise Refused(traced.refusals)
    return Draft(path, text, record, next(each for each in traced.effects if each.erratum is found))


def write(made: Draft) -> None:
    """Write the file whole, never over another, then its line of the ledger; raises OSError for neither."""
    folder = made.record.root / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=".erratum-", dir=folder)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as opened:
            opened.write(made.text)
            opened.flush()
            os.fsync(opened.fileno())
        Path(name).chmod(0o644)
        os.link(name, made.record.root / made.path)
    finally:
        Path(name).unlink()
    try:
        register.append(made.record, made.effects.erratum.source.id)
    except OSError:
        (made.record.root / made.path).unlink()
        raise


def left(made: Draft) -> Iterator[str]:
    """What was written, and what remains to be done."""
    for path in made.effects.erratum.source.payloads.values():
        if why := made.record.repository.standing(path):
            yield f"warning: {path} {why}. Commit it with the erratum."
    yield f"{made.path} is written and registered: commit it with {ledger.PATH}."


def _current(record: Record, evaluations: Mapping[str, Evaluation]) -> Correction:
    """What the earlier errata made of the record."""
    traced = effects.trace(record.payloads, evaluations.values())
    return traced.effects[-1].after if traced.effects else Correction(record.payloads, {})


def _lines(
    record: Record, evaluations: Mapping[str, Evaluation], request: Request, name: str
) -> Iterator[str]:
    """The lines of the file."""
    finding = next((e for e in evaluations.values() if e.source.id == request.finding), None)
    if finding is None or finding.source.kind != "finding":
        raise Unfit(f"There is no finding {request.finding} in this record.")
    if request.statement not in finding.statements:
        known = ", ".join(finding.statements) or "none"
        raise Unfit(f'{request.finding} has no statement "{request.statement}". It has: {known}.')
    if not request.reason.strip():
        raise Unfit("An erratum says why: --reason is empty.")
    yield from ("---", f"id: {name}", f"finding: {request.finding}", f"statement: {request.statement}")
    yield f"date: {datetime.datetime.now(datetime.UTC).date().isoformat()}"
    yield f"kind: {request.kind}"
    yield f"reason: {json.dumps(request.reason.strip(), ensure_ascii=False)}"
    if request.kind == "value":
        yield from fields.lines(record, _current(record, evaluations), finding, request)
    else:
        yield "payloads: {}"
    yield "---"
