"""Evaluates the expressions and comparisons of a page, in exact rationals, from the payload bytes."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from fractions import Fraction

from generator.audit.evidence import Evidence
from generator.audit.fault import Fault
from generator.audit.rounding import exact
from generator.audit.scanner import Value

DEPTH_LIMIT = 40
"""Nested operations beyond which an expression is refused."""

BITS_LIMIT = 20_000
"""Bits of a numerator or denominator beyond which an expression is refused."""

_LITERAL = re.compile(r"-?[0-9]{1,40}(?:/[1-9][0-9]{0,39})?")
ANY = -1
"""Stands for two operands or more."""

_OPERATORS = {"+": 2, "-": 2, "*": 2, "/": 2, "neg": 1, "abs": 1, "min": ANY, "max": ANY}
_COMPARISONS = frozenset({"<", "<=", ">", ">=", "==", "!="})

Unit = tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class Operand:
    """An exact value and its unit; None for a literal, which goes with any unit."""

    value: Fraction
    unit: Unit | None


@dataclass
class Trace:
    """What an expression rested on: its leaves and the constants that were typed in it."""

    evidence: Evidence
    literals: bool
    leaves: list[tuple[str, Value]] = field(default_factory=list)
    constants: set[str] = field(default_factory=set)

    def operand(self, node: object, depth: int = 0) -> Operand:
        """The exact value of one expression; raises Fault."""
        if isinstance(node, str):
            return self._literal(node)
        if not isinstance(node, list) or not node or not isinstance(node[0], str) or depth > DEPTH_LIMIT:
            raise Fault("bad-template", "The expression in the page is malformed.")
        if node[0] not in _OPERATORS:
            return self._leaf(node)
        wanted = _OPERATORS[node[0]]
        if len(node) - 1 != wanted and not (wanted == ANY and len(node) > 2):
            raise Fault("bad-template", f'"{node[0]}" has {len(node) - 1} operands.')
        return _apply(node[0], [self.operand(inner, depth + 1) for inner in node[1:]])

    def holds(self, node: object, depth: int = 0) -> bool:
        """Whether a condition is true; every part is evaluated; raises Fault."""
        if not isinstance(node, list) or not node or depth > DEPTH_LIMIT:
            raise Fault("bad-template", "The condition in the page is malformed.")
        name, operands = node[0], node[1:]
        if name in ("and", "or", "not") and operands:
            truths = [self.holds(inner, depth + 1) for inner in operands]
            if name == "not" and len(truths) != 1:
                raise Fault("bad-template", '"not" has one operand.')
            return {"and": all(truths), "or": any(truths), "not": not truths[0]}[str(name)]
        if name not in _COMPARISONS or len(operands) != 2:
            raise Fault("bad-template", f"{str(name)[:20]!r} is no comparison of two values.")
        left, right = (self.operand(inner, depth + 1) for inner in operands)
        _common(str(name), [left, right])
        order = (left.value > right.value) - (left.value < right.value)
        return (
            order
            in {"<": (-1,), "<=": (-1, 0), ">": (1,), ">=": (1, 0), "==": (0,), "!=": (-1, 1)}[str(name)]
        )

    def _literal(self, text: str) -> Operand:
        if not self.literals:
            raise Fault(
                "literal-in-expression", f"{text[:40]!r} is typed inside an expression. Name a field."
            )
        if not _LITERAL.fullmatch(text):
            raise Fault("literal-in-expression", f"{text[:40]!r} is no integer and no fraction of two.")
        self.constants.add(str(Fraction(text)))
        return Operand(Fraction(text), None)

    def _leaf(self, node: list[object]) -> Operand:
        if len(node) != 3 or not all(isinstance(part, str) for part in node):
            raise Fault("bad-template", "A leaf of an expression is path, pointer and digest.")
        path, pointer, sha256 = (str(part) for part in node)
        found = self.evidence.value(path, pointer, sha256)
        if found.kind != "number":
            raise Fault("unknown-field", f"{path}{pointer} is no number.")
        self.leaves.append((path, found))
        unit = self.evidence.unit(path, pointer)
        return Operand(exact(found.written.decode()), ((unit, 1),) if unit else ())


def parse(text: str) -> object:
    """The JSON of an attribute; raises Fault."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise Fault("bad-template", "The expression in the page is not JSON.") from None


def _apply(name: str, operands: list[Operand]) -> Operand:
    values = [operand.value for operand in operands]
    if name in "*/":
        return _scaled(name, operands)
    result = {
        "+": lambda: values[0] + values[1],
        "-": lambda: values[0] - values[1],
        "neg": lambda: -values[0],
        "abs": lambda: abs(values[0]),
        "min": lambda: min(values),
        "max": lambda: max(values),
    }[name]()
    return Operand(_bounded(result), _common(name, operands))


def _scaled(name: str, operands: list[Operand]) -> Operand:
    left, right = operands
    if name == "/" and right.value == 0:
        raise Fault("bad-template", "The expression divides by zero.")
    value = left.value * right.value if name == "*" else left.value / right.value
    powers = dict(left.unit or ())
    for unit, power in right.unit or ():
        powers[unit] = powers.get(unit, 0) + (power if name == "*" else -power)
    return Operand(_bounded(value), tuple(sorted((unit, power) for unit, power in powers.items() if power)))


def _bounded(value: Fraction) -> Fraction:
    if max(value.numerator.bit_length(), value.denominator.bit_length()) > BITS_LIMIT:
        raise Fault("bad-template", "The exact result is longer than an expression may be.")
    return value


def _common(name: str, operands: list[Operand]) -> Unit | None:
    """The one unit of what is added, subtracted or compared; raises Fault where there are two."""
    units = {operand.unit for operand in operands if operand.unit is not None}
    if len(units) > 1:
        first, second, *_ = (" ".join(f"{unit}^{power}" for unit, power in each) or "none" for each in units)
        raise Fault("unit-mismatch", f'"{name}" puts together the units {first} and {second}.')
    return next(iter(units), None)
