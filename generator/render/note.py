"""Notes of errata: beside the statements that they correct, at the head of a page, on a payload's page."""

from __future__ import annotations

import re
from collections.abc import Iterator

from markupsafe import Markup

from generator.errata.effects import HEAD, Effects, Flip, Note
from generator.errata.telling import INTRODUCED, outcome
from generator.number import correction, erratum
from generator.number.evaluate import Evaluation
from generator.number.number import Leaf, Place
from generator.number.piece import Piece, Printed, Prose, StatementStart
from generator.record.payload import Payload
from generator.record.source import Source
from generator.render import block
from generator.render.block import Book
from generator.render.environment import part
from generator.render.mark import Marker
from generator.render.sheet import Annotations

_EMPHASIS = re.compile(r"[*`]")


def beside(book: Book, marker: Marker, evaluation: Evaluation) -> Annotations:
    """What marks the body of a source as corrected, and the notes beside it."""
    notes: dict[int, str] = {}
    statements: set[str] = set()
    for each in _notes(book, evaluation.source):
        if each.at != HEAD:
            notes[each.at] = notes.get(each.at, "") + aside(book, marker, each)
            statements.add(each.statement)
    if not notes:
        return Annotations()
    fields = book.traced.effects[-1].after.beyond(book.traced.effects[0].before)
    marked = {
        at
        for at, piece in enumerate(evaluation.body)
        if (isinstance(piece, Printed) and any(place in fields for place in erratum.named(piece)))
        or (isinstance(piece, StatementStart) and piece.name in statements)
    }
    return Annotations(frozenset(marked), notes)


def _notes(book: Book, source: Source) -> Iterator[Note]:
    return (note for each in book.traced.on(source) for note in each.notes if note.source is source)


def aside(book: Book, marker: Marker, note: Note) -> str:
    """A note beside the statement or the number that it corrects."""
    facts = block.erratum(marker, note.erratum)
    return part("erratum_note.html.j2", **facts, **said(book, marker, note))


def said(book: Book, marker: Marker, note: Note) -> dict[str, object]:
    """What a note says of numbers and of claims."""
    return {
        "changes": [(marker.number(each.before), marker.number(each.after)) for each in note.shown],
        "flips": [turned(book, marker, each) for each in note.flips],
    }


def heads(book: Book, marker: Marker, source: Source) -> list[dict[str, object]]:
    """Every erratum that touches a source, with what it changes in title, conditions and rules."""
    return [
        {**block.erratum(marker, each.erratum), **_head(book, marker, each, source)}
        for each in book.traced.on(source)
    ]


def _head(book: Book, marker: Marker, effects: Effects, source: Source) -> dict[str, object]:
    for note in effects.notes:
        if note.source is source and note.at == HEAD:
            return said(book, marker, note)
    return {"changes": [], "flips": []}


def top(book: Book, marker: Marker, source: Source) -> str:
    """The notes at the top of a page that has no header of its own."""
    return "".join(aside(book, marker, each) for each in _notes(book, source) if each.at == HEAD)


def turned(book: Book, marker: Marker, flip: Flip) -> Markup:
    """What became of a claim, a rule, a verdict or an outcome, bound to the condition that is true now."""
    words = block.inline(book, marker, (_plainly(piece) for piece in flip.words))
    text = Markup("{}“{}” {}").format(INTRODUCED[flip.kind], words, outcome(flip))
    return marker.claim(flip.prefix) + text + Markup("</span>")


def _plainly(piece: Piece) -> Piece:
    return Prose(" ".join(_EMPHASIS.sub("", piece.text).split())) if isinstance(piece, Prose) else piece


def history(book: Book, marker: Marker, payload: Payload) -> list[dict[str, object]]:
    """Every value of a payload that was corrected or stands in for another: before, after, by what, when."""
    return [
        {
            "before": marker.shown(correction.plain(before)),
            "after": marker.shown(correction.plain(after)),
            **block.erratum(marker, each.erratum),
        }
        for each in book.traced.effects
        for before, after in _steps(book, each, payload.path)
    ]


def _steps(book: Book, effects: Effects, path: str) -> Iterator[tuple[Leaf, Leaf]]:
    """The steps of one erratum that start or end in a payload and change a value."""
    found: dict[tuple[Place, Place], tuple[Leaf, Leaf]] = {}
    for place in sorted(effects.after.beyond(effects.before)):
        origin = effects.after.origin(place)
        before, after = effects.before.leaf(origin), effects.after.leaf(origin)
        if path in (place[0], before.payload.path, after.payload.path) and before.node.kind == "number":
            found[before.place, after.place] = (before, after)
    yield from found.values()
