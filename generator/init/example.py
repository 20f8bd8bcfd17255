"""A first payload that claims nothing foreign: what the repository holds, counted while it is begun."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from generator.record import repository
from generator.record.version import DISTRIBUTION, installed

PATH = "payloads/example/tree.json"

NO_COMMIT = "0" * 40
"""What git itself writes where there is no commit yet."""


def measured(root: Path, new: Mapping[Path, bytes]) -> bytes:
    """The payload as it will be written: files below a root that git keeps or would keep, and new ones."""
    counted_by, paths = _files(root)
    sizes = {root / path: (root / path).lstat().st_size for path in paths}
    sizes |= {path: len(data) for path, data in new.items()}
    commit = (repository.ask(root, "rev-parse", "HEAD") or NO_COMMIT).strip()
    document = {
        "schema": "specdec-sidechannels/payload/1",
        "name": "example/tree",
        "question": "What does this repository hold as its record is begun, this payload aside?",
        "regime": {"counted_by": counted_by},
        "config": {},
        "seeds": {},
        "provenance": {
            "command": ["findings", "init"],
            "commit": commit,
            "dirty": bool(repository.ask(root, "status", "--porcelain")),
            "versions": {DISTRIBUTION: installed()},
            "device": "the machine of whoever began it",
            "models": [],
            "inputs": [],
        },
        "results": {
            "files": {"value": len(sizes), "unit": "files"},
            "bytes": {"value": sum(sizes.values()), "unit": "bytes"},
            "empty": {"value": 0, "unit": "files"},
        },
    }
    return f"{json.dumps(document, indent=2, ensure_ascii=False)}\n".encode()


def _files(root: Path) -> tuple[str, list[str]]:
    """Who counted, and the paths of what is there."""
    listed = repository.ask(root, "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", ".")
    if listed is None:
        files = (file for file in root.rglob("*") if file.is_file())
        return "walking the folder", sorted(file.relative_to(root).as_posix() for file in files)
    return "git", sorted({path for path in listed.split("\0") if path and (root / path).is_file()})
