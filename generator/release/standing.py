"""What stands against releasing a record, beyond what stands against publishing it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from generator.record import checksums, experiments, repository
from generator.record.history import History
from generator.record.manifest import PATH as MANIFEST
from generator.record.record import CITATION, Record
from generator.report.refusal import Refusal, Report

CHANGELOG = "CHANGELOG.md"
TAG = re.compile(r"v(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)")
VERSION = re.compile(r"^version:[ \t]*(?:\"[^\"\n]*\"|'[^'\n]*'|[^\s#\"']+)", re.MULTILINE)
"""What a release writes anew in CITATION.cff."""

SETTLED = frozenset({"untracked-source", "history-missing", "bad-erratum"})
"""What is a warning while writing, and stands against a release."""

_ENTRY = re.compile(r"^##[ \t]+\[?v?(?P<version>[0-9][^\s\]]*)\]?(?P<more>[^\n]*)\n", re.MULTILINE)


def settled(report: Report) -> Iterator[Refusal]:
    """Warnings of a record that nobody may leave standing in a release."""
    return (each for each in report.warnings if each.code in SETTLED)


def against(record: Record, tag: str) -> Iterator[Refusal]:
    """Everything about the repository, the tag and the texts beside the record that is not in order."""
    missing = History(record.root).missing
    if missing:
        yield Refusal(".", 1, 1, "history-missing", "", f"A release stands on its history: {missing}.")
        return
    yield from _unclean(record)
    yield from _tag(record, tag)
    yield from _citation(record)
    yield from _changelog(record, tag.removeprefix("v"))
    yield from _sums(record)


def _unclean(record: Record) -> Iterator[Refusal]:
    """Files that a checkout of the last commit would not hold as they are here."""
    git = record.repository
    for path in sorted(git.modified):
        message = "The file differs from its commit. Commit it, or restore it."
        yield Refusal(path, 1, 1, "untracked-source", path, message)
    for path in sorted(repository.beside(record.root)):
        message = "The file is not tracked by git. Commit it, have git ignore it, or take it out."
        yield Refusal(path, 1, 1, "untracked-source", path, message)


def _tag(record: Record, tag: str) -> Iterator[Refusal]:
    """A tag is made once, and after those with smaller numbers."""
    if repository.has_tag(record.root, tag):
        yield Refusal(".", 1, 1, "unaccounted", tag, f"git has the tag {tag} already. Choose another.")
    elif record.manifest and _numbers(tag) < _numbers(record.manifest.tag):
        node = record.manifest.document.at("/tag")
        message = f"The last release is {record.manifest.tag}. Choose a higher version."
        yield Refusal(MANIFEST, node.line, node.column + 1, "unaccounted", record.manifest.tag, message)


def _numbers(tag: str) -> tuple[int, ...]:
    return tuple(int(each) for each in tag.removeprefix("v").split("."))


def _citation(record: Record) -> Iterator[Refusal]:
    file = record.root / CITATION
    if not file.is_file():
        message = "There is no such file. It says how to cite the record, and carries its version."
        yield Refusal(CITATION, 1, 1, "unaccounted", "", message)
    elif not VERSION.search(file.read_bytes().decode("utf-8", "replace")):
        yield Refusal(CITATION, 1, 1, "unaccounted", "", 'The file has no line "version:" to write to.')


def _changelog(record: Record, version: str) -> Iterator[Refusal]:
    """The changelog says what is new in the version, and no longer calls it unreleased."""
    file = record.root / CHANGELOG
    text = file.read_bytes().decode("utf-8", "replace") if file.is_file() else ""
    entries = list(_ENTRY.finditer(text))
    found = next((each for each in entries if each["version"] == version), None)
    if found is None:
        message = f'There is no entry "## {version}". Say what is new, with the date.'
        yield Refusal(CHANGELOG, 1, 1, "unaccounted", version, message)
        return
    line = text.count("\n", 0, found.start()) + 1
    end = text.find("\n## ", found.end() - 1)
    if "unreleased" in found["more"].lower():
        message = f"The entry still calls {version} unreleased. Put the date there."
        yield Refusal(CHANGELOG, line, 1, "unaccounted", found[0].strip(), message)
    elif not text[found.end() : end if end >= 0 else None].strip():
        yield Refusal(CHANGELOG, line, 1, "unaccounted", found[0].strip(), "The entry says nothing.")


def _sums(record: Record) -> Iterator[Refusal]:
    """Every payload, and the list of experiments, has its line in the checksum list."""
    file = record.root / checksums.PATH
    text = file.read_bytes().decode("utf-8", "replace") if file.is_file() else ""
    listed = {line.split(maxsplit=1)[-1].removeprefix("*") for line in text.splitlines() if line.strip()}
    wanted = [*record.payloads, *([experiments.PATH] if record.experiments else [])]
    for path in wanted:
        if path not in listed:
            message = f"{path} has no line. Add it: sha256sum {path} >> {checksums.PATH}"
            yield Refusal(checksums.PATH, 1, 1, "unaccounted", path, message)
