"""What runs in the reader's browser, and what it reads there when a site is opened from a file.

Classic scripts, since a page that is opened from a file may neither fetch nor import: one with everything
that is done in a page, one beside each payload with its text, one with the digests of every release.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from generator.record import manifest
from generator.record.history import History
from generator.record.record import Record
from generator.render.environment import asset

SCRIPT = "assets/findings.js"
WORKER = "assets/frame-worker.js"
LATER = "assets/search-later.js"
INSIDE = "assets/frame-inside.js"
KNOWN = "assets/known.js"

PARTS = (
    *("element", "digest", "exact", "display", "json", "payloads", "verify"),
    *("card", "bar", "filter", "scroll", "archive", "drop", "start"),
)
"""The parts of the script, in the order in which they build on each other."""


def files(record: Record) -> Iterator[tuple[str, bytes]]:
    """Every script of a site, by its path there."""
    yield SCRIPT, b"".join(asset(f"js/{name}.js") for name in PARTS)
    yield WORKER, asset("js/frame-worker.js")
    yield LATER, asset("js/search-later.js")
    yield INSIDE, asset("js/frame-inside.js")
    yield KNOWN, known(record)
    for path, payload in record.payloads.items():
        yield f"{path}.js", carried(path, payload.data)


def carried(path: str, data: bytes) -> bytes:
    """A classic script that carries a payload, byte for byte once its text is UTF-8 again."""
    return f"findings.carry({json.dumps(path)},{json.dumps(data.decode('utf-8'))});\n".encode("ascii")


def known(record: Record) -> bytes:
    """The digests of the payloads of every release that history holds, and of this record, by path."""
    present = {path: payload.sha256 for path, payload in sorted(record.payloads.items())}
    return f"findings.know({json.dumps({'releases': _releases(record), 'present': present})});\n".encode()


def _releases(record: Record) -> dict[str, dict[str, str]]:
    """By tag, the digests of the payloads of each release; none where the record has no manifest."""
    if not (record.root / manifest.PATH).is_file():
        return {}
    texts = [version.data for version in History(record.root).versions(manifest.PATH)]
    texts.append((record.root / manifest.PATH).read_bytes())
    return dict(_release(json.loads(each)) for each in texts if each)


def _release(document: dict[str, object]) -> tuple[str, dict[str, str]]:
    files_ = document.get("files")
    listed = files_ if isinstance(files_, dict) else {}
    return str(document.get("tag", "")), {
        path: str(digest)
        for path, digest in listed.items()
        if path.startswith("payloads/") and path.endswith(".json") and path.count("/") > 1
    }
