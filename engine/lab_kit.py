"""The lab to take away: both implementations, examples, vectors and checks in one archive of fixed bytes.

`python -m engine.lab_kit` writes it where the site has it. Bytes do not depend on the machine: entries are
sorted and dated to the epoch, and the archive is stored in gzip's own form without compression, as
compressors differ between versions.
"""

from __future__ import annotations

import io
import json
import struct
import sys
import tarfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from engine import lab

ROOT = Path(__file__).parents[1]
KIT = ROOT / "site_src/assets/lab-kit"
OUT = ROOT / "site_src/assets/lab-kit.tar.gz"
FOLDER = "speculative-lab"
BLOCK = 65535
"""Bytes of the largest stored block of deflate."""

VECTORS: tuple[dict[str, Any], ...] = (
    {"acceptance": 1, "rounds": 100},
    {"acceptance": 0, "rounds": 100},
    {"draft_length": 0},
    {"acceptance": 0.5, "meaning": "proposed"},
    {"acceptance": 0.2, "meaning": "joint", "growth": 0.75},
    {"mode": "positions", "rates": [0.7, 0.5, 0.9], "draft_length": 3, "draft": 0.1},
    {"mode": "positions", "meaning": "joint", "rates": [0.5, 0.25, 0], "draft_length": 3, "seed": 7},
    {"mode": "spread", "kept": 4, "refused": 2, "seed": 4294967295},
    {"draft": 40, "verify": 90.125, "acceptance": 0.1},
)
"""Settings that visit every mode, every meaning and both ends."""


def vectors() -> str:
    """Settings and the text of their reports, as both implementations must print them."""
    rows = [{"settings": given, "report": lab.text(lab.report(given))} for given in VECTORS]
    return json.dumps(rows, indent=1) + "\n"


def files() -> Iterator[tuple[str, bytes]]:
    """Names and contents of the kit."""
    yield "vectors.json", vectors().encode()
    for path in (
        *(ROOT / "LICENSE", ROOT / "engine/lab.py", ROOT / "engine/lab_schema.json"),
        *(ROOT / "site_src/assets/lab.js", *KIT.iterdir()),
    ):
        if path.is_file():
            yield path.name, path.read_bytes()


def archive() -> bytes:
    """The kit as a gzipped tar file."""
    held = io.BytesIO()
    with tarfile.open(fileobj=held, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for name, content in sorted(files()):
            entry = tarfile.TarInfo(f"{FOLDER}/{name}")
            entry.size, entry.mode = len(content), 0o644
            tar.addfile(entry, io.BytesIO(content))
    return gzipped(held.getvalue())


def gzipped(data: bytes) -> bytes:
    """Data in gzip's form, stored (RFC 1951, 3.2.4; RFC 1952)."""
    head = b"\x1f\x8b\x08\x00" + bytes(4) + b"\x00\xff"
    blocks = [data[at : at + BLOCK] for at in range(0, len(data), BLOCK)] or [b""]
    stored = b"".join(
        struct.pack("<BHH", index == len(blocks) - 1, len(block), len(block) ^ 0xFFFF) + block
        for index, block in enumerate(blocks)
    )
    return head + stored + struct.pack("<II", zlib.crc32(data), len(data) % 2**32)


def main(out: Path = OUT) -> int:
    """Write the kit."""
    out.write_bytes(archive())
    print(f"wrote {out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
