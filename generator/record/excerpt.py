"""Lines of a file of the record, for showing them as they are."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

SIZE_LIMIT = 1024 * 1024
"""Bytes of the largest file that is quoted."""


class Unquotable(ValueError):
    """A file or a range of lines that cannot be shown; the message says why."""


@dataclass(frozen=True)
class Excerpt:
    """Lines first to last of a file, from 1, both shown; lines are as they stand, without line feeds."""

    path: str
    first: int
    last: int
    lines: tuple[str, ...] = field(repr=False)
    sha256: str


def read(root: Path, path: str, first: int | None = None, last: int | None = None) -> Excerpt:
    """Read lines of a file, all of them where none are named; raises Unquotable."""
    pure = PurePosixPath(path)
    if pure.is_absolute() or ".." in pure.parts or not pure.parts:
        raise Unquotable("The path leaves the repository. Name it from the root.")
    try:
        file = (root / pure).resolve(strict=True)
        if not file.is_relative_to(root.resolve()):
            raise Unquotable("A symbolic link leads out of the repository.")
        if file.stat().st_size > SIZE_LIMIT:
            raise Unquotable(f"The file has more than {SIZE_LIMIT} bytes.")
        data = file.read_bytes()
        return cut(path, data, data.decode("utf-8"), first, last)
    except UnicodeDecodeError:
        raise Unquotable("The file is not UTF-8.") from None
    except (OSError, RuntimeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "a loop of symbolic links"
        raise Unquotable(f"The file cannot be read: {reason}.") from None


def cut(path: str, data: bytes, text: str, first: int | None = None, last: int | None = None) -> Excerpt:
    """The lines of a text that is at hand; raises Unquotable for lines that it lacks."""
    lines = text.removesuffix("\n").split("\n")
    first, last = first or 1, last or len(lines)
    if not 1 <= first <= last <= len(lines):
        raise Unquotable(f"The file has {len(lines)} lines; {first} to {last} are not among them.")
    return Excerpt(path, first, last, tuple(lines[first - 1 : last]), hashlib.sha256(data).hexdigest())
