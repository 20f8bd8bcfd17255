"""What each erratum changes: numbers that should read otherwise, and claims and rules that turn over.

Sources are judged as they are written, and once more with every correction up to the erratum's. What
differs between its turn and the one before is its effect, so a chain of errata is followed step by step.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain

from generator.number import claim, correction, erratum
from generator.number.claim import FIRED, NOT_FIRED, UNTESTED
from generator.number.correction import Correction, Fields
from generator.number.evaluate import Evaluation
from generator.number.exact import Scope
from generator.number.fragment import front
from generator.number.number import Bracketed, Made, Number, Place, Prefix
from generator.number.piece import ClaimStart, End, Piece, Printed, Prose, StatementStart
from generator.record.payload import Payload
from generator.record.source import Source
from generator.report.refusal import Refusal

HEAD = -1
"""Stands for the place of a note that is about a title, conditions or a rule."""


@dataclass(frozen=True)
class Change:
    """A number before a correction and after it."""

    before: Number
    after: Number


@dataclass(frozen=True)
class Flip:
    """Something that is judged otherwise: what kind of thing, its words, and a condition that is true now.

    `now` is the words that stand in the place of the old ones, empty where they merely hold no longer.
    """

    kind: str
    words: tuple[Piece, ...]
    now: str
    holds: bool
    prefix: Prefix


@dataclass(frozen=True)
class Note:
    """What an erratum says at one place of a source: after a piece of its body, or at its head."""

    erratum: Evaluation
    source: Source
    at: int
    statement: str
    changes: tuple[Change, ...] = ()
    flips: tuple[Flip, ...] = ()

    @property
    def shown(self) -> tuple[Change, ...]:
        """The changes; where nothing of it is printed, the erratum's own fields."""
        own = [each.number for each in self.erratum.corrected]
        return self.changes or ((Change(own[0], own[1]),) if len(own) == 2 else ())

    @property
    def numbers(self) -> Iterator[Number]:
        """Every number that the note prints."""
        yield from chain.from_iterable((each.before, each.after) for each in self.shown)
        for flip in self.flips:
            yield from (piece.number for piece in flip.words if isinstance(piece, Printed))


@dataclass(frozen=True)
class Effects:
    """An erratum, the corrections before it and with it, and its notes."""

    erratum: Evaluation
    direct: Fields = field(repr=False)
    before: Correction = field(repr=False)
    after: Correction = field(repr=False)
    notes: tuple[Note, ...]

    def touches(self, source: Source) -> bool:
        """Whether a source shows, or stands on, what the erratum corrects."""
        return any(note.source is source for note in self.notes)


@dataclass(frozen=True)
class Traced:
    """The effects of all errata by date, and what keeps one from being evaluated."""

    effects: tuple[Effects, ...] = ()
    refusals: tuple[Refusal, ...] = ()
    whole: bool = True
    """Whether every erratum had its turn: none has where something is refused already."""

    def on(self, source: Source) -> list[Effects]:
        """The errata that touch a source."""
        return [each for each in self.effects if each.touches(source)]


def trace(payloads: Mapping[str, Payload], evaluations: Iterable[Evaluation]) -> Traced:
    """Give every erratum its turn, by date; none where a source or an erratum is refused already."""
    evaluations = tuple(evaluations)
    if any(each.refusals for each in evaluations) or any(erratum.faults(evaluations)):
        return Traced(whole=False)
    sources = [each for each in evaluations if each.source.kind not in ("erratum", "pass")]
    before, found, refusals = Correction(payloads, {}), list[Effects](), list[Refusal]()
    for each in erratum.in_order(evaluations):
        direct = erratum.fields(each)
        turn = _Turn(each, before, before.further(direct))
        try:
            notes = tuple(chain.from_iterable(turn.notes(source) for source in sources))
        except ZeroDivisionError:
            message = "With the new field an expression of this record divides by zero."
            place = each.source.place("new")
            shown = each.source.string("new")
            refusals.append(Refusal(each.source.path, *place, "bad-erratum", shown, message))
            continue
        found.append(Effects(each, direct, before, turn.after, notes))
        before = turn.after
    return Traced(tuple(found), tuple(refusals))


@dataclass(frozen=True)
class _Turn:
    """One erratum's turn: everything as it was before, and with it."""

    erratum: Evaluation
    before: Correction
    after: Correction

    def notes(self, evaluation: Evaluation) -> Iterator[Note]:
        """What the erratum says in one source."""
        source = evaluation.source
        if self.erratum.source.string("kind") == "wording":
            yield from self._worded(evaluation)
        elif any(path in source.payloads.values() for path, _ in self.moved):
            head = list(self._head(evaluation))
            if head or self._ruled(evaluation):
                changes = tuple(each for each in head if isinstance(each, Change))
                flips = tuple(each for each in head if isinstance(each, Flip))
                yield Note(self.erratum, source, HEAD, "", changes, (*flips, *self._rules(evaluation)))
            yield from self._body(evaluation)

    @cached_property
    def moved(self) -> frozenset[Place]:
        """The fields that read otherwise from this turn on."""
        return self.after.beyond(self.before)

    def _touched(self, places: Iterable[Place]) -> bool:
        return not self.moved.isdisjoint(places)

    def _worded(self, evaluation: Evaluation) -> Iterator[Note]:
        """The note of other words, after the statement that it is about."""
        stands = self.erratum.source
        if evaluation.source.id == stands.string("finding"):
            statement = stands.string("statement")
            for name, at in _ends(evaluation.body).items():
                if name == statement:
                    yield Note(self.erratum, evaluation.source, at, statement)

    def _head(self, evaluation: Evaluation) -> Iterator[Change | Flip | None]:
        """What changes in the title and the conditions; None for a claim there that still holds."""
        for pieces in (evaluation.title, evaluation.regime):
            for _, _, changed in self._pieces(pieces):
                yield changed

    def _body(self, evaluation: Evaluation) -> Iterator[Note]:
        """One note a statement, after its end; one for each number and claim outside any."""
        ends = _ends(evaluation.body)
        grouped: dict[tuple[int, str], list[Change | Flip | None]] = {}
        for at, statement, changed in self._pieces(evaluation.body):
            grouped.setdefault((ends.get(statement, at), statement), []).append(changed)
        for (at, statement), found in grouped.items():
            changes = tuple(each for each in found if isinstance(each, Change))
            flips = tuple(each for each in found if isinstance(each, Flip))
            yield Note(self.erratum, evaluation.source, at, statement, changes, flips)

    def _pieces(self, pieces: tuple[Piece, ...]) -> Iterator[tuple[int, str, Change | Flip | None]]:
        """Each number and claim that the erratum touches: where it ends, its statement, what changes."""
        statement, opened = "", list[int]()
        for at, piece in enumerate(pieces):
            if isinstance(piece, StatementStart):
                statement = piece.name
            elif isinstance(piece, ClaimStart):
                opened.append(at)
            elif isinstance(piece, Printed) and self._touched(erratum.named(piece)):
                yield from ((at, statement, each) for each in self._changes(piece.number))
            elif isinstance(piece, End) and isinstance(piece.of, StatementStart):
                statement = ""
            elif isinstance(piece, End) and isinstance(piece.of, ClaimStart):
                words = pieces[opened.pop() + 1 : at]
                if self._touched(correction.places(piece.of.prefix)):
                    yield at, statement, self._flip("claim", _words(words), piece.of.prefix)

    def _changes(self, number: Number) -> Iterator[Change | None]:
        """A number before and after, None where rounding hides the difference.

        An interval is told bound by bound where they no longer belong together.
        """
        parts: Iterable[Number] = (number,)
        if isinstance(number, Bracketed) and not (self.before.keeps(number) and self.after.keeps(number)):
            bounds = (number.value, number.low, number.high)
            parts = (each for each in bounds if each.leaf.place in self.moved)
        for each in parts:
            before, after = self.before.number(each), self.after.number(each)
            yield Change(before, after) if _text(before) != _text(after) else None

    def _flip(self, kind: str, words: tuple[Piece, ...], prefix: Prefix, now: str = "") -> Flip | None:
        """A condition that turns over, None where it stays as it was."""
        holds = self.after.holds(prefix)
        if holds == self.before.holds(prefix):
            return None
        true = self.after.prefix(prefix)
        return Flip(kind, words, now, holds, true if holds else ["not", true])

    def _conditions(self, evaluation: Evaluation) -> Iterator[tuple[str, str, Prefix]]:
        """Every rule of the front matter: its kind, its words and its condition."""
        source = evaluation.source
        scope = Scope(source.payloads, self.after.payloads)
        if source.kind == "finding":
            for word in ("holds", "null"):
                if source.string(f"{word}_when"):
                    yield "rule", word, claim.rule(scope, front(source, f"{word}_when")).prefix
            labels = source.front.get("verdict_when")
            for label in labels if isinstance(labels, dict) else ():
                yield "verdict", label, claim.rule(scope, front(source, "verdict_when", label)).prefix
        elif source.kind == "kill" and evaluation.status and evaluation.status.words != UNTESTED:
            yield "outcome", FIRED, claim.rule(scope, front(source, "fires_when")).prefix

    def _ruled(self, evaluation: Evaluation) -> bool:
        """Whether a rule of the source names a field that reads otherwise."""
        return any(self._touched(correction.places(each)) for _, _, each in self._conditions(evaluation))

    def _rules(self, evaluation: Evaluation) -> Iterator[Flip]:
        """The rules that turn over, the verdict that another label takes, the outcome that changes."""
        verdicts = []
        for kind, words, prefix in self._conditions(evaluation):
            if kind == "verdict":
                verdicts.append((words, prefix))
            else:
                was, now = (words, "") if kind == "rule" else self._outcome(prefix)
                found = self._flip(kind, (Prose(was),), prefix, now)
                yield from (found,) if found else ()
        yield from self._verdict(verdicts)

    def _outcome(self, prefix: Prefix) -> tuple[str, str]:
        """What becomes of a kill criterion, if anything: the old outcome and the new one."""
        return (NOT_FIRED, FIRED) if self.after.holds(prefix) else (FIRED, NOT_FIRED)

    def _verdict(self, labels: list[tuple[str, Prefix]]) -> Iterator[Flip]:
        """The verdict before and after, where they differ: the first label whose rule holds."""
        was = next(((words, each) for words, each in labels if self.before.holds(each)), None)
        now = next(((words, each) for words, each in labels if self.after.holds(each)), None)
        if now == was:
            return
        words = (Prose(was[0]),) if was else ()
        if now:
            yield Flip("verdict", words, now[0], True, self.after.prefix(now[1]))
        elif was:
            yield Flip("verdict", words, "", False, ["not", self.after.prefix(was[1])])


def _ends(pieces: Iterable[Piece]) -> dict[str, int]:
    """Where each statement ends."""
    return {
        piece.of.name: at
        for at, piece in enumerate(pieces)
        if isinstance(piece, End) and isinstance(piece.of, StatementStart)
    }


def _text(number: Number) -> str:
    return "" if isinstance(number, Made) else number.text


def _words(pieces: Iterable[Piece]) -> tuple[Piece, ...]:
    """The words and numbers of a claim."""
    return tuple(piece for piece in pieces if isinstance(piece, (Prose, Printed)))
