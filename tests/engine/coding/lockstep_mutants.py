"""Every way to spoil one operator, constant, condition or statement of the coder, and named spoilings.

The automatic ones are read off the syntax tree, so that a clause added later is spoilt as well. The named
ones are mistakes that other coders made.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from dataclasses import dataclass
from types import CodeType, ModuleType
from typing import Any

COMPARISONS: dict[type[ast.cmpop], list[type[ast.cmpop]]] = {
    ast.Lt: [ast.LtE, ast.GtE],
    ast.LtE: [ast.Lt, ast.Gt],
    ast.Gt: [ast.GtE, ast.LtE],
    ast.GtE: [ast.Gt, ast.Lt],
    ast.Eq: [ast.NotEq],
    ast.NotEq: [ast.Eq],
    ast.Is: [ast.IsNot],
    ast.IsNot: [ast.Is],
}
OPERATORS: dict[type[ast.operator], list[type[ast.operator]]] = {
    ast.Add: [ast.Sub],
    ast.Sub: [ast.Add],
    ast.Mult: [ast.FloorDiv, ast.Add],
    ast.FloorDiv: [ast.Mult],
    ast.LShift: [ast.RShift],
    ast.RShift: [ast.LShift],
    ast.BitAnd: [ast.BitOr],
    ast.BitOr: [ast.BitAnd],
}


@dataclass(frozen=True)
class Mutant:
    """One spoilt copy of the source; `place` names the line by its text, so that lines may move."""

    place: str
    change: str
    program: CodeType

    @property
    def name(self) -> str:
        """What is compared with the list of the harmless."""
        return f"{self.place} :: {self.change}"

    def module(self) -> ModuleType:
        """The spoilt coder."""
        made = ModuleType("engine.coding.spoilt")
        exec(self.program, made.__dict__)
        return made


NAMED = {
    "the carry is lost": ('(self._held + 1).to_bytes(2, "big")', 'self._held.to_bytes(2, "big")'),
    "the carry stops at the first word": ("bytes(2 * self._run)  # [carry]", 'b"\\xff" * (2 * self._run)'),
    "a run is counted once": ("self._run += 1", "self._run = 1"),
    "a run is forgotten": ("self._run += 1  # [run]", "pass"),
    "a run is emitted twice": ("word & TOP, 0  # [hold]", "word & TOP, self._run"),
    "the held word keeps its carry": ("word & TOP, 0  # [hold]", "word % (TOP + 2), 0"),
    "the window keeps its high bits": ("(low & LEAST - 1) << WORD", "low << WORD"),
    "one shift where two are due": (
        "while width < LEAST:\n                    self",
        "if width < LEAST:\n                    self",
    ),
    "one shift where two are due, reading": (
        "while width < LEAST:\n                value",
        "if width < LEAST:\n                value",
    ),
    "the ending trusts zeros to follow": ("if point + unit <= low + width", "if point < low + width"),
    "the ending is always three bytes": ("for length in range(TAIL)", "for length in range(3, TAIL)"),
    "the ending rounds down": ("point = -(-low // unit) * unit", "point = low // unit * unit"),
    "trailing bytes pass": ("if self._length > at + length", "if False"),
    "a short code passes": ("if self._length < at + length", "if False"),
    "any number in the interval passes": ("if self._value != point - low", "if False"),
    "the slack goes to the last symbol": ("slot = value // unit", "slot = min(value // unit, total - 1)"),
    "words beyond the end are zeros": (
        "if word is None:",
        "if word is None:\n            return 0\n        if False:",
    ),
    "counts are halved downwards": ("count - (count >> 1)", "max(1, count >> 1)"),
    "counts may be halved to zero": ("count - (count >> 1)", "count >> 1"),
    "counts are quartered": ("count - (count >> 1)", "count - (3 * count >> 2)"),
    "the model rescales at the limit": ("self.total > self._limit", "self.total >= self._limit"),
    "the model rescales until it has room": (
        "if self.total > self._limit:",
        "while self.total + self._increment > self._limit:",
    ),
    "the model never rescales": ("if self.total > self._limit:", "if False:"),
    "the model learns before it codes": (
        "            block = symbol >> self._shift\n            start = sum",
        "            self._learn(symbol)\n            block = symbol >> self._shift\n            start = sum",
    ),
    "a total too large passes": ("1 <= self.total <= TOTAL_LIMIT", "1 <= self.total"),
    "an empty model passes": ("1 <= self.total <= TOTAL_LIMIT", "self.total <= TOTAL_LIMIT"),
    "a negative symbol wraps round": (
        "if not 0 <= symbol < len(self._counts)",
        "if not symbol < len(self._counts)",
    ),
    "a missing end passes": ("if end is not None and message[-1:] != [end]", "if False"),
    "the end is overlooked": ("if symbol == end:\n                break  # [end]", "pass"),
    "words are read little end first": ('">{words}H"', '"<{words}H"'),
}
"""Mistake: the text it replaces, once, and what it puts there."""

SPEED = {
    "TABLE_LIMIT = 1 << 16",
    "if self.total <= TABLE_LIMIT:",
    "self.find = table.__getitem__",
    "self._shift = (symbols - 1).bit_length() + 1 >> 1",
}
"""Lines that choose between two ways to the same symbol, so that no vector can tell; not spoilt."""

HARMLESS = {
    "Found = tuple[int, int, int, int] :: Found = tuple[int, int, int, int] -> pass (dropped)": "only a type",
    "self._held, self._run = 0, 0 :: 0 -> 1": "the integer part, which is cut off",
    'tail = (point & FULL - 1).to_bytes(TAIL, "big")[:length] :: 1 -> 2': "the lowest bit, never written",
}
"""Mutants that every vector must pass, and why."""


def named(source: str) -> Iterator[Mutant]:
    """The mistakes with a name."""
    for mistake, (old, new) in NAMED.items():
        if source.count(old) != 1:
            raise AssertionError(f"{mistake}: {old!r} stands {source.count(old)} times in the coder")
        yield Mutant("named", mistake, compile(source.replace(old, new), "spoilt", "exec"))


def automatic(source: str) -> Iterator[Mutant]:
    """One mutant for each way to spoil a node."""
    tree = ast.parse(source)
    lines = source.splitlines()
    for path, node in list(_nodes(tree, ())):
        line = lines[node.lineno - 1].strip()
        if line in SPEED:
            continue
        for change, spoilt in _spoilt(node):
            _put(tree, path, ast.fix_missing_locations(ast.copy_location(spoilt, node)))
            program = compile(tree, "spoilt", "exec")
            _put(tree, path, node)  # copying the tree instead takes far longer
            yield Mutant(line, f"{_brief(node)} -> {_brief(spoilt)}{change}", program)


def _brief(node: ast.AST) -> str:
    return ast.unparse(node).split("\n")[0]


Path = tuple[tuple[str, int | None], ...]


UNTOUCHED = ast.Raise | ast.AnnAssign | ast.ImportFrom | ast.Import | ast.JoinedStr
OUTSIDE = {"Model", "checked"}
"""A protocol, and the door for steps from elsewhere, which has its own tests."""


def _nodes(node: ast.AST, path: Path) -> Iterator[tuple[Path, Any]]:
    if isinstance(node, UNTOUCHED) or (
        isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name in OUTSIDE
    ):
        return
    if hasattr(node, "lineno"):
        yield path, node
    for name, value in ast.iter_fields(node):
        if name in {"annotation", "returns", "bases"}:
            continue
        if isinstance(value, ast.AST):
            yield from _nodes(value, (*path, (name, None)))
        elif isinstance(value, list):
            for index, inner in enumerate(value):
                if isinstance(inner, ast.AST):
                    yield from _nodes(inner, (*path, (name, index)))


def _put(tree: ast.AST, path: Path, spoilt: ast.AST) -> None:
    at: Any = tree
    for name, index in path[:-1]:
        at = getattr(at, name) if index is None else getattr(at, name)[index]
    name, index = path[-1]
    if index is None:
        setattr(at, name, spoilt)
    else:
        getattr(at, name)[index] = spoilt


def _spoilt(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    if isinstance(node, ast.Compare):
        for index, operator in enumerate(node.ops):
            for other in COMPARISONS.get(type(operator), []):
                made = copy.deepcopy(node)
                made.ops[index] = other()
                yield "", made
    elif isinstance(node, ast.BinOp | ast.AugAssign):
        for other_operator in OPERATORS.get(type(node.op), []):
            changed = copy.deepcopy(node)
            changed.op = other_operator()
            yield "", changed
    elif isinstance(node, ast.Constant) and type(node.value) is int:
        yield "", ast.Constant(node.value + 1)
        yield "", ast.Constant(node.value - 1)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        yield "", node.operand
    elif isinstance(node, ast.If | ast.While):
        never = copy.deepcopy(node)
        never.test = ast.Constant(False)
        yield " (never)", never
        if isinstance(node, ast.While):
            yield " (once)", ast.If(node.test, node.body, [])
    elif isinstance(node, ast.Break):
        yield "", ast.Pass()
    if isinstance(node, ast.Assign | ast.AugAssign) or (
        isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)
    ):
        yield " (dropped)", ast.Pass()
