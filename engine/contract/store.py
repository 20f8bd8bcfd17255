"""Read and write payloads: canonical bytes, whole or not at all."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from engine.contract.errors import BadData
from engine.contract.payload import ADAPTER, Lexeme, Payload


def canonical(document: Any) -> str:
    """Two-space indent, one scalar a line, state rows one a line, keys in the order given, final newline."""
    return _text(document, 0, at="") + "\n"


def _text(value: Any, depth: int, at: str) -> str:
    if isinstance(value, dict):
        return _block("{}", (f"{_scalar(k)}: {_text(v, depth + 1, k)}" for k, v in value.items()), depth)
    if isinstance(value, list):
        if at == "rows" and all(isinstance(row, list) for row in value):
            return _block("[]", ("[" + ", ".join(map(str, row)) + "]" for row in value), depth)
        return _block("[]", (_text(v, depth + 1, "") for v in value), depth)
    return _scalar(value)


def _block(brackets: str, lines: Any, depth: int) -> str:
    inner = ",\n".join("  " * (depth + 1) + line for line in lines)
    return f"{brackets[0]}\n{inner}\n{'  ' * depth}{brackets[1]}" if inner else brackets


def _scalar(value: Any) -> str:
    if isinstance(value, Lexeme):
        return str(value)
    if isinstance(value, float):
        raise TypeError("a bare float has no stated lexeme; wrap it")
    return json.dumps(value, ensure_ascii=False)


def dump(payload: Payload) -> str:
    """The canonical text of a payload."""
    return canonical(payload.model_dump(by_alias=True, exclude_none=True))


def write(path: Path, payload: Payload) -> None:
    """Write a payload so that a killed process leaves the old file whole."""
    write_text(path, dump(payload))


def write_text(path: Path, text: str) -> None:
    """Write UTF-8 text by temporary file, fsync and rename."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).chmod(0o644)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def read(path: Path) -> Payload:
    """A validated payload, or `BadData` with the place."""
    return parse(path.read_bytes(), str(path))


def parse(data: bytes, path: str) -> Payload:
    """A validated payload from its bytes, or `BadData` with the place in `path`."""
    document = loads(data, path)
    try:
        return ADAPTER.validate_python(document)
    except ValidationError as error:
        place, message = max(
            ((_place(e["loc"], document, e["type"] == "missing"), e["msg"]) for e in error.errors()),
            key=lambda found: len(found[0]),  # the deepest: of a union, the kind that fits best
        )
        raise BadData(f"{path} at /{'/'.join(place)}", f"{message}.", "See: engine schema") from None


def _place(labels: tuple[int | str, ...], document: Any, missing: bool) -> list[str]:
    """The document's own keys among pydantic's labels, with the last label where a key is missing."""
    place = []
    for label in labels:
        if (isinstance(document, dict) and label in document) or (
            isinstance(document, list) and isinstance(label, int)
        ):
            document = document[label]  # type: ignore[index]
            place.append(str(label))
    return [*place, str(labels[-1])] if missing else place


def loads(data: bytes, place: str) -> Any:
    """Strict JSON with numbers kept as lexemes: no duplicate keys, no NaN, no byte order mark."""

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        keys = [key for key, _ in pairs]
        if len(set(keys)) < len(keys):
            raise ValueError(f"the key {next(k for k in keys if keys.count(k) > 1)!r} stands twice")
        return dict(pairs)

    def constant(name: str) -> None:
        raise ValueError(f"{name} is no JSON number")

    try:
        return json.loads(
            data.decode("utf-8"), parse_float=Lexeme, parse_constant=constant, object_pairs_hook=unique
        )
    except (ValueError, RecursionError) as error:
        raise BadData(place, f"is not strict JSON: {error}.", "Write it again with the engine.") from None
