"""Numbers as they will be printed: each with the place in a payload that it came from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction

from generator.number.display import Form
from generator.number.unit import Unit
from generator.record.payload import Payload
from generator.record.tree import Node

Prefix = str | list["Prefix"]
"""An expression as nested lists, operator first; a leaf is path, pointer, digest; a literal is a string."""


Place = tuple[str, str]
"""Path of a payload and pointer of a field in it."""


@dataclass(frozen=True)
class Leaf:
    """One scalar of a payload; bare where an estimate was named without .value, .low or .high."""

    payload: Payload
    pointer: str
    node: Node = field(repr=False)
    unit: Unit
    bare: bool = False

    @property
    def place(self) -> Place:
        return self.payload.path, self.pointer

    @property
    def prefix(self) -> Prefix:
        return [self.payload.path, self.pointer, self.payload.sha256]

    @property
    def value(self) -> Fraction:
        """The exact value of a number."""
        return Fraction(self.node.lexeme)


@dataclass(frozen=True)
class Shown:
    """A leaf and how it is printed: a number in a form, or a text as it is."""

    leaf: Leaf
    form: str
    text: str

    @property
    def leaves(self) -> Iterator[Leaf]:
        yield self.leaf


@dataclass(frozen=True)
class Derived:
    """The exact result of an expression, and how it is printed."""

    prefix: Prefix
    value: Fraction
    form: Form
    text: str
    leaves: tuple[Leaf, ...]


@dataclass(frozen=True)
class Bracketed:
    """An estimate with its interval: three leaves in one form."""

    value: Shown
    low: Shown
    high: Shown

    @property
    def text(self) -> str:
        return f"{self.value.text} [{self.low.text}, {self.high.text}]"

    @property
    def leaves(self) -> Iterator[Leaf]:
        yield from (self.value.leaf, self.low.leaf, self.high.leaf)


@dataclass(frozen=True)
class Made:
    """A number that the generator makes by a rule of a closed table; its value is known once all is read."""

    rule: str


Number = Shown | Derived | Bracketed | Made
