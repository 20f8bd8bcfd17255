"""Explains what a page shows: from the shown text back to the bytes, and to the command that made them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from generator.errata import effects
from generator.number import erratum
from generator.number import prefix as prefixes
from generator.number.claim import Judgement
from generator.number.evaluate import Evaluation
from generator.number.number import Bracketed, Derived, Leaf, Made, Number, Prefix, Shown
from generator.number.piece import ClaimStart, End, Piece, Printed, StatementStart
from generator.record.record import Record
from generator.render import address
from generator.render.mark import claimed, plain
from generator.render.tally import Tally, count
from generator.trace import origin
from generator.trace.address import InPayload, InSource, Unknown, resolve

INDENT = "    "
Evaluations = Mapping[str, Evaluation]


def explain(record: Record, evaluations: Evaluations, reference: str) -> str:
    """The chain behind everything that a reference points at; raises Unknown."""
    target = resolve(record, reference)
    tally = count(record, evaluations.values(), effects.trace(record.payloads, evaluations.values()))
    if isinstance(target, InPayload):
        lines = list(_of_payload(evaluations, tally, target))
        cited = [target.payload.path]
    else:
        found = evaluations[target.path]
        pieces, note = part(found, target)
        lines = [f"{found.source.id} in {target.path}", *note]
        if found.refusals:
            lines.append(f"`findings check` refuses it ({found.refusals[0].code}); what can be read follows.")
        lines += [line for piece in _explained(pieces) for line in _piece(record, tally, piece, pieces)]
        if not target.anchor:
            lines += _judged(record, found)
        cited = [path for path, _ in places(pieces)]
        cited += [path for path, _ in _judged_places(found)] if not target.anchor else []
    blocks = (origin.describe(record.payloads[path]) for path in dict.fromkeys(cited))
    return "\n".join([*lines, *(line for block in blocks for line in ("", *block))]) + "\n"


def part(found: Evaluation, target: InSource) -> tuple[list[Piece], list[str]]:
    """The pieces of a source, or of one statement of it, and a note where an anchor names none."""
    whole = [*found.title, *found.regime, *found.corrected, *found.body]
    if not target.anchor:
        return whole, []
    if target.anchor in found.statements:
        return list(erratum.within(found.body, target.anchor)), []
    if target.on_page and (addressed := [each for each in whole if _is_at(each, target.anchor)]):
        return addressed[:1], []
    known = f"It has: {', '.join(found.statements)}." if found.statements else "It has none."
    message = f"{found.source.id} has no statement {target.anchor}. {known}"
    if not target.on_page:
        raise Unknown(message)
    return whole, [f"{message} The whole page follows."]


def _is_at(piece: Piece, anchor: str) -> bool:
    """Whether a number has an address on its page; the same fields have it again with a count."""
    if not isinstance(piece, Printed):
        return False
    counted = anchor.rpartition("-")
    given = {anchor, counted[0]} if counted[2].isdecimal() else {anchor}
    return not given.isdisjoint(address.names(piece.number))


def places(pieces: Iterable[Piece]) -> Iterator[tuple[str, str]]:
    """Path and pointer of every field behind the numbers and claims among some pieces."""
    for piece in pieces:
        if isinstance(piece, ClaimStart) and piece.prefix:
            yield from ((path, pointer) for path, pointer, _ in prefixes.leaves(piece.prefix))
        elif isinstance(piece, Printed) and not isinstance(piece.number, Made):
            yield from ((leaf.payload.path, leaf.pointer) for leaf in piece.number.leaves)


def _explained(pieces: Iterable[Piece]) -> Iterator[Printed | ClaimStart]:
    """Numbers, and claims whose condition could be read."""
    for piece in pieces:
        if isinstance(piece, Printed) or (isinstance(piece, ClaimStart) and piece.prefix):
            yield piece


def _piece(record: Record, tally: Tally, piece: Printed | ClaimStart, pieces: list[Piece]) -> Iterator[str]:
    if isinstance(piece, Printed):
        yield from number(record, tally, piece.number)
        return
    words = claimed(pieces[pieces.index(piece) :], piece, tally)
    yield from condition(record, f'claim "{words}"', piece.prefix)


def condition(record: Record, what: str, prefix: Prefix) -> Iterator[str]:
    """What is claimed, and its comparison with the values in it."""
    truth = str(prefixes.evaluate(prefix, record.payloads)).lower()
    yield f"{what}  {truth}, because"
    yield from _tree(record, prefix, INDENT)


def number(record: Record, tally: Tally, found: Number) -> Iterator[str]:
    """The shown text and how it came from what stands below."""
    shown = plain(found, tally)
    if isinstance(found, Made):
        yield f"{shown}  computed by the rule {found.rule}"
    elif isinstance(found, Derived):
        yield f"{shown}  exactly {found.value}, as {found.form}"
        yield from _tree(record, found.prefix, INDENT)
    else:
        form = found.value.form if isinstance(found, Bracketed) else found.form
        yield f"{shown}  {_rounding(found, form)}"
        for at, leaf in enumerate(found.leaves):
            yield from _leaf(record, leaf.payload.path, leaf.pointer, INDENT, bound=at > 0)


def _rounding(number: Shown | Bracketed, form: str) -> str:
    if form in ("plain", "text"):
        return "as it is written"
    each = "each " if isinstance(number, Bracketed) else ""
    return f"{each}rounded half to even as {form}" if "(" in form else f"as {form}"


def _tree(record: Record, prefix: Prefix, indent: str) -> Iterator[str]:
    """An expression: every operation with its own result above what it was applied to."""
    if isinstance(prefix, str):
        yield f"{indent}{prefix}  a constant"
    elif prefixes.is_leaf(prefix):
        yield from _leaf(record, str(prefix[0]), str(prefix[1]), indent)
    else:
        value = prefixes.evaluate(prefix, record.payloads)
        yield f"{indent}{prefix[0]}  gives {str(value).lower()}"
        for operand in prefix[1:]:
            yield from _tree(record, operand, indent + INDENT)


def _leaf(record: Record, path: str, pointer: str, indent: str, *, bound: bool = False) -> Iterator[str]:
    """A value where it stands, with the quantity it belongs to unless a line above says that."""
    payload = record.payloads[path]
    node = payload.at(pointer)
    yield f"{indent}{node.lexeme}  {path}:{node.line}:{node.column}  {pointer}  bytes {node.start}-{node.end}"
    if not bound and (about := origin.quantity(payload, pointer)):
        yield f"{indent}{INDENT}{about}"


def _judged(record: Record, found: Evaluation) -> Iterator[str]:
    """Status, verdict or outcome with the rule that gives it."""
    for judgement in _judgements(found):
        if judgement.prefix is None:
            yield f'judged "{judgement.words}"  by the author alone'
        else:
            yield from condition(record, f'judged "{judgement.words}"', judgement.prefix)


def _judgements(found: Evaluation) -> Iterator[Judgement]:
    return (each for each in (found.status, found.verdict) if each is not None)


def _judged_places(found: Evaluation) -> Iterator[tuple[str, str]]:
    for judgement in _judgements(found):
        yield from ((leaf.payload.path, leaf.pointer) for leaf in judgement.leaves)


def _of_payload(evaluations: Evaluations, tally: Tally, target: InPayload) -> Iterator[str]:
    """The fields that a reference picks, each with the sources that show it; a whole payload with its own."""
    payload = target.payload
    shown = list(_shown(evaluations, tally, payload.path))
    if target.whole:
        yield f"{payload.path} stands behind {len(shown)} numbers"
        yield from (f"{INDENT}{text}  {where}  {pointer}" for pointer, text, where in shown)
    for pointer in target.pointers:
        node = payload.at(pointer)
        yield f"{node.lexeme}  {payload.path}:{node.line}:{node.column}  {pointer}"
        if about := origin.quantity(payload, pointer):
            yield f"{INDENT}{about}"
        here = [f"{INDENT}shown as {text} in {where}" for found, text, where in shown if found == pointer]
        yield from here or [f"{INDENT}no page shows it"]


def _shown(evaluations: Evaluations, tally: Tally, path: str) -> Iterator[tuple[str, str, str]]:
    """Pointer, shown text and statement of every number that comes from a payload."""
    for found in evaluations.values():
        statement = ""
        for piece in [*found.title, *found.regime, *found.corrected, *found.body]:
            edge = piece.of if isinstance(piece, End) else piece
            if isinstance(edge, StatementStart):
                statement = "" if isinstance(piece, End) else f"#{edge.name}"
            elif isinstance(piece, Printed) and not isinstance(piece.number, Made):
                text = plain(piece.number, tally)
                where = f"{found.source.path}{statement}"
                yield from ((each.pointer, text, where) for each in _of(piece.number.leaves, path))


def _of(leaves: Iterable[Leaf], path: str) -> Iterator[Leaf]:
    return (leaf for leaf in leaves if leaf.payload.path == path)
