"""A payload: a document of the record in which every value knows its place."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from generator.record import document, envelope
from generator.record.document import Document


@dataclass(frozen=True)
class Payload(Document):
    """One JSON document that numbers come from."""

    @property
    def kind(self) -> str:
        """What the schema id says it is: payload, registered, reported or critic."""
        return self.schema.split("/")[-2]


def read(root: Path, path: str) -> Payload:
    """Read the payload at a path relative to the root; raises Refused with the place of what is wrong."""
    found = document.read(root, path, envelope.kinds(), own=True)
    return Payload(found.path, found.data, found.root)
