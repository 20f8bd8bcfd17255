"""Tells in plain lines what an erratum changes, for the person who writes it."""

from __future__ import annotations

from collections.abc import Iterator

from generator.errata.effects import Effects, Flip
from generator.number.number import Made, Number
from generator.number.piece import Printed, Prose


def told(effects: Effects) -> Iterator[str]:
    """A line for each number, claim and rule that the erratum touches, with its source."""
    for note in effects.notes:
        where = note.source.path + (f"#{note.statement}" if note.statement else "")
        yield from (f"{where}: {_text(each.before)} → {_text(each.after)}" for each in note.changes)
        yield from (f"{where}: {turned(flip)}" for flip in note.flips)
        if not note.changes and not note.flips:
            yield f"{where}: marked as corrected"


def turned(flip: Flip) -> str:
    """What became of a claim, a rule, a verdict or an outcome."""
    words = " ".join("".join(_word(piece) for piece in flip.words).split())
    return f"{INTRODUCED[flip.kind]}“{words}” {outcome(flip)}"


INTRODUCED = {"claim": "", "rule": "The rule for ", "verdict": "The verdict ", "outcome": "The outcome "}
"""What stands before the words that turn over, by kind."""


def outcome(flip: Flip) -> str:
    """What is said after the words that turn over."""
    if flip.now:
        return f"becomes “{flip.now}”"
    return "now holds" if flip.holds else "no longer holds"


def _word(piece: object) -> str:
    if isinstance(piece, Printed):
        return _text(piece.number)
    return piece.text if isinstance(piece, Prose) else ""


def _text(number: Number) -> str:
    return "" if isinstance(number, Made) else number.text
