"""The manifest of a release: its tag, and every file of the record by digest."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from generator.record import document, envelope, experiments
from generator.record.document import Document

PATH = "findings/MANIFEST.json"

UNRELEASED = "not released yet"
"""Said of payloads that no release holds as they are."""


@dataclass(frozen=True)
class Manifest:
    """What a release consists of, and the document that says so."""

    document: Document
    tag: str
    files: Mapping[str, str]

    @property
    def payloads(self) -> frozenset[str]:
        """Paths of the payloads of the release, which the list of experiments is not one of."""
        found = (path for path in self.files if path.startswith("payloads/") and path.endswith(".json"))
        return frozenset(found) - {experiments.PATH}


def read(root: Path) -> Manifest | None:
    """The manifest of a record, None where it has none; raises Refused with the place of what is wrong."""
    if not (root / PATH).exists():
        return None
    found = document.read(root, PATH, (envelope.MANIFEST,))
    files = {path: node.text for path, node in found.at("/files").members.items()}
    return Manifest(found, found.at("/tag").text, files)


def tag(manifest: Manifest | None, digests: Mapping[str, str], paths: Iterable[str] | None = None) -> str:
    """The tag at which some payloads were read, or that they are not released.

    `digests` are those of all payloads of the record by path. Without paths it is about the whole record,
    and a payload that the release had and the record has no more makes it another one.
    """
    if manifest is None:
        return UNRELEASED
    wanted = manifest.payloads | digests.keys() if paths is None else paths
    same = all(path in digests and manifest.files.get(path) == digests[path] for path in wanted)
    return manifest.tag if same else UNRELEASED
