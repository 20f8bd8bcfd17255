"""What an export consists of: the record's files, its finished site, and what is known of each."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import yaml

from generator.record.payload import Payload
from generator.record.record import CITATION, Record

FOLDERS = ("findings", "payloads", "site_src", "templates")
FILES = ("mkdocs.yml", CITATION, "LICENSE", "README.md", "CHANGELOG.md")


class Undated(Exception):
    """A record of which nothing says when it was made; the message says what would."""


@dataclass(frozen=True)
class Contents:
    """A record as it is exported: what it is called, when and by whom it was made, its files by path."""

    record: Record = field(repr=False)
    name: str
    date: str
    citation: Mapping[str, Any]
    files: Mapping[str, bytes] = field(repr=False)
    numbers: Mapping[str, Any] = field(repr=False)

    @property
    def people(self) -> list[dict[str, str]]:
        """Names and, where they are stated, identifiers of the authors; none without CITATION.cff."""
        return [dict(_person(each)) for each in self.citation.get("authors", ()) if isinstance(each, dict)]

    @property
    def commit(self) -> str:
        """The commit that the record stands at, empty outside git."""
        return self.record.repository.head or ""

    def cited(self) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
        """Page, id and entry of every number that was read from one place."""
        for page, entries in self.numbers["pages"].items():
            for name, entry in entries.items():
                yield page, name, entry


def gather(record: Record, site: Path) -> Contents:
    """Read the tracked files of a record, or all where there is no git, and its finished site.

    Raises Undated.
    """
    files = {path: (record.root / path).read_bytes() for path in _paths(record)}
    pages = sorted(file for file in site.rglob("*") if file.is_file())
    files |= {f"site/{file.relative_to(site).as_posix()}": file.read_bytes() for file in pages}
    citation = _citation(record.root)
    name = str(citation.get("title") or _site_name(record.root))
    numbers = json.loads(files["site/numbers.json"])
    return Contents(record, name, _date(record, citation), citation, files, numbers)


def _paths(record: Record) -> list[str]:
    """Paths of the record's own files."""
    found = (file for name in FOLDERS for file in (record.root / name).rglob("*") if file.is_file())
    paths = {file.relative_to(record.root).as_posix() for file in found if not file.is_symlink()}
    paths |= {name for name in FILES if (record.root / name).is_file()}
    if record.repository.in_git:
        paths &= record.repository.tracked
    return sorted(paths)


def _citation(root: Path) -> Mapping[str, Any]:
    file = root / CITATION
    try:
        read = yaml.safe_load(file.read_text("utf-8")) if file.is_file() else None
    except (yaml.YAMLError, UnicodeDecodeError):
        return {}
    return read if isinstance(read, dict) else {}


def _site_name(root: Path) -> str:
    read = yaml.safe_load((root / "mkdocs.yml").read_text("utf-8"))
    return str(read.get("site_name") or "Findings")


def _date(record: Record, citation: Mapping[str, Any]) -> str:
    """The day of the record: as stated, else of its commit; never today."""
    if stated := citation.get("date-released"):
        return str(stated)
    seconds = record.repository.head_time or os.environ.get("SOURCE_DATE_EPOCH")
    if seconds is None:
        message = "Nothing says when the record was made: commit it, or set SOURCE_DATE_EPOCH."
        raise Undated(message)
    return datetime.fromtimestamp(int(seconds), UTC).date().isoformat()


def _person(stated: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    full = " ".join(str(stated[key]) for key in ("given-names", "family-names") if stated.get(key))
    yield "name", full or str(stated.get("name", ""))
    if stated.get("orcid"):
        yield "orcid", str(stated["orcid"])


def provenance(payload: Payload) -> Mapping[str, Any]:
    """What a payload says of its run, as plain values; empty where it says nothing."""
    document = json.loads(payload.data)
    found = document.get("provenance", {})
    return found if isinstance(found, dict) else {}
