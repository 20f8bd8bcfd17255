"""What the expressions and claims of a page come to, so that a fault is known to make a difference."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

from generator.number.prefix import COMPARISONS, LOGIC, OPERATIONS

Read = Callable[[str, str], Fraction]
"""From the path of a payload and a pointer to the number that stands there."""

_NAMES = frozenset({*OPERATIONS, *COMPARISONS, *LOGIC})


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
    if name in OPERATIONS:
        made: Fraction = OPERATIONS[name](*(value(each, read) for each in operands))
        return made
    return read(name, operands[0])


def holds(tree: Any, read: Read) -> bool:
    """Whether the comparison of a claim is true; raises ZeroDivisionError."""
    name, *operands = tree
    if name in COMPARISONS:
        return COMPARISONS[name](value(operands[0], read), value(operands[1], read))
    return LOGIC[str(name)](*(holds(each, read) for each in operands))
