"""The files that a page's numbers point to, read and hashed again from the repository."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from generator.audit.fault import Fault
from generator.audit.scanner import Document, Unreadable, Value
from generator.record import pointer as pointers

SIZE_LIMIT = 16 * 1024 * 1024
"""Bytes of the largest file that a number may come from."""


UNITLESS = frozenset({"", "1", "ratio", "times", "×"})
"""Units as payloads write them that say there is none."""


@dataclass(frozen=True)
class Bytes:
    """A file's bytes and their digest."""

    data: bytes
    sha256: str


class Evidence:
    """Files below one root, each read once; what was found in equal bytes before is not looked for again.

    Over `former` evidence of the same root, files are read again: those that `changed`, all where it is None.
    """

    def __init__(
        self, root: Path, former: Evidence | None = None, changed: frozenset[str] | None = None
    ) -> None:
        self.root: Path = former.root if former else root.resolve()
        self._former = former
        self._changed = changed
        self.read = cache(self._read)  # most are kept as documents too
        self._documents: dict[str, Document] = {}
        self._values: dict[tuple[str, str], Value] = {}
        self._schemas: dict[str, str] = {}

    def value(self, path: str, pointer: str, sha256: str) -> Value:
        """The value under a pointer of the file whose digest the page states; raises Fault."""
        self.hashed(path, sha256)
        key = (path, pointer)
        if key not in self._values:
            self._values[key] = self._resolve(path, pointer)
        return self._values[key]

    def hashed(self, path: str, sha256: str) -> Bytes:
        """The file, if its bytes still have the digest that the page states; raises Fault."""
        found: Bytes = self.read(path)
        if found.sha256 != sha256:
            message = (
                f"{path} has the digest {found.sha256[:12]}…, the page states {sha256[:12]}…. Build again."
            )
            raise Fault("payload-changed", message)
        return found

    def unit(self, path: str, pointer: str) -> str:
        """The unit of the quantity that a value belongs to, empty for a plain ratio or count."""
        tokens = pointers.parse(pointer)
        if not tokens or tokens[-1] not in ("value", "low", "high"):
            return ""
        document = self._document(path)
        for depth in (1, 2) if tokens[-1] != "value" else (1,):
            keys = document.keys(tokens[:-depth])
            if "value" in keys and "unit" in keys:
                written = self._text(path, (*tokens[:-depth], "unit")) or ""
                return "" if written in UNITLESS else written
        return ""

    def _text(self, path: str, tokens: tuple[str, ...]) -> str | None:
        try:
            with _strict(path):
                found = self._document(path).at(tokens)
        except KeyError:
            return None
        return found.text if found.kind == "string" else ""

    def schema(self, path: str) -> str:
        """The schema id of a payload, empty where it has none; raises Fault where the file cannot be read."""
        if path not in self._schemas:
            self._schemas[path] = self._text(path, ("schema",)) or ""
        return self._schemas[path]

    def _resolve(self, path: str, pointer: str) -> Value:
        try:
            with _strict(path):
                return self._document(path).at(pointers.parse(pointer))
        except KeyError:
            raise Fault("unknown-field", f"{path} has no field {pointer}.") from None
        except ValueError as error:
            raise Fault("unknown-field", f"{error}.") from None

    def _document(self, path: str) -> Document:
        if path not in self._documents:
            data = self.read(path).data
            known = self._former._documents.get(path) if self._former else None
            if known and known.data == data:
                self._documents[path] = known
                return known
            try:
                data.decode("utf-8")
                if data.startswith(b"\xef\xbb\xbf"):
                    raise Fault("bad-encoding", f"{path} starts with a byte order mark.")
                with _strict(path):
                    self._documents[path] = Document(data)
            except UnicodeDecodeError as error:
                raise Fault("bad-encoding", f"{path} is not UTF-8 at byte {error.start}.") from None
        return self._documents[path]

    def _read(self, path: str) -> Bytes:
        if self._former and self._changed is not None and path not in self._changed:
            kept: Bytes = self._former.read(path)
            return kept
        file = self._file(path)
        try:
            if file.stat().st_size > SIZE_LIMIT:
                raise Fault("too-large", f"{path} has more than {SIZE_LIMIT} bytes.")
            data = file.read_bytes()
        except OSError as error:
            raise Fault("bad-payload", f"{path} cannot be read: {error.strerror}.") from None
        return Bytes(data, hashlib.sha256(data).hexdigest())

    def _file(self, path: str) -> Path:
        """The regular file under a relative path that stays below the root."""
        parts = path.split("/")
        if not path or path.startswith("/") or "\\" in path or "\0" in path or {"", ".", ".."} & set(parts):
            raise Fault("unknown-payload", f"{path!r} is no path from the root of the repository.")
        try:
            file = (self.root / path).resolve(strict=True)
        except (OSError, RuntimeError):
            raise Fault("unknown-payload", f"{path} does not exist.") from None
        if not file.is_relative_to(self.root) or not file.is_file():
            raise Fault("unknown-payload", f"{path} is no file of the repository.")
        return file


@contextmanager
def _strict(path: str) -> Iterator[None]:
    """Tells of JSON that cannot be read as a fault of its file."""
    try:
        yield
    except Unreadable as error:
        raise Fault("bad-payload", f"{path} is not strict JSON at byte {error.offset}: {error}.") from None
