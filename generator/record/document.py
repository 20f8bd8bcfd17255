"""Reads a JSON document of the record: its bytes, its digest, and a strict tree of places."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import NoReturn

from generator.record import envelope, pointer, strict
from generator.record.encoding import decoded
from generator.record.tree import Node, grow
from generator.report.refusal import Refusal, Refused

SIZE_LIMIT = 16 * 1024 * 1024
"""Bytes of the largest document that is read."""


@dataclass(frozen=True)
class Document:
    """One JSON document of the record."""

    path: str
    data: bytes = field(repr=False)
    root: Node = field(repr=False)

    @cached_property
    def sha256(self) -> str:
        """Digest of the bytes, in lower-case hexadecimal digits."""
        return hashlib.sha256(self.data).hexdigest()

    @property
    def schema(self) -> str:
        """The schema id, such as specdec-sidechannels/payload/1."""
        return self.root.members["schema"].text

    def at(self, where: str) -> Node:
        """The value under a JSON pointer; KeyError where it does not resolve."""
        node = self.root
        for token in pointer.parse(where):
            node = node.child(token)
        return node


def read(root: Path, path: str, schemas: Iterable[str], *, own: bool = False) -> Document:
    """Read the document at a path relative to the root, which names one of some schemas and obeys it.

    With own, a schema of somebody else's may be named: then only the envelope is asked for. Raises Refused
    with the place of everything that is wrong.
    """
    data = _bytes(root, path)
    text = _decoded(path, data)
    values = strict.load(path, data, text)
    try:
        document = Document(path, data, grow(data))
    except ValueError as error:
        refuse(path, 1, 1, "bad-payload", "", f"{error}.")
    _check_schema(document, values, tuple(schemas), own)
    return document


def refuse(path: str, line: int, column: int, code: str, text: str, message: str) -> NoReturn:
    """Raise Refused with one refusal."""
    raise Refused([Refusal(path, line, column, code, text, message)])


def _bytes(root: Path, path: str) -> bytes:
    """The bytes of a regular file inside the root, of bearable size."""
    pure = PurePosixPath(path)
    if pure.is_absolute() or ".." in pure.parts or "\\" in path or "\0" in path:
        refuse(path, 1, 1, "bad-payload", path, "The path leaves the repository. Name it from the root.")
    try:
        real = (root / pure).resolve(strict=True)
        if not real.is_relative_to(root.resolve()):
            refuse(path, 1, 1, "bad-payload", path, "A symbolic link leads out of the repository.")
        size = real.stat().st_size
        if size > SIZE_LIMIT:
            message = f"The file has {size} bytes; at most {SIZE_LIMIT} are read. Keep bulk data outside."
            refuse(path, 1, 1, "too-large", path, message)
        return real.read_bytes()
    except FileNotFoundError:
        refuse(path, 1, 1, "bad-payload", path, "There is no such file. Run the command that makes it.")
    except (OSError, RuntimeError) as error:
        refuse(path, 1, 1, "bad-payload", path, f"The file cannot be read: {_reason(error)}.")


def _reason(error: OSError | RuntimeError) -> str:
    return (error.strerror or "unknown cause") if isinstance(error, OSError) else "a loop of symbolic links"


def _decoded(path: str, data: bytes) -> str:
    """The text of the file, strict UTF-8 without a byte order mark."""
    text = decoded(path, data)
    if not text.strip():
        refuse(path, 1, 1, "bad-payload", "", "The file is empty.")
    return text


def _check_schema(document: Document, values: object, schemas: tuple[str, ...], own: bool) -> None:
    """Hold the document against the schema that its id names."""
    root = document.root
    if root.kind != "object":
        message = "The file is not a JSON object."
        refuse(document.path, root.line, root.column, "bad-payload", "", message)
    named = root.members.get("schema")
    schema_id = named.text if named is not None and named.kind == "string" else ""
    place = named or root
    if schema_id.split("/")[-2:-1] == ["rehearsal"]:
        message = "A rehearsal is no evidence. Run the experiment in full."
        refuse(document.path, place.line, place.column, "bad-payload", schema_id, message)
    if schema_id not in schemas and not (own and envelope.is_own(schema_id)):
        further = ", nor OWNER/payload/1 of an owner" if own else ""
        message = f"The schema id is none of {', '.join(sorted(schemas))}{further}."
        refuse(document.path, place.line, place.column, "bad-payload", schema_id, message)
    _raise_faults(document, list(envelope.faults(schema_id, values)))


def _raise_faults(document: Document, faults: list[tuple[str, str]]) -> None:
    refusals = []
    for where, message in faults:
        node = document.at(where)
        refusals.append(
            Refusal(document.path, node.line, node.column, "bad-payload", where or "/", f"{message}.")
        )
    if refusals:
        raise Refused(refusals)
