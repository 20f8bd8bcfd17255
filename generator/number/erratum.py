"""An erratum stands on a statement of a finding, and a corrected value names the old field and the new."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Iterator, Mapping

from generator.number import correction, unit
from generator.number.correction import Fields
from generator.number.evaluate import Evaluation
from generator.number.number import Bracketed, Leaf, Made, Place, Shown
from generator.number.piece import ClaimStart, End, Piece, Printed, StatementStart
from generator.record.source import Source
from generator.report.refusal import Refusal

GRACE = datetime.timedelta(days=1)
"""How far ahead of this clock's day a date may be: it is tomorrow already somewhere."""


def in_order(evaluations: Iterable[Evaluation]) -> list[Evaluation]:
    """The errata by date, those of one day by number."""
    errata = (each for each in evaluations if each.source.kind == "erratum")
    return sorted(errata, key=lambda each: (each.source.string("date"), _number(each.source)))


def _number(source: Source) -> int:
    written = source.id.rpartition("-")[2]
    return int(written) if written.isdecimal() else 0


def fields(evaluation: Evaluation) -> Fields:
    """The fields that an erratum replaces, each with what stands in for it; none where only words change."""
    if len(evaluation.corrected) != 2:
        return {}
    return correction.pairs(*(each.number for each in evaluation.corrected))


def within(pieces: Iterable[Piece], statement: str) -> Iterator[Piece]:
    """What stands between the start and the end of a statement."""
    inside = False
    for piece in pieces:
        if isinstance(piece, StatementStart):
            inside = piece.name == statement
        elif isinstance(piece, End) and isinstance(piece.of, StatementStart):
            inside = False
        elif inside:
            yield piece


def named(piece: Piece) -> Iterator[Place]:
    """The fields that one piece of a text names."""
    if isinstance(piece, Printed) and not isinstance(piece.number, Made):
        yield from (leaf.place for leaf in piece.number.leaves)
    elif isinstance(piece, ClaimStart):
        yield from correction.places(piece.prefix)


def faults(evaluations: Iterable[Evaluation], today: datetime.date | None = None) -> Iterator[Refusal]:
    """What every erratum of a record lacks; without a day given, today's in UTC."""
    evaluations = tuple(evaluations)
    today = today or datetime.datetime.now(datetime.UTC).date()
    findings = {each.source.id: each for each in evaluations if each.source.kind == "finding"}
    errata = in_order(evaluations)
    for each in errata:
        found = list(_stands_on(each.source, findings))
        yield from found
        yield from dated(each.source, today)
        yield from _fields(each.source)
        if not each.refusals and each.source.string("kind") == "value":
            yield from _alike(each)
            if not found:
                yield from _cited(each, findings[each.source.string("finding")], errata)
            yield from _complete(each, evaluations)
    yield from _at_odds(errata)


def dated(source: Source, today: datetime.date) -> Iterator[Refusal]:
    """A date that is not yet."""
    written = source.string("date")
    if written and datetime.date.fromisoformat(written) > today + GRACE:
        message = f"The date is in the future; today is {today.isoformat()}."
        yield Refusal(source.path, *source.place("date"), "bad-erratum", written, message)


def _stands_on(source: Source, findings: Mapping[str, Evaluation]) -> Iterator[Refusal]:
    finding, statement = source.string("finding"), source.string("statement")
    if finding not in findings:
        message = f"There is no finding {finding} in this record."
        yield Refusal(source.path, *source.place("finding"), "unknown-id", finding, message)
    elif statement not in findings[finding].statements:
        names = findings[finding].statements
        known = f"It has: {', '.join(names)}." if names else "It has none."
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


def _refused(evaluation: Evaluation, key: str, message: str) -> Refusal:
    source = evaluation.source
    return Refusal(source.path, *source.place(key), "bad-erratum", source.string(key), message)


def _alike(evaluation: Evaluation) -> Iterator[Refusal]:
    """Both are single fields, of one kind and one unit, and not the same."""
    leaves: list[Leaf] = []
    for key, each in zip(("old", "new"), evaluation.corrected, strict=False):
        if isinstance(each.number, (Shown, Bracketed)):
            leaves.append(next(iter(each.number.leaves)))
        else:
            yield _refused(evaluation, key, "A correction names a field of a payload, without arithmetic.")
    if len(leaves) < 2:
        return
    old, new = leaves
    if old.node.kind != new.node.kind:
        message = f"The old field is a {old.node.kind}, the new one a {new.node.kind}."
        yield _refused(evaluation, "new", message)
    elif old.unit != new.unit:
        message = f"The old field has {unit.text(old.unit)}, the new one {unit.text(new.unit)}."
        yield _refused(evaluation, "new", message)
    elif old.place == new.place:
        yield _refused(evaluation, "new", "The new field is the old one; nothing is corrected.")
    elif _printed(evaluation, 0) == _printed(evaluation, 1):
        message = f"Both print as {_printed(evaluation, 0)}. Print them in a form that tells them apart."
        yield _refused(evaluation, "new", message)


def _printed(evaluation: Evaluation, index: int) -> str:
    number = evaluation.corrected[index].number
    return "" if isinstance(number, Made) else number.text


def _cited(evaluation: Evaluation, finding: Evaluation, errata: list[Evaluation]) -> Iterator[Refusal]:
    """The statement names the old field, or one that other errata led to it."""
    statement = evaluation.source.string("statement")
    reached = {place for piece in within(finding.body, statement) for place in named(piece)}
    others = [fields(each) for each in errata if each is not evaluation]
    while added := {each[place].place for each in others for place in reached & each.keys()} - reached:
        reached |= added
    old = fields(evaluation)
    if not reached & old.keys():
        path, where = next(iter(old), ("", ""))
        stands = ", ".join(sorted({f"{place[0]} {place[1]}" for place in reached})) or "no field"
        message = f"The statement does not cite {path} {where}, so nothing is corrected. It cites {stands}."
        yield _refused(evaluation, "old", message)


def _complete(evaluation: Evaluation, evaluations: Iterable[Evaluation]) -> Iterator[Refusal]:
    """What a source cites of the old estimate is there in the new one."""
    if len(evaluation.corrected) != 2:
        return
    missing = {leaf.place: leaf for leaf in correction.lacking(*(e.number for e in evaluation.corrected))}
    for each in evaluations:
        for leaf in each.citations if missing and each is not evaluation else ():
            if missing.pop(leaf.place, None):
                message = f"{each.source.path} cites {leaf.pointer}, which the new estimate lacks."
                yield _refused(evaluation, "new", message)


def _at_odds(errata: list[Evaluation]) -> Iterator[Refusal]:
    """Errata that put different fields in the place of one, or lead back to where they began."""
    said: dict[Place, tuple[Evaluation, Leaf]] = {}
    for each in errata:
        for place, leaf in fields(each).items():
            earlier = said.setdefault(place, (each, leaf))
            if earlier[1].place != leaf.place:
                message = (
                    f"{earlier[0].source.id} corrects this field to {' '.join(earlier[1].place)}. Correct "
                    "what that one put in its place."
                )
                yield _refused(each, "old", message)
                break
            if leaf.place != place and _returns(place, said):
                yield _refused(each, "new", "The errata lead in a circle, back to the field they began with.")
                break


def _returns(start: Place, said: Mapping[Place, tuple[Evaluation, Leaf]]) -> bool:
    """Whether following the corrections from a field leads back to it."""
    place, passed = start, {start}
    while place in said:
        place = said[place][1].place
        if place in passed:
            return True
        passed.add(place)
    return False
