"""The syntax tree of expressions: what a source may say between double braces, in a claim, in a rule."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from generator.number.display import Form


@dataclass(frozen=True)
class Field:
    """A field of a payload: its alias and the keys below."""

    alias: str
    keys: tuple[str, ...]
    offset: int


@dataclass(frozen=True)
class Literal:
    """An exact integer, or a fraction of two, inside a claim or a rule."""

    value: Fraction
    offset: int


@dataclass(frozen=True)
class Operation:
    """neg, + − * /, min, max or abs of operands."""

    name: str
    operands: tuple[Expression, ...]
    offset: int


@dataclass(frozen=True)
class Comparison:
    """Two expressions and the order asserted between them."""

    name: str
    left: Expression
    right: Expression
    offset: int


@dataclass(frozen=True)
class Logic:
    """and, or, not of conditions."""

    name: str
    operands: tuple[Condition, ...]
    offset: int


@dataclass(frozen=True)
class Computed:
    """A number that the generator itself makes by a named rule."""

    rule: str
    offset: int


Expression = Field | Literal | Operation
Condition = Comparison | Logic
Anything = Field | Literal | Operation | Comparison | Logic | Computed


@dataclass(frozen=True)
class Interval:
    """The form ci: value, low and high of an estimate, each printed in one form."""

    form: Form


@dataclass(frozen=True)
class Output:
    """What stands between double braces: an expression and how to print it, None as it is written."""

    expression: Field | Operation | Computed
    form: Form | Interval | None
