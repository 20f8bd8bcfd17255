"""A manifest that names a tag of this repository is, byte for byte, the one that the tag holds."""

from __future__ import annotations

from collections.abc import Iterator

from generator.record.history import History
from generator.record.manifest import PATH
from generator.record.record import Record
from generator.record.repository import has_tag
from generator.report.refusal import Refusal


def faults(record: Record) -> Iterator[Refusal]:
    """A manifest that was edited after its release."""
    manifest = record.manifest
    if manifest is None or not has_tag(record.root, manifest.tag):
        return
    if History(record.root).data(f"refs/tags/{manifest.tag}", PATH) != manifest.document.data:
        tag = manifest.document.at("/tag")
        message = f"The tag {manifest.tag} holds another manifest. Restore it, or release under a new tag."
        yield Refusal(PATH, tag.line, tag.column + 1, "registered-text-changed", manifest.tag, message)
