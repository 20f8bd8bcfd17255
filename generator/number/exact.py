"""Evaluates expressions against payloads: exact rationals, equal units, and a trace of every leaf."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import PurePosixPath
from typing import NoReturn

from generator.number import unit
from generator.number.fragment import Fragment
from generator.number.number import Leaf, Prefix
from generator.number.syntax import Comparison, Condition, Expression, Field, Literal, Logic, Operation
from generator.number.unit import Unit
from generator.record import pointer
from generator.record.payload import Payload
from generator.record.tree import Node
from generator.report.refusal import Refused

TEXT_LIMIT = 120
"""Characters of the longest text of a payload that a page quotes."""

_TEXT_ROOTS = ("name", "question", "regime", "provenance", "schema", "citation")
_TEXT_KEYS = ("unit", "method", "source")
_BITS_LIMIT = 20_000
"""Bits of a numerator or denominator beyond which an expression is refused."""


@dataclass(frozen=True)
class Result:
    """An exact value, its unit (None for a literal, which suits any), its trace and its leaves."""

    value: Fraction
    unit: Unit | None
    prefix: Prefix
    leaves: tuple[Leaf, ...]

    @property
    def bare(self) -> bool:
        """Whether an estimate stands in it without saying which of its values is meant."""
        return any(leaf.bare for leaf in self.leaves)


@dataclass(frozen=True)
class Verdict:
    """Whether a condition holds, its trace and its leaves."""

    holds: bool
    prefix: Prefix
    leaves: tuple[Leaf, ...]


@dataclass(frozen=True)
class Scope:
    """The payloads that a source names, by alias; those that do not exist are absent."""

    declared: Mapping[str, str]
    payloads: Mapping[str, Payload]

    def node(self, fragment: Fragment, field: Field) -> tuple[Payload, tuple[str, ...], Node]:
        """The value that a field names; raises Refused where there is none."""
        path = self.declared.get(field.alias)
        if path is None:
            self._unnamed(fragment, field)
        if path not in self.payloads:
            message = f"{path} is not there, or was refused."
            _refuse(fragment, field.offset, "unknown-payload", path, message)
        payload = self.payloads[path]
        node = payload.root
        for depth, key in enumerate(field.keys):
            try:
                node = node.child(key)
            except KeyError:
                where = pointer.unparse(field.keys[:depth]) or "/"
                message = f'{path} has no "{key}" under {where}. {_nearby(node)}'
                _refuse(fragment, field.offset, "unknown-field", key, message)
        return payload, field.keys, node

    def _unnamed(self, fragment: Fragment, field: Field) -> NoReturn:
        """Refuse an alias that the source does not have: a payload of that name is there to be declared."""
        path = next((each for each in self.payloads if PurePosixPath(each).stem == field.alias), None)
        if path:
            message = f'Declare the payload: "{field.alias}: {path}" under payloads.'
            _refuse(fragment, field.offset, "payload-undeclared", field.alias, message)
        known = f"Declared: {', '.join(self.declared)}." if self.declared else "None is declared."
        message = f'"{field.alias}" is no payload of this source. {known}'
        _refuse(fragment, field.offset, "unknown-payload", field.alias, message)


def leaf(scope: Scope, fragment: Fragment, field: Field) -> Leaf:
    """The scalar that a field names, the value of a quantity where it names one; raises Refused."""
    payload, keys, node = scope.node(fragment, field)
    bare = False
    if node.kind == "object" and "value" in node.members:
        bare = "low" in node.members
        keys, node = (*keys, "value"), node.members["value"]
    _check_printable(fragment, field, keys, node)
    return Leaf(payload, pointer.unparse(keys), node, _unit(payload, keys), bare)


def bound(scope: Scope, fragment: Fragment, field: Field, key: str) -> Leaf:
    """value, low or high of the estimate that a field names; raises Refused where it is no estimate."""
    payload, keys, node = scope.node(fragment, field)
    if key not in node.members:
        message = f'{pointer.unparse(keys)} has no "{key}": ci prints an estimate with its interval.'
        _refuse(fragment, field.offset, "unknown-field", key, message)
    inner = (*keys, key)
    return Leaf(payload, pointer.unparse(inner), node.members[key], _unit(payload, inner))


def at(payload: Payload, keys: tuple[str, ...]) -> Leaf:
    """The scalar under keys that lead to one; KeyError where they do not."""
    node = payload.root
    for key in keys:
        node = node.child(key)
    return Leaf(payload, pointer.unparse(keys), node, _unit(payload, keys))


def _nearby(node: Node) -> str:
    if node.kind != "object":
        return f"That is {'an' if node.kind == 'array' else 'a'} {node.kind}."
    names = list(node.members)
    return f"Known: {', '.join(names[:12])}{', …' if len(names) > 12 else ''}."


def _unit(payload: Payload, keys: tuple[str, ...]) -> Unit:
    """The unit of the quantity around a value, its interval or a second interval; none for anything else."""
    depth = 1 if keys[-1] == "value" else 2
    if keys[-1] not in ("value", "low", "high"):
        return unit.NONE
    for above in range(1, depth + 1):
        owner = payload.root
        for key in keys[:-above]:
            owner = owner.child(key)
        written = owner.members.get("unit")
        if "value" in owner.members and written is not None:
            return unit.named(written.text if written.kind == "string" else "")
    return unit.NONE


def _check_printable(fragment: Fragment, field: Field, keys: tuple[str, ...], node: Node) -> None:
    """Numbers print from anywhere, texts only where they are names or conditions."""
    where = pointer.unparse(keys)
    message = ""
    if node.kind not in ("number", "string"):
        message = f"{where or 'The document'} is {node.kind}, no number and no text."
    elif node.kind == "string" and keys[0] not in _TEXT_ROOTS and keys[-1] not in _TEXT_KEYS:
        roots = ", ".join((*_TEXT_ROOTS, *_TEXT_KEYS))
        message = f"Text is quoted from {roots} only; {where} is elsewhere."
    elif node.kind == "string" and len(node.text) > TEXT_LIMIT:
        message = f"The text at {where} is longer than {TEXT_LIMIT} characters."
    if message:
        _refuse(fragment, field.offset, "unknown-field", where, message)


def evaluate(scope: Scope, fragment: Fragment, expression: Expression) -> Result:
    """The exact value of an expression; raises Refused for unequal units, texts and division by zero."""
    if isinstance(expression, Literal):
        return Result(expression.value, None, str(expression.value), ())
    if isinstance(expression, Field):
        found = leaf(scope, fragment, expression)
        if found.node.kind != "number":
            message = f"{found.pointer} is a text; it cannot be calculated with."
            _refuse(fragment, expression.offset, "bad-template", found.pointer, message)
        return Result(found.value, found.unit, found.prefix, (found,))
    operands = [evaluate(scope, fragment, operand) for operand in expression.operands]
    value = _apply(fragment, expression, [operand.value for operand in operands])
    measure = _measure(fragment, expression, [operand.unit for operand in operands])
    leaves = tuple(found for operand in operands for found in operand.leaves)
    return Result(value, measure, [expression.name, *(operand.prefix for operand in operands)], leaves)


_OPERATIONS: dict[str, Callable[..., Fraction]] = {
    "+": lambda left, right: left + right,
    "-": lambda left, right: left - right,
    "*": lambda left, right: left * right,
    "/": lambda left, right: left / right,
    "neg": lambda value: -value,
    "abs": abs,
    "min": min,
    "max": max,
}


def _apply(fragment: Fragment, operation: Operation, values: list[Fraction]) -> Fraction:
    if operation.name == "/" and values[1] == 0:
        _refuse(fragment, operation.offset, "bad-template", "/", "The value below is zero.")
    result = _OPERATIONS[operation.name](*values)
    if max(result.numerator.bit_length(), result.denominator.bit_length()) > _BITS_LIMIT:
        message = "The exact result is longer than an expression may be."
        _refuse(fragment, operation.offset, "bad-template", operation.name, message)
    return result


def _measure(fragment: Fragment, operation: Operation, units: list[Unit | None]) -> Unit | None:
    """The unit of a result; what is added, subtracted or compared has one unit."""
    if operation.name in "*/":
        if units == [None, None]:
            return None
        sign = -1 if operation.name == "/" else 1
        return unit.product(units[0] or unit.NONE, units[1] or unit.NONE, sign)
    return _common(fragment, operation.offset, operation.name, units)


def _common(fragment: Fragment, offset: int, name: str, units: list[Unit | None]) -> Unit | None:
    known = [each for each in units if each is not None]
    for other in known[1:]:
        if other != known[0]:
            message = f'"{name}" wants equal units, and has {unit.text(known[0])} and {unit.text(other)}.'
            _refuse(fragment, offset, "unit-mismatch", name, message)
    return known[0] if known else None


_COMPARISONS: dict[str, Callable[[Fraction, Fraction], bool]] = {
    "<": lambda left, right: left < right,
    "<=": lambda left, right: left <= right,
    ">": lambda left, right: left > right,
    ">=": lambda left, right: left >= right,
    "==": lambda left, right: left == right,
    "!=": lambda left, right: left != right,
}


def judge(scope: Scope, fragment: Fragment, condition: Condition) -> Verdict:
    """Whether a condition holds; every part of it is evaluated, so that none can hide a fault."""
    if isinstance(condition, Comparison):
        return _compare(scope, fragment, condition)
    return _combine(condition, [judge(scope, fragment, operand) for operand in condition.operands])


def _combine(condition: Logic, operands: list[Verdict]) -> Verdict:
    truths = [operand.holds for operand in operands]
    holds = {"and": all(truths), "or": any(truths), "not": not truths[0]}[condition.name]
    leaves = tuple(found for operand in operands for found in operand.leaves)
    return Verdict(holds, [condition.name, *(operand.prefix for operand in operands)], leaves)


def _compare(scope: Scope, fragment: Fragment, condition: Comparison) -> Verdict:
    left = evaluate(scope, fragment, condition.left)
    right = evaluate(scope, fragment, condition.right)
    _common(fragment, condition.offset, condition.name, [left.unit, right.unit])
    if left.bare and right.bare:
        message = "Both sides are estimates with intervals. Say .low, .high or .value."
        _refuse(fragment, condition.offset, "bad-template", condition.name, message)
    holds = _COMPARISONS[condition.name](left.value, right.value)
    return Verdict(holds, [condition.name, left.prefix, right.prefix], (*left.leaves, *right.leaves))


def _refuse(fragment: Fragment, offset: int, code: str, text: str, message: str) -> NoReturn:
    raise Refused([fragment.refusal(offset, code, text, message)])
