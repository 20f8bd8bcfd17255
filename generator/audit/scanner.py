"""Finds JSON values in bytes by pointer: where each starts and ends, and how it is written.

It walks only the containers on the way to a pointer, without recursion, so that deep or large
documents cost little.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass

DEPTH_LIMIT = 200
"""Nested containers beyond which a document is refused."""

_SPACE = re.compile(rb"[ \t\r\n]*")
_STRING = re.compile(rb'"(?:[^"\\\x00-\x1f]|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4})*"')
_SCALAR = re.compile(rb"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?(?![0-9.eE+-])|true|false|null")
_BRACKET = re.compile(rb'"(?:[^"\\\x00-\x1f]|\\.)*"|[\[\]{}]')
_KINDS = {b"{": "object", b"[": "array", b'"': "string", b"t": "boolean", b"f": "boolean", b"n": "null"}


class Unreadable(ValueError):
    """Bytes that are not strict JSON, with the offset at which they stop being it."""

    def __init__(self, offset: int, message: str) -> None:
        self.offset = offset
        super().__init__(message)


@dataclass(frozen=True, slots=True)
class Value:
    """A value at bytes [start, end) on a line counted from 1."""

    kind: str
    start: int
    end: int
    line: int
    written: bytes

    @property
    def text(self) -> str:
        """The decoded string."""
        return _decoded(self.written)


def _decoded(written: bytes) -> str:
    """A JSON string as text."""
    return str(json.loads(written)) if b"\\" in written else written[1:-1].decode()


class Document:
    """The bytes of one JSON file; members of a container are found when they are first asked for."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self._lines = [match.start() for match in re.finditer(b"\n", data)]
        self._members: dict[int, dict[str, tuple[int, int]]] = {}
        self._ends: dict[int, int] = {}
        start = self._skip_space(0)
        self._root = (start, self._end(start))
        if self._skip_space(self._root[1]) != len(data):
            raise Unreadable(self._root[1], "something follows the JSON value")

    def at(self, tokens: tuple[str, ...]) -> Value:
        """The value that reference tokens lead to; raises KeyError where there is none."""
        start, end = self._root
        for token in tokens:
            start, end = self._inside(start)[token]
        kind = _KINDS.get(self.data[start : start + 1], "number")
        return Value(kind, start, end, bisect_right(self._lines, start) + 1, self.data[start:end])

    def keys(self, tokens: tuple[str, ...]) -> Mapping[str, object]:
        """Keys or indices of a container; raises KeyError where there is none."""
        start, _ = self._root
        for token in tokens:
            start, _ = self._inside(start)[token]
        return self._inside(start)

    def _inside(self, start: int) -> dict[str, tuple[int, int]]:
        """The members of the container that starts there, none for a scalar."""
        if start not in self._members:
            opener = self.data[start : start + 1]
            if opener not in (b"{", b"["):
                return {}
            self._members[start] = self._read_members(start, opener == b"{")
        return self._members[start]

    def _read_members(self, start: int, keyed: bool) -> dict[str, tuple[int, int]]:
        members: dict[str, tuple[int, int]] = {}
        closer = b"}" if keyed else b"]"
        place = self._skip_space(start + 1)
        if self.data[place : place + 1] == closer:
            return members
        while True:
            key = str(len(members))
            if keyed:
                key, place = self._key(place)
            if key in members:
                raise Unreadable(place, f"the key {key!r} stands twice in one object")
            end = self._end(place)
            members[key] = (place, end)
            place = self._skip_space(end)
            mark = self.data[place : place + 1]
            if mark == closer:
                return members
            if mark != b",":
                raise Unreadable(place, "a comma or the end of a container is missing")
            place = self._skip_space(place + 1)

    def _key(self, place: int) -> tuple[str, int]:
        """A member's key, and where its value starts."""
        match = _STRING.match(self.data, place)
        if not match:
            raise Unreadable(place, "an object needs a key in quotation marks here")
        place = self._skip_space(match.end())
        if self.data[place : place + 1] != b":":
            raise Unreadable(place, "a colon is missing after a key")
        return _decoded(match[0]), self._skip_space(place + 1)

    def _end(self, start: int) -> int:
        """Where the value that starts there ends."""
        opener = self.data[start : start + 1]
        if opener in (b"{", b"["):
            return self._container_end(start)
        match = _STRING.match(self.data, start) if opener == b'"' else _SCALAR.match(self.data, start)
        if not match:
            raise Unreadable(start, "no JSON value stands here")
        return match.end()

    def _container_end(self, start: int) -> int:
        """Where the container that starts there ends; one pass finds those inside it too."""
        if start not in self._ends:
            self._match_brackets(start)
        return self._ends[start]

    def _match_brackets(self, start: int) -> None:
        stack: list[tuple[bytes, int]] = []
        for match in _BRACKET.finditer(self.data, start):
            mark = match[0]
            if mark in (b"{", b"["):
                stack.append((mark, match.start()))
                if len(stack) > DEPTH_LIMIT:
                    raise Unreadable(match.start(), f"containers are nested more than {DEPTH_LIMIT} deep")
            elif mark in (b"}", b"]"):
                opener, opened = stack.pop()
                if opener + mark not in (b"{}", b"[]"):
                    raise Unreadable(match.start(), "a bracket closes another kind of container")
                self._ends[opened] = match.end()
                if not stack:
                    return
        raise Unreadable(start, "a container is not closed")

    def _skip_space(self, place: int) -> int:
        match = _SPACE.match(self.data, place)
        return match.end() if match else place
