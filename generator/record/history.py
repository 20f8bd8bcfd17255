"""What git remembers of a record's files: earlier versions, who came first, what a branch started from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from generator.record.repository import ask, ask_bytes


@dataclass(frozen=True)
class Version:
    """A file in a commit that touched it, and in that commit's parents; no bytes where it did not exist."""

    commit: str
    authored: int
    time: int
    data: bytes
    parents: tuple[bytes, ...]


class History:
    """The history that leads to HEAD, below one root."""

    def __init__(self, root: Path) -> None:
        self.root = root

    @property
    def missing(self) -> str:
        """Why the history cannot be trusted to be whole, in words; empty where it can."""
        if ask(self.root, "rev-parse", "--verify", "-q", "HEAD^{commit}") is None:
            return "there is no git history here"
        shallow = ask(self.root, "rev-parse", "--is-shallow-repository")
        return "this clone is shallow; fetch the whole history" if shallow != "false\n" else ""

    def data(self, revision: str, path: str) -> bytes:
        """The bytes of a file at a revision, empty where it is not there."""
        return ask_bytes(self.root, "cat-file", "blob", f"{revision}:./{path}") or b""

    def versions(self, path: str) -> Iterator[Version]:
        """Every commit that touched a file, the oldest first."""
        listed = ask(
            self.root,
            "log",
            "--full-history",
            "--topo-order",
            "--reverse",
            "--format=%H %at %ct %P",
            "--",
            path,
        )
        for line in (listed or "").splitlines():
            commit, authored, time, *parents = line.split()
            yield Version(
                commit,
                int(authored),
                int(time),
                self.data(commit, path),
                tuple(self.data(each, path) for each in parents),
            )

    def first(self, path: str) -> str | None:
        """The oldest commit that holds a file, or anything below a folder."""
        listed = ask(self.root, "log", "--topo-order", "--diff-filter=A", "--format=%H", "--", path)
        return listed.split()[-1] if listed and listed.split() else None

    def is_ancestor(self, older: str, younger: str) -> bool:
        """Whether one commit leads to another, or is it."""
        return ask(self.root, "merge-base", "--is-ancestor", older, younger) is not None

    def merge_base(self, revision: str) -> str | None:
        """The commit that a revision and HEAD have in common; None where git knows no such revision."""
        found = ask(self.root, "merge-base", revision, "HEAD")
        return found.strip() if found else None
