"""Lays the files of a revision into a folder, byte for byte as git keeps them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from generator.record.document import SIZE_LIMIT
from generator.record.repository import ask, ask_bytes

LINK = "120000"


@dataclass(frozen=True)
class _Blob:
    mode: str
    name: str
    path: str


class Unreadable(Exception):
    """A revision that git knows and whose files cannot be had."""


def commit(root: Path, revision: str) -> str | None:
    """The full name of the commit that a revision names, None where git knows none."""
    if revision.startswith("-"):
        return None
    found = ask(root, "rev-parse", "--verify", "-q", f"{revision}^{{commit}}")
    return found.strip() if found else None


def write(root: Path, revision: str, folder: Path) -> None:
    """Write every file below the root as it was; files over the size limit are left out.

    Links come last, so that nothing is written through one. Raises Unreadable.
    """
    blobs = sorted(_blobs(root, revision), key=lambda blob: (blob.mode == LINK, blob.path))
    for blob, data in zip(blobs, _contents(root, blobs), strict=True):
        file = folder / blob.path
        file.parent.mkdir(parents=True, exist_ok=True)
        if blob.mode == LINK:
            file.symlink_to(data.decode("utf-8", "surrogateescape"))
        else:
            file.write_bytes(data)


def _blobs(root: Path, revision: str) -> Iterator[_Blob]:
    """The files of a revision below the root."""
    listed = ask(root, "ls-tree", "-r", "-l", "-z", revision, "--", ".")
    if not listed:
        raise Unreadable("has no file in this folder")
    for row in listed.split("\0")[:-1]:
        about, _, path = row.partition("\t")
        mode, kind, name, size = about.split()
        safe = ".." not in PurePosixPath(path).parts and not path.startswith("/")
        if kind == "blob" and int(size) <= SIZE_LIMIT and safe:
            yield _Blob(mode, name, path)


def _contents(root: Path, blobs: list[_Blob]) -> Iterator[bytes]:
    """The bytes of many files by one process: git answers a name with a head line, bytes and a line end."""
    names = "".join(f"{blob.name}\n" for blob in blobs).encode()
    answer = ask_bytes(root, "cat-file", "--batch", given=names)
    if answer is None:
        raise Unreadable("cannot be read: git lacks some of its files")
    at = 0
    for _ in blobs:
        head, _, _ = answer[at : at + 200].partition(b"\n")
        if not head.split()[-1].isdigit():
            raise Unreadable(f"cannot be read: {head.decode('utf-8', 'replace')}")
        start = at + len(head) + 1
        at = start + int(head.split()[-1]) + 1
        yield answer[start : at - 1]
