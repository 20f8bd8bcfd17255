"""The language of rules, read a second time: fields of payloads, arithmetic, comparisons, logic.

Python's own parser makes the tree; every node that is not named here is refused, so nothing can run.
A value is a `Fraction`, or an array of doubles with one entry a case: the same tree is evaluated on
committed digits exactly and on thousands of removals at once.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from typing import Any, NoReturn

import numpy as np

from engine.contract.errors import BadData

LENGTH_LIMIT = 4000
"""Characters of the longest rule that is read."""

DEPTH_LIMIT = 120
"""Levels of the deepest tree that is walked."""

_KEY = re.compile(r"""("[^"\n]*"|'[^'\n]*')|\.\s*([A-Za-z_]\w*)""")
_LEXICON = re.compile(r"""(?:"[^"\\]*"|'[^'\\]*'|[A-Za-z0-9_\s.,<>=!+*/()\[\]-])*""")
_STRING = re.compile(r"""(["'])[^"'\\\n]*\1""")

Value = Any
"""A Fraction, or an array of doubles, one a case."""


@dataclass(frozen=True)
class Field:
    """A field of a payload: its alias and the keys below."""

    alias: str
    keys: tuple[str, ...]

    def __str__(self) -> str:
        return ".".join((self.alias, *self.keys))


@dataclass(frozen=True)
class Literal:
    """A whole number."""

    value: Fraction


@dataclass(frozen=True)
class Operation:
    """neg, + - * /, min, max or abs of operands."""

    name: str
    operands: tuple[Expression, ...]


@dataclass(frozen=True)
class Comparison:
    """Two expressions and the order asserted between them."""

    name: str
    left: Expression
    right: Expression


@dataclass(frozen=True)
class Logic:
    """and, or, not of conditions."""

    name: str
    operands: tuple[Condition, ...]


Expression = Field | Literal | Operation
Condition = Comparison | Logic
Lookup = Callable[[Field | Literal], Value]

_ARITHMETIC = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}
_ORDERS = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="}
_FUNCTIONS = ("min", "max", "abs")


def parse(text: str, place: str) -> Condition:
    """The tree of a rule; `BadData` at `place` for anything outside the language."""
    reader = _Reader(text, place)
    return reader.condition(reader.tree())


class _Reader:
    """From Python's tree to ours, node by node."""

    def __init__(self, text: str, place: str) -> None:
        self.text = _KEY.sub(lambda m: m[1] or f'["{m[2]}"]', " ".join(text.split()))
        self.place = place

    def tree(self) -> ast.expr:
        if len(self.text) > LENGTH_LIMIT:
            self.refuse(f"is longer than {LENGTH_LIMIT} characters.")
        if not _LEXICON.fullmatch(self.text):
            self.refuse("holds a character that has no meaning there.")
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                tree = ast.parse(self.text, mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            self.refuse(f"cannot be read: {getattr(error, 'msg', None) or type(error).__name__}.")
        if _deeper(tree, DEPTH_LIMIT):
            self.refuse(f"is nested deeper than {DEPTH_LIMIT} levels.")
        return tree

    def refuse(self, problem: str) -> NoReturn:
        raise BadData(self.place, problem, "A rule compares fields of payloads, integers and fractions.")

    def source(self, node: ast.expr) -> str:
        return ast.get_source_segment(self.text, node) or type(node).__name__

    def condition(self, node: ast.expr) -> Condition:
        if isinstance(node, ast.BoolOp):
            name = "and" if isinstance(node.op, ast.And) else "or"
            return Logic(name, tuple(self.condition(value) for value in node.values))
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return Logic("not", (self.condition(node.operand),))
        if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in _ORDERS:
            left, right = self.expression(node.left), self.expression(node.comparators[0])
            return Comparison(_ORDERS[type(node.ops[0])], left, right)
        return self.refuse(f"holds {self.source(node)!r}, which is no comparison of two values.")

    def expression(self, node: ast.expr) -> Expression:
        if isinstance(node, ast.BinOp) and type(node.op) in _ARITHMETIC:
            operands = (self.expression(node.left), self.expression(node.right))
            return Operation(_ARITHMETIC[type(node.op)], operands)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return Operation("neg", (self.expression(node.operand),))
        if isinstance(node, ast.Call):
            return self.call(node)
        if isinstance(node, (ast.Subscript, ast.Name)):
            return self.field(node)
        if isinstance(node, ast.Constant) and re.fullmatch("[0-9]+", self.source(node)):
            return Literal(Fraction(int(self.source(node))))
        return self.refuse(f"holds {self.source(node)!r}, which is no field, integer or fraction.")

    def call(self, node: ast.Call) -> Operation:
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        fits = len(node.args) == 1 if name == "abs" else len(node.args) > 1
        if name not in _FUNCTIONS or node.keywords or not fits:
            self.refuse(f"holds {self.source(node)!r}; only min, max of several and abs of one are known.")
        return Operation(name, tuple(self.expression(argument) for argument in node.args))

    def field(self, node: ast.expr) -> Field:
        keys: list[str] = []
        while isinstance(node, ast.Subscript):
            key = self.source(node.slice)
            if not _STRING.fullmatch(key):
                self.refuse(f"holds {self.source(node)!r}, which names no field.")
            keys.insert(0, key[1:-1])
            node = node.value
        if not isinstance(node, ast.Name):
            self.refuse(f"holds {self.source(node)!r}, which names no payload.")
        return Field(node.id, tuple(keys))


def _deeper(tree: ast.expr, limit: int) -> bool:
    """Whether a tree has more levels than this, found without walking into it by calls."""
    level: list[ast.AST] = [tree]
    for _ in range(limit):
        level = [child for node in level for child in ast.iter_child_nodes(node)]
    return bool(level)


def fields(node: Condition | Expression) -> Iterator[Field]:
    """Every field of a rule, in order, with repetitions."""
    if isinstance(node, Field):
        yield node
    elif isinstance(node, Comparison):
        yield from fields(node.left)
        yield from fields(node.right)
    elif isinstance(node, (Operation, Logic)):
        for operand in node.operands:
            yield from fields(operand)


_OPERATIONS: Mapping[str, Callable[..., Value]] = {
    "+": lambda left, right: left + right,
    "-": lambda left, right: left - right,
    "*": lambda left, right: left * right,
    "/": lambda left, right: left / right,
    "neg": lambda value: -value,
    "abs": abs,
    "min": lambda *values: reduce(np.minimum, values),
    "max": lambda *values: reduce(np.maximum, values),
}
_COMPARISONS: Mapping[str, Callable[[Value, Value], Value]] = {
    "<": lambda left, right: left < right,
    "<=": lambda left, right: left <= right,
    ">": lambda left, right: left > right,
    ">=": lambda left, right: left >= right,
    "==": lambda left, right: left == right,
    "!=": lambda left, right: left != right,
}


def value(node: Expression, lookup: Lookup) -> Value:
    """The value of an expression; raises ZeroDivisionError for a fraction over zero."""
    if isinstance(node, Operation):
        return _OPERATIONS[node.name](*(value(operand, lookup) for operand in node.operands))
    return lookup(node)


def truth(node: Condition, lookup: Lookup) -> Value:
    """Whether a condition holds, case by case."""
    if isinstance(node, Comparison):
        return _COMPARISONS[node.name](value(node.left, lookup), value(node.right, lookup))
    parts = [truth(operand, lookup) for operand in node.operands]
    if node.name == "not":
        return np.logical_not(parts[0])
    return reduce(np.logical_and if node.name == "and" else np.logical_or, parts)


def margin(node: Condition, lookup: Lookup, origin: Lookup) -> Value:
    """How far a condition is from changing its truth, case by case: positive where it holds.

    Each comparison counts in shares of its own distance at `origin`, so that those of one rule weigh alike.
    """
    if isinstance(node, Comparison):
        scale = abs(_gap(node, origin))
        return _gap(node, lookup) / np.where(scale > 0, scale, 1.0)
    parts = [margin(operand, lookup, origin) for operand in node.operands]
    if node.name == "not":
        return -parts[0]
    return reduce(np.minimum if node.name == "and" else np.maximum, parts)


def _gap(node: Comparison, lookup: Lookup) -> Value:
    left, right = value(node.left, lookup), value(node.right, lookup)
    if node.name in ("==", "!="):
        return abs(left - right) * (-1.0 if node.name == "==" else 1.0)
    return left - right if ">" in node.name else right - left
