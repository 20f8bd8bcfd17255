"""Files of a site that are no page and no text of the record: each is known by its bytes, or read as text.

A script, an archive or a source map may hold any number. It passes where it is a file of the theme or of the
generator, byte for byte, or one that the record keeps below `site_src/`, where its source can be reviewed.
"""

from __future__ import annotations

import gzip
import hashlib
import re
import zlib
from base64 import urlsafe_b64decode
from collections.abc import Iterator
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution, entry_points
from pathlib import Path

import generator


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


PICTURES = _words(
    ".png .jpg .jpeg .gif .webp .avif .ico .bmp .woff .woff2 .ttf .otf .eot .pdf .mp4 .webm .mp3 .ogg"
)
"""Files that no audit reads: pictures, fonts, recordings and printed pages."""

PROGRAMS = _words(".js .mjs .cjs .map .py .wasm .zip .gz .tgz .tar .whl")
"""Files that may hold any number, and so have to be known by their bytes."""

SOURCES = "site_src/"
SIZE_LIMIT = 64 * 1024 * 1024
"""Bytes of the largest of them that is read."""

_RECORD = re.compile(r"^[^\n]*\.(?:js|mjs|map),sha256=([\w-]+),", re.MULTILINE)


def is_known(path: str, data: bytes, root: Path, site: Path) -> bool:
    """Whether a program of the site is one of the theme, of the generator or of the record."""
    return (
        _equals(root / SOURCES / path, data)
        or _packed(path, data, site)
        or _assembled(data)
        or hashlib.sha256(data).digest() in _of_themes()
    )


def _equals(file: Path, data: bytes) -> bool:
    try:
        return not file.is_symlink() and file.is_file() and file.read_bytes() == data
    except OSError:
        return False


def _packed(path: str, data: bytes, site: Path) -> bool:
    """Whether it is another file of the site, compressed; that one is judged."""
    if not path.endswith(".gz"):
        return False
    try:
        unpacked = zlib.decompressobj(16 + zlib.MAX_WBITS).decompress(data, SIZE_LIMIT)
        return _equals(site / path.removesuffix(".gz"), unpacked) and gzip.decompress(data) == unpacked
    except (OSError, EOFError, zlib.error):
        return False


def _assembled(data: bytes) -> bool:
    """Whether it is made of scripts of the generator, one after the other, and of nothing else."""
    parts = _parts()
    while data:
        part = next((each for each in parts if data.startswith(each)), None)
        if part is None:
            return False
        data = data[len(part) :]
    return True


@cache
def _parts() -> tuple[bytes, ...]:
    """The generator's scripts."""
    folder = Path(generator.__file__).parent / "render/assets"
    return tuple(found for file in sorted(folder.rglob("*.js")) if (found := file.read_bytes()))


@cache
def _of_themes() -> frozenset[bytes]:
    """The digests of the scripts of mkdocs and of every installed theme, as their packages list them."""
    return frozenset(_digests())


def _digests() -> Iterator[bytes]:
    names = {each.dist.name for each in entry_points(group="mkdocs.themes") if each.dist}
    for name in sorted({"mkdocs", *names}):
        try:
            listed = distribution(name).read_text("RECORD") or ""
        except PackageNotFoundError:
            continue
        for digest in _RECORD.findall(listed):
            yield _decoded(digest)


def _decoded(digest: str) -> bytes:
    """A digest as package records write it: base64 for addresses, without its padding."""
    return urlsafe_b64decode(digest + "=" * (-len(digest) % 4))
