"""Explains a finding: each of its numbers with expression, file, line, digest and the command behind it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from generator.number.evaluate import Evaluation
from generator.number.number import Derived, Leaf, Made, Number
from generator.number.piece import End, Piece, Printed, StatementStart
from generator.record.record import Record
from generator.render.mark import plain
from generator.render.tally import count


def explain(record: Record, evaluations: Mapping[str, Evaluation], reference: str) -> str:
    """The chain behind each number of F-01, or of one statement F-01#name; KeyError where there is none."""
    name, _, statement = reference.partition("#")
    found = next((each for each in evaluations.values() if each.source.id == name), None)
    if found is None:
        raise KeyError(f"There is no {name} in this record.")
    if statement and statement not in found.statements:
        raise KeyError(f"{name} has no statement {statement}. It has: {', '.join(found.statements)}.")
    tally = count(record, evaluations.values())
    numbers = _within(found.body, statement) if statement else found.printed
    lines = [f"{name} in {found.source.path}"]
    for number in numbers:
        lines.append(f"{plain(number, tally)}{_how(number)}")
        lines.extend(f"    {line}" for leaf in _leaves(number) for line in _chain(leaf))
    return "\n".join(lines) + "\n"


def _within(pieces: tuple[Piece, ...], statement: str) -> Iterator[Number]:
    """The numbers between the start and the end of a statement."""
    inside = False
    for piece in pieces:
        if isinstance(piece, StatementStart):
            inside = piece.name == statement
        elif isinstance(piece, End) and isinstance(piece.of, StatementStart):
            inside = False
        elif isinstance(piece, Printed) and inside:
            yield piece.number


def _how(number: Number) -> str:
    if isinstance(number, Made):
        return f"  computed by the rule {number.rule}"
    return f"  exactly {number.value}, as {number.form}" if isinstance(number, Derived) else ""


def _leaves(number: Number) -> tuple[Leaf, ...]:
    return () if isinstance(number, Made) else tuple(dict.fromkeys(number.leaves))


def _chain(leaf: Leaf) -> Iterator[str]:
    yield f"{leaf.node.lexeme}  {leaf.payload.path}:{leaf.node.line}:{leaf.node.column}  {leaf.pointer}"
    yield f"digest {leaf.payload.sha256}"
    yield f"made by {_command(leaf)}"


def _command(leaf: Leaf) -> str:
    try:
        node = leaf.payload.at("/provenance/command")
    except KeyError:
        return "a command that the payload does not name"
    return node.text if node.kind == "string" else " ".join(word.text for word in node.items)
