"""What a release consists of: every file of the record by digest, and the commits of its payloads."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from hashlib import sha256

from generator.record import envelope
from generator.record.manifest import PATH
from generator.record.payload import Payload
from generator.record.record import CITATION, Record
from generator.release.standing import CHANGELOG, VERSION

FOLDERS = ("findings/", "payloads/", "site_src/", "templates/")
FILES = (CHANGELOG, CITATION, "LICENSE", "README.md", "mkdocs.yml")
"""What belongs to a record beside its folders, where it is there."""


def texts(record: Record, tag: str) -> dict[str, bytes]:
    """The files that a release writes, by path."""
    cited = _cited((record.root / CITATION).read_bytes(), tag.removeprefix("v"))
    return {CITATION: cited, PATH: _manifest(record, tag, {CITATION: cited})}


def _cited(data: bytes, version: str) -> bytes:
    """CITATION.cff with another version, and as it was otherwise."""
    text = data.decode("utf-8")
    return VERSION.sub(lambda found: f"version: {version}", text, count=1).encode()


def _manifest(record: Record, tag: str, new: Mapping[str, bytes]) -> bytes:
    document = {
        "schema": envelope.MANIFEST,
        "tag": tag,
        "parent": record.repository.head,
        "records": _commits(record.payloads.values()),
        "files": {path: _digest(record, path, new) for path in _paths(record)},
    }
    return f"{json.dumps(document, indent=2, ensure_ascii=False)}\n".encode()


def _paths(record: Record) -> list[str]:
    """The tracked files of the record, the manifest itself left out."""
    tracked = record.repository.tracked - {PATH}
    return sorted(path for path in tracked if path.startswith(FOLDERS) or path in FILES)


def _digest(record: Record, path: str, new: Mapping[str, bytes]) -> str:
    return sha256(new[path] if path in new else (record.root / path).read_bytes()).hexdigest()


def _commits(payloads: Iterable[Payload]) -> dict[str, list[str]]:
    """By record, the commits that its payloads say they were made at."""
    commits: dict[str, list[str]] = {}
    for each in payloads:
        named = commits.setdefault(each.path.split("/")[1], [])
        try:
            commit = each.at("/provenance/commit").text
        except (KeyError, ValueError):
            continue
        if commit not in named:
            named.append(commit)
    return commits
