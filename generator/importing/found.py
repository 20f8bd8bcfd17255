"""What was found in a file of results: numbers as they are written there, and what is no number."""

from __future__ import annotations

from dataclasses import dataclass, field

from generator.report.refusal import Refusal, Refused


class Lexeme(str):
    """A number as it is written in a file; it is never read as a float and never written otherwise."""

    __slots__ = ()


@dataclass(frozen=True)
class Found:
    """One number: its names in the file from the outside in, its place, and the unit that the file states.

    `ends` holds what the file says of its interval, by the keys that a payload has for them.
    """

    tokens: tuple[str, ...]
    lexeme: Lexeme
    line: int
    column: int
    unit: str = ""
    ends: dict[str, Lexeme | str] = field(default_factory=dict)


@dataclass(frozen=True)
class Left:
    """Something that is no number, and why it stays behind."""

    tokens: tuple[str, ...]
    line: int
    why: str


@dataclass
class Taken:
    """Everything that one file gives: numbers, what stays behind, and what the file says of its run."""

    shape: str
    numbers: list[Found] = field(default_factory=list)
    left: list[Left] = field(default_factory=list)
    regime: dict[str, Lexeme | str | bool] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)
    absent: dict[tuple[str, ...], str] = field(default_factory=dict)


def refused(path: str, line: int, column: int, text: str, message: str) -> Refused:
    """One refusal at a place of the file that is imported."""
    return Refused([Refusal(path, line, column, "bad-payload", text, message)])
