"""Exports a record: build and audit its site, describe all of it, pack it; equal records, equal bytes."""

from __future__ import annotations

import json
import shutil
import tempfile
import zipfile
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path

from generator.export import contents as all_contents
from generator.export import crate, nanopublication, trail
from generator.export.contents import Contents
from generator.number.evaluate import Evaluation
from generator.record import repository
from generator.render.publish import publish
from generator.render.site import gather

SUMS = "SHA256SUMS"
ARCHIVE = "record.zip"
FOLDER = "record"
EPOCH = (1980, 1, 1, 0, 0, 0)
"""The date of every file in the archive: the first that the format has."""


class Misuse(Exception):
    """A request that cannot be served whatever the record says; exit code 2."""


def export(root: Path, out: Path) -> list[str]:
    """Write the folder and the archive of it; the files that were written, in order.

    Raises Misuse, contents.Undated and Unciteable, and what publishing raises; then nothing is written.
    """
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise Misuse(f"{out} is not empty; name another folder with --out.")
    with tempfile.TemporaryDirectory() as name:
        publish(root, Path(name) / "site")
        record, evaluations = gather(root)
        found = all_contents.gather(record, Path(name) / "site")
    files = described(found, evaluations)
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{out.name}-", dir=out.parent) as name:
        _write(Path(name) / FOLDER, files)
        _pack(Path(name) / ARCHIVE, files)
        out.mkdir(exist_ok=True)
        for each in (FOLDER, ARCHIVE):
            shutil.move(Path(name) / each, out / each)
    return [*files, ARCHIVE]


def described(found: Contents, evaluations: Mapping[str, Evaluation]) -> dict[str, bytes]:
    """Every file of the export by path: what is there, what describes it, and the list of digests."""
    files = dict(found.files)
    files["numbers.json"] = files["site/numbers.json"]
    files["swhids.json"] = spans(found)
    files[trail.PATH] = trail.written(found)
    files |= nanopublication.written(found, evaluations)
    whole = Contents(found.record, found.name, found.date, found.citation, files, found.numbers)
    files[crate.PATH] = crate.metadata(whole)
    sums = (f"{sha256(data).hexdigest()}  {path}\n" for path, data in sorted(files.items()))
    return files | {SUMS: "".join(sums).encode()}


def spans(found: Contents) -> bytes:
    """The Software Heritage identifier of the bytes behind each number that was read from one place."""
    known, git = found.numbers["payloads"], found.record.repository
    above = (repository.ask(found.record.root, "rev-parse", "--show-prefix") or "").strip()
    made = {
        f"{page}#{name}": identifier(
            known[entry["path"]]["swhid"],
            entry,
            above,
            found.commit if git.standing(entry["path"]) is None else "",
        )
        for page, name, entry in found.cited()
        if "path" in entry
    }
    return f"{json.dumps(made, indent=1, ensure_ascii=False)}\n".encode()


def identifier(content: str, entry: Mapping[str, object], above: str, commit: str) -> str:
    """A content with what qualifies it, in the order that the specification asks for.

    `above` is the record's folder in its repository; no commit is named that does not hold the content.
    """
    span = entry["bytes"]
    assert isinstance(span, list)
    path = f"{above}{entry['path']}".replace("%", "%25").replace(";", "%3B")
    where = f";anchor=swh:1:rev:{commit};path=/{path}" if commit else ""
    return f"{content}{where};bytes={span[0]}-{span[1] - 1}"


def _write(folder: Path, files: Mapping[str, bytes]) -> None:
    for path, data in files.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)


def _pack(file: Path, files: Mapping[str, bytes]) -> None:
    """An archive without compression, whose bytes depend on nothing but its files."""
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        for path, data in sorted(files.items()):
            entry = zipfile.ZipInfo(f"{FOLDER}/{path}", EPOCH)
            entry.create_system, entry.external_attr = 3, 0o644 << 16
            archive.writestr(entry, data)
