"""The checksum list that people use on a copy: every line of it must describe the file it names."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from generator.report.refusal import Refusal

PATH = "payloads/SHA256SUMS"

_LINE = re.compile(r"(?P<digest>[0-9a-f]{64}) [ *](?P<path>.+)")


def check(root: Path, digests: Mapping[str, str]) -> Iterator[Refusal]:
    """Refuse lines that are no checksum line, or that have another digest than the file they name."""
    file = root / PATH
    if not file.is_file():
        return
    text = file.read_bytes().decode("utf-8", "replace")
    for number, line in enumerate(text.splitlines(), 1):
        match = _LINE.fullmatch(line)
        if match is None:
            yield Refusal(PATH, number, 1, "bad-payload", line[:60], "Not a line of sha256sum.")
        elif digests.get(match["path"], match["digest"]) != match["digest"]:
            message = f"The file has another digest: {digests[match['path']]}."
            yield Refusal(PATH, number, 1, "payload-changed", match["path"], message)
