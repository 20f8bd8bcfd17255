"""Reads an expression back from its form as nested lists: its value, its truth, its text, its leaves."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from typing import Any

from generator.number.number import Prefix
from generator.record.payload import Payload

OPERATIONS: Mapping[str, Callable[..., Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "neg": operator.neg,
    "abs": abs,
    "min": min,
    "max": max,
}
COMPARISONS: Mapping[str, Callable[..., bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}
LOGIC: Mapping[str, Callable[..., bool]] = {
    "and": lambda *truths: all(truths),
    "or": lambda *truths: any(truths),
    "not": operator.not_,
}
_ALL = {**OPERATIONS, **COMPARISONS, **LOGIC}
_INFIX = frozenset({"+", "-", "*", "/", "and", "or", *COMPARISONS})

Value = Fraction | bool


def evaluate(prefix: Prefix, payloads: Mapping[str, Payload]) -> Value:
    """The exact value of an expression, or whether a condition holds.

    Raises KeyError where a payload lacks a field, ZeroDivisionError where one that is divided by is zero.
    """
    if isinstance(prefix, str):
        return Fraction(prefix)
    if is_leaf(prefix):
        path, pointer, _ = prefix
        return Fraction(payloads[str(path)].at(str(pointer)).lexeme)
    name, *operands = prefix
    value: Value = _ALL[str(name)](*(evaluate(operand, payloads) for operand in operands))
    return value


def is_leaf(prefix: Prefix) -> bool:
    """Whether it is a path, a pointer and a digest."""
    return isinstance(prefix, list) and prefix[0] not in _ALL


def leaves(prefix: Prefix) -> Iterator[tuple[str, str, str]]:
    """Path, pointer and digest of every field in it, in order."""
    if isinstance(prefix, list) and is_leaf(prefix):
        path, pointer, digest = (str(part) for part in prefix)
        yield path, pointer, digest
    elif isinstance(prefix, list):
        for operand in prefix[1:]:
            yield from leaves(operand)


def infix(prefix: Prefix) -> str:
    """The expression as text, without digests, in brackets wherever it has parts."""
    if isinstance(prefix, str):
        return prefix
    if is_leaf(prefix):
        return f"{prefix[0]}#{prefix[1]}"
    name, *operands = prefix
    parts = [_bracketed(operand) for operand in operands]
    if name in _INFIX and len(parts) > 1:
        return f" {name} ".join(parts)
    return f"{name}({', '.join(infix(operand) for operand in operands)})"


def _bracketed(prefix: Prefix) -> str:
    plain = isinstance(prefix, str) or is_leaf(prefix) or prefix[0] not in _INFIX
    return infix(prefix) if plain else f"({infix(prefix)})"
