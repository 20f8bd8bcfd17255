"""Raw harvests, which are too large for git, as zips that come out with the same bytes everywhere.

Members are stored uncompressed, in order, with one date: a deflated member would have the bytes of one zlib
version. The sums of the zips are committed, so that a copy from anywhere can be checked.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from tqdm import tqdm

from engine.contract.errors import BadData
from engine.contract.provenance import ROOT, sha256_file
from engine.contract.store import write_text
from engine.decode.registry import cache_home
from engine.observe.harvest import Harvest, disk, folder_of

SUMS = ROOT / "docs" / "archives" / "SHA256SUMS"
"""Digest and name of every zip, in the form of coreutils."""

DATE = (1980, 1, 1, 0, 0, 0)
"""Of every member: the first that a zip can state."""

PIECE = 1 << 20
REHEARSED = "-quick"


@dataclass(frozen=True)
class Verdict:
    """What is said of one zip of a copy."""

    name: str
    word: str

    @property
    def good(self) -> bool:
        """Whether it is there, and what it was."""
        return self.word == "same"


def finished() -> list[str]:
    """The harvests of this machine that are whole, rehearsals left out."""
    found = (cache_home() / "harvests").glob("*/index.json")
    return sorted(each.parent.name for each in found if not each.parent.name.endswith(REHEARSED))


def members(harvest: Harvest) -> Iterator[Path]:
    """The files of a harvest: its texts, its plan, its arrays, and the index that seals them."""
    arrays = [harvest.folder / f"{name}.npy" for name in harvest.index["arrays"]]
    yield from sorted([*harvest.folder.glob("texts-*.json"), harvest.folder / "plan.json", *arrays])
    yield harvest.folder / "index.json"


def pack(name: str, out: Path) -> Path:
    """Write one harvest's zip; `BadData` where it is unfinished or no longer what was harvested."""
    harvest = Harvest.open(name)
    harvest.verify()
    path, part = out / f"{name}.zip", out / f".{name}.zip.part"
    with disk(out):
        out.mkdir(parents=True, exist_ok=True)
        try:
            with zipfile.ZipFile(part, "w", zipfile.ZIP_STORED) as packed:
                for file in tqdm(list(members(harvest)), desc=name, unit="file"):
                    _add(packed, file, f"{name}/{file.name}")
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)
    return path


def _add(packed: zipfile.ZipFile, file: Path, name: str) -> None:
    about = zipfile.ZipInfo(name, DATE)
    about.create_system, about.external_attr = 3, 0o644 << 16
    about.file_size = file.stat().st_size
    with file.open("rb") as source, packed.open(about, "w") as target:
        while piece := source.read(PIECE):
            target.write(piece)


def read_sums(path: Path) -> dict[str, str]:
    """Digests by the names of zips; none where nothing was packed yet. `BadData` for another form."""
    found = {}
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    for number, line in enumerate(lines, 1):
        digest, gap, name = line.partition("  ")
        if not (gap and name and len(digest) == 64 and name not in found):
            raise BadData(f"{path}:{number}", f"{line!r} is no sum and name.", "Restore it from git.")
        found[name] = digest
    return found


def state(paths: list[Path], sums: Path) -> None:
    """Write the sums of some zips among those that are committed."""
    found = read_sums(sums) | {path.name: sha256_file(path) for path in paths}
    write_text(sums, "".join(f"{found[name]}  {name}\n" for name in sorted(found)))


def verify(copy: Path, sums: Mapping[str, str]) -> list[Verdict]:
    """How each zip that should be in a folder stands there, and what else is there."""
    there = {path.name: path for path in copy.glob("*.zip")}
    out = [Verdict(name, _word(there.get(name), digest)) for name, digest in sums.items()]
    return [*out, *(Verdict(name, "not listed") for name in sorted(there.keys() - sums.keys()))]


def _word(path: Path | None, digest: str) -> str:
    if path is None:
        return "missing"
    return "same" if sha256_file(path) == digest else "changed"


def require(names: tuple[str, ...]) -> list[str]:
    """The harvests to pack, all that are finished where none is named; `BadData` where there is none."""
    chosen = list(names) or finished()
    if not chosen:
        raise BadData(
            str(folder_of("").parent), "holds no finished harvest.", "Run an experiment that makes one."
        )
    return chosen
