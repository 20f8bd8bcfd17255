"""What an export consists of: the record's files, its finished site, and what is known of each."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import yaml

from generator.gate import display
from generator.record.payload import Payload
from generator.record.record import CITATION, Record

FOLDERS = ("findings", "payloads", "site_src", "templates")
FILES = ("mkdocs.yml", CITATION, "LICENSE", "README.md", "CHANGELOG.md")


class Undated(Exception):
    """A record of which nothing says when it was made; the message says what would."""


class Unciteable(Exception):
    """A citation file that cannot be passed on; the message says what is wrong with it."""

    def __init__(self, fault: str) -> None:
        super().__init__(f"{CITATION} {fault}. Mend it, or export without it.")


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
        return [dict(_person(each)) for each in self.citation.get("authors", ())]

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

    Raises Undated, Unciteable.
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
    """What CITATION.cff states; raises Unciteable where that cannot be passed on as it is."""
    file = root / CITATION
    if not file.is_file():
        return {}
    try:
        read = yaml.safe_load(file.read_text("utf-8"))
    except (yaml.YAMLError, UnicodeDecodeError):
        raise Unciteable("is no YAML in UTF-8") from None
    if not isinstance(read, dict):
        raise Unciteable("holds no keys")
    authors = read.get("authors") or []
    if not isinstance(authors, list) or not all(
        isinstance(each, dict) and any(_person(each)) for each in authors
    ):
        raise Unciteable("has authors that are no list of people or entities with a name")
    if not isinstance(read.get("license", ""), str):
        raise Unciteable("has a license that is not one identifier of SPDX")
    try:
        if "date-released" in read:
            date.fromisoformat(str(read["date-released"]))
    except ValueError:
        raise Unciteable("has a date-released that is no day such as 2026-03-01") from None
    return {**read, "authors": authors}


def _site_name(root: Path) -> str:
    """What mkdocs.yml calls the site; its tags of Python are nothing that is read here."""
    return next((text for *_, text in display.configuration(root)), "Findings")


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
    if name := full or str(stated.get("name") or ""):
        yield "name", name
    if stated.get("orcid"):
        yield "orcid", str(stated["orcid"])


def provenance(payload: Payload) -> Mapping[str, Any]:
    """What a payload says of its run, as plain values; empty where it says nothing."""
    document = json.loads(payload.data)
    found = document.get("provenance", {})
    return found if isinstance(found, dict) else {}
