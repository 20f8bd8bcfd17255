"""Lists every locked distribution that is installed here with its version and licence, by name."""

from __future__ import annotations

import re
from importlib.metadata import PackageMetadata, PackageNotFoundError, metadata
from pathlib import Path

LOCKS = sorted((Path(__file__).resolve().parents[1] / "locks").glob("*.txt"))
PIN = re.compile(r"^([A-Za-z0-9_.-]+)==(\S+)", re.MULTILINE)


def licence(found: PackageMetadata) -> str:
    """The licence of a distribution: its expression, its classifiers, or the first line of its text."""
    if expression := found.get("License-Expression"):
        return str(expression)
    classified = [each for each in found.get_all("Classifier") or () if each.startswith("License ::")]
    if named := [each.rpartition(" :: ")[2] for each in classified if each.count("::") > 1]:
        return ", ".join(named)
    lines = str(found.get("License") or "not stated").strip().splitlines()
    return lines[0][:60]


def listed() -> list[str]:
    """One line a distribution; what the lock holds for other systems is said to be elsewhere."""
    lines = []
    for name, version in sorted({pin for lock in LOCKS for pin in PIN.findall(lock.read_text("utf-8"))}):
        try:
            said = licence(metadata(name))
        except PackageNotFoundError:
            said = "not installed here"
        lines.append(f"{name:<32} {version:<24} {said}")
    return lines


if __name__ == "__main__":
    print("\n".join(listed()))
