"""What the expressions and claims of a page come to, so that a fault is known to make a difference."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

Read = Callable[[str, str], Fraction]
"""From the path of a payload and a pointer to the number that stands there."""

_ARITHMETIC: dict[str, Callable[..., Fraction]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "neg": operator.neg,
    "abs": abs,
    "min": min,
    "max": max,
}
_COMPARISONS: dict[str, Callable[[Fraction, Fraction], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}
_NAMES = frozenset({*_ARITHMETIC, *_COMPARISONS, "and", "or", "not"})


def leaves(tree: Any) -> Iterator[list[str]]:
    """Every field that an expression or a claim names: path, pointer, digest."""
    if isinstance(tree, list) and tree:
        if tree[0] in _NAMES:
            for operand in tree[1:]:
                yield from leaves(operand)
        else:
            yield tree


def value(tree: Any, read: Read) -> Fraction:
    """The exact value of an expression; raises ZeroDivisionError."""
    if isinstance(tree, str):
        return Fraction(tree)
    name, *operands = tree
    if name in _ARITHMETIC:
        return _ARITHMETIC[name](*(value(each, read) for each in operands))
    return read(name, operands[0])


def holds(tree: Any, read: Read) -> bool:
    """Whether the comparison of a claim is true; raises ZeroDivisionError."""
    name, *operands = tree
    if name in _COMPARISONS:
        return _COMPARISONS[name](value(operands[0], read), value(operands[1], read))
    truths = [holds(each, read) for each in operands]
    return {"and": all(truths), "or": any(truths), "not": not truths[0]}[str(name)]
