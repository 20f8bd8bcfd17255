"""A JSON text as a tree of places: byte spans, lines, lexemes. The one door to tree-sitter-json.

Nodes are read lazily from the syntax tree, so that a payload with a long state costs only its parse.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

import tree_sitter
import tree_sitter_json

_PARSER = tree_sitter.Parser(tree_sitter.Language(tree_sitter_json.language()))
_INDEX = re.compile(r"0|[1-9][0-9]*")
_PLUS = re.compile(rb'"(?:[^"\\]|\\.)*+"|(?<=[0-9][eE])\+', re.DOTALL)


@dataclass(frozen=True)
class Text:
    """Bytes of a file with the offsets at which its lines start; a line ends with a line feed only."""

    data: bytes

    @cached_property
    def starts(self) -> list[int]:
        """Byte offset of every line, then the length of the data where it ends without a line feed."""
        lengths = (len(line) for line in self.data.split(b"\n")[:-1])
        return [0, *accumulate(length + 1 for length in lengths)]

    def line(self, offset: int) -> int:
        """The line of a byte offset, from 1."""
        return bisect_right(self.starts, offset)

    def column(self, offset: int) -> int:
        """The column of a byte offset in characters, from 1."""
        start = self.starts[self.line(offset) - 1]
        return len(self.data[start:offset].decode("utf-8", "replace")) + 1

    @property
    def lines(self) -> int:
        """How many lines the file has, as git and coreutils count them."""
        return len(self.starts) - (self.starts[-1] == len(self.data) and len(self.data) > 0)


@dataclass(frozen=True)
class Node:
    """One JSON value and where it stands: byte offsets (end exclusive), line and column from 1."""

    syntax: tree_sitter.Node
    source: Text

    @property
    def kind(self) -> str:
        """One of object, array, string, number, true, false, null."""
        return self.syntax.type

    @property
    def start(self) -> int:
        return self.syntax.start_byte

    @property
    def end(self) -> int:
        return self.syntax.end_byte

    @property
    def line(self) -> int:
        return self.source.line(self.start)

    @property
    def column(self) -> int:
        return self.source.column(self.start)

    @property
    def lexeme(self) -> str:
        """The value as it is written in the file."""
        return self.source.data[self.start : self.end].decode("utf-8")

    @property
    def text(self) -> str:
        """The decoded string; ValueError where the value is none."""
        if self.kind != "string":
            raise ValueError(f"a {self.kind} is no string")
        written = self.lexeme
        return written[1:-1] if "\\" not in written else str(json.loads(written))

    @cached_property
    def members(self) -> dict[str, Node]:
        """The members of an object by decoded key, in file order; empty for any other kind."""
        return {key.text: value for key, value in self.pairs()}

    @cached_property
    def items(self) -> tuple[Node, ...]:
        """The elements of an array; empty for any other kind."""
        if self.kind != "array":
            return ()
        return tuple(Node(child, self.source) for child in self.syntax.named_children)

    def pairs(self) -> Iterator[tuple[Node, Node]]:
        """Keys and values of an object as nodes, a key that is written twice included."""
        if self.kind == "object":
            for pair in self.syntax.named_children:
                key, value = pair.named_children[0], pair.named_children[-1]
                yield Node(key, self.source), Node(value, self.source)

    def child(self, token: str) -> Node:
        """The value under one reference token; KeyError where there is none."""
        if self.kind == "object":
            return self.members[token]
        if self.kind == "array" and _INDEX.fullmatch(token) and int(token) < len(self.items):
            return self.items[int(token)]
        raise KeyError(token)

    def walk(self) -> Iterator[Node]:
        """This value and every value below it, in file order, without recursion."""
        stack = [self]
        while stack:
            node = stack.pop()
            yield node
            below = [value for _, value in node.pairs()] if node.kind == "object" else list(node.items)
            stack.extend(reversed(below))


def grow(data: bytes) -> Node:
    """The tree of a strict JSON text; ValueError where the text holds anything but one value."""
    document = _PARSER.parse(_without_plus(data)).root_node
    if document.has_error or len(document.named_children) != 1:
        raise ValueError("the text is not one JSON value")
    return Node(document.named_children[0], Text(data))


def _without_plus(data: bytes) -> bytes:
    """The same text, byte for byte in its places, where 1e+16 reads 1e016: the grammar lacks that plus."""
    if b"e+" not in data and b"E+" not in data:
        return data
    return _PLUS.sub(lambda match: b"0" if match[0] == b"+" else match[0], data)
