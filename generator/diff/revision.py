"""Reads one side of a comparison from the sources: of a revision, or of the working tree.

A revision is laid into a temporary folder and evaluated there as a record is today; nothing is checked out
and no site is built. The numbers are those that sources print; lists that the generator makes repeat them.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from generator.diff.entry import Entry, Place, Side
from generator.errata import effects
from generator.number import prefix as prefixes
from generator.number.evaluate import Evaluation
from generator.number.number import Bracketed, Derived, Leaf, Made, Number, Shown
from generator.number.piece import ClaimStart, End, Piece, Printed, StatementStart
from generator.record import snapshot
from generator.record.payload import Payload
from generator.record.record import Record
from generator.render.mark import claimed
from generator.render.site import gather
from generator.render.tally import Tally, count
from generator.report.refusal import Refusal, Refused

HARMLESS = frozenset(
    {"untracked-source", "claim-false", "verdict-mismatch", "payload-changed", "payload-unused"}
)
"""Refusals that hide no number: claims and verdicts that do not hold are what a comparison is to show."""

WORKING_TREE = "the working tree"


class UnknownRevision(Exception):
    """Git knows no commit of this name."""


def read(root: Path, revision: str | None) -> Side:
    """Everything that the sources of a revision print, of the working tree for None.

    Raises UnknownRevision, and Refused with every reason why the side cannot be read, its places after the
    name of the revision as git writes them.
    """
    if revision is None:
        return Side(WORKING_TREE, _entries(root))
    if snapshot.commit(root, revision) is None:
        raise UnknownRevision(revision)
    with tempfile.TemporaryDirectory(prefix="findings-") as name:
        folder = Path(name).resolve()
        try:
            snapshot.write(root, revision, folder)
            return Side(revision, _entries(folder))
        except snapshot.Unreadable as error:
            raise Refused([Refusal(revision, 1, 1, "no-source", "", f"The revision {error}.")]) from None
        except Refused as refused:
            raise Refused(
                replace(each, path=f"{revision}:{each.path}") for each in refused.refusals
            ) from None


def _entries(root: Path) -> tuple[Entry, ...]:
    record, evaluations = gather(root)
    refusals = [*record.refusals, *(each for found in evaluations.values() for each in found.refusals)]
    refusals = [each for each in refusals if each.code not in HARMLESS]
    if refusals:
        raise Refused(refusals)
    tally = count(record, evaluations.values(), effects.trace(record.payloads, evaluations.values()))
    return tuple(entry for found in evaluations.values() for entry in _of_source(record, tally, found))


def _of_source(record: Record, tally: Tally, found: Evaluation) -> Iterator[Entry]:
    """What one source prints, claims and is judged to be."""
    page = found.source.path
    yield from _judged(found)
    for part, pieces in (("title", found.title), ("regime", found.regime), ("corrected", found.corrected)):
        yield from _printed(page, part, pieces, record.payloads, tally)
    part, held = "", list[Piece]()
    for piece in found.body:
        held.append(piece)
        edge = piece.of if isinstance(piece, End) else piece
        if isinstance(edge, StatementStart):
            yield from _printed(page, part, held, record.payloads, tally)
            part, held = "" if isinstance(piece, End) else edge.name, []
    yield from _printed(page, part, held, record.payloads, tally)


def _judged(found: Evaluation) -> Iterator[Entry]:
    """Status, verdict and outcome as words; a word that its rule denies says so."""
    source = found.source
    rules = {"finding": {"status": found.status, "verdict": found.verdict}, "kill": {"outcome": found.status}}
    for subject, judgement in rules.get(source.kind, {}).items():
        written = source.string("status") if subject == "status" else ""
        if judgement is not None:
            words = judgement.words
        elif written or subject in source.front or f"{subject}_when" in source.front:
            words = f"{written}, which no rule gives".removeprefix(", ")
        else:
            continue
        yield Entry("judgement", source.path, "", subject, words, words)


def _printed(
    page: str, part: str, pieces: Iterable[Piece], payloads: Mapping[str, Payload], tally: Tally
) -> Iterator[Entry]:
    """The numbers and claims among the pieces of one part of a page."""
    pieces = list(pieces)
    for at, piece in enumerate(pieces):
        if isinstance(piece, Printed):
            for entry in number(piece.number, tally):
                yield replace(entry, page=page, part=part)
        elif isinstance(piece, ClaimStart):
            truth = str(prefixes.evaluate(piece.prefix, payloads)).lower()
            words = claimed(pieces[at:], piece, tally)
            places = tuple(Place(*each) for each in prefixes.leaves(piece.prefix))
            yield Entry("claim", page, part, prefixes.infix(piece.prefix), words, truth, places=places)


def number(shown: Number, tally: Tally) -> Iterator[Entry]:
    """A number as entries without a page; an interval is three."""
    if isinstance(shown, Bracketed):
        for each in (shown.value, shown.low, shown.high):
            yield _leaf(each)
    elif isinstance(shown, Shown):
        yield _leaf(shown)
    elif isinstance(shown, Derived):
        places = tuple(_place(leaf) for leaf in shown.leaves)
        value, subject = str(shown.value), prefixes.infix(shown.prefix)
        yield Entry("number", "", "", subject, shown.text, value, str(shown.form), places)
    elif isinstance(shown, Made):
        text = tally.text(shown.rule)
        yield Entry("number", "", "", shown.rule, text, text, "computed")


def _leaf(shown: Shown) -> Entry:
    leaf = shown.leaf
    value = leaf.node.text if shown.form == "text" else leaf.node.lexeme
    place = _place(leaf)
    return Entry("number", "", "", f"{place.path}#{place.pointer}", shown.text, value, shown.form, (place,))


def _place(leaf: Leaf) -> Place:
    return Place(leaf.payload.path, leaf.pointer, leaf.payload.sha256, leaf.node.line)
