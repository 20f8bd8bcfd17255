"""An erratum stands on a statement of a finding, and a corrected value names the old field and the new."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from generator.number.evaluate import Evaluation
from generator.record.source import Source
from generator.report.refusal import Refusal


def faults(evaluations: Iterable[Evaluation]) -> Iterator[Refusal]:
    """What every erratum of a record lacks."""
    evaluations = tuple(evaluations)
    statements = {each.source.id: each.statements for each in evaluations if each.source.kind == "finding"}
    for evaluation in evaluations:
        if evaluation.source.kind == "erratum":
            yield from _stands_on(evaluation.source, statements)
            yield from _fields(evaluation.source)


def _stands_on(source: Source, statements: dict[str, tuple[str, ...]]) -> Iterator[Refusal]:
    finding, statement = source.string("finding"), source.string("statement")
    if finding not in statements:
        message = f"There is no finding {finding} in this record."
        yield Refusal(source.path, *source.place("finding"), "unknown-id", finding, message)
    elif statement not in statements[finding]:
        known = f"It has: {', '.join(statements[finding])}." if statements[finding] else "It has none."
        message = f'{finding} has no statement "{statement}". {known}'
        yield Refusal(source.path, *source.place("statement"), "bad-erratum", statement, message)


def _fields(source: Source) -> Iterator[Refusal]:
    """A corrected value has both fields, corrected words have neither."""
    wanted = source.string("kind") == "value"
    for key in ("old", "new"):
        if bool(source.string(key)) != wanted:
            verb = "names" if wanted else "does not name"
            place = source.place(key if source.string(key) else "kind")
            message = f'An erratum of kind {source.string("kind")} {verb} a field under "{key}".'
            yield Refusal(source.path, *place, "bad-erratum", key, message)
