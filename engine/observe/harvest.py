"""A harvest on disk: one memory-mapped array a quantity, filled text by text, sealed with digests.

The folder's `plan.json` says what is being harvested, `done.txt` names the texts whose rows are on
disk, and `index.json`, written last, makes it whole. A harvest that was killed goes on behind its last
finished text.
"""

from __future__ import annotations

import errno
import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.contract.errors import BadData
from engine.contract.provenance import sha256_file
from engine.contract.store import write_text
from engine.decode.registry import cache_home

Plan = Mapping[str, Any]
SPARE_BYTES = 200_000_000
"""Left free on the disk beside the arrays."""


def folder_of(name: str) -> Path:
    """Where a harvest is kept."""
    return cache_home() / "harvests" / name


class Harvest:
    """A finished harvest."""

    def __init__(self, folder: Path, index: dict[str, Any]) -> None:
        self.folder, self.index = folder, index

    @classmethod
    def open(cls, name: str, *, model: str | None = None) -> Harvest:
        """A finished harvest; `BadData` where it is unfinished, or of other weights than `model` (sha256)."""
        folder = folder_of(name)
        if not (folder / "index.json").is_file():
            begun = "was interrupted" if (folder / "plan.json").is_file() else "is not there"
            raise BadData(str(folder), f"{begun}: there is no finished harvest.", "Run the experiment again.")
        index = json.loads((folder / "index.json").read_text(encoding="utf-8"))
        if model is not None and index["plan"]["model"] != model:
            raise BadData(
                str(folder),
                f"is a stream of another model: {index['plan']['model'][:12]}, wanted {model[:12]}.",
                "Harvest the model that is to be read.",
            )
        return cls(folder, index)

    @property
    def rows(self) -> int:
        """Checked positions in all."""
        return int(self.index["rows"])

    def array(self, name: str) -> NDArray[Any]:
        """One array, memory-mapped and read-only; `BadData` where it has another form than was sealed."""
        if name not in self.index["arrays"]:
            raise BadData(f"{self.folder}/{name}", "was not harvested.", "Read it from another model's.")
        stated = self.index["arrays"][name]
        found: NDArray[Any] = np.load(self.folder / f"{name}.npy", mmap_mode="r")
        if list(found.shape) != stated["shape"] or str(found.dtype) != stated["dtype"]:
            raise BadData(f"{self.folder}/{name}.npy", "does not have its shape.", "Delete the folder.")
        return found

    def verify(self) -> None:
        """Hash every array again; `BadData` names the first that changed."""
        for name, stated in self.index["arrays"].items():
            if sha256_file(self.folder / f"{name}.npy") != stated["sha256"]:
                raise BadData(
                    f"{self.folder}/{name}.npy", "is not what was harvested.", "Delete the folder; run again."
                )


class Writing:
    """A harvest being made."""

    def __init__(self, name: str, plan: Plan) -> None:
        self.folder, self.plan = folder_of(name), dict(plan)
        self.folder.mkdir(parents=True, exist_ok=True)
        kept = self.folder / "plan.json"
        if kept.is_file() and json.loads(kept.read_text(encoding="utf-8")) != self.plan:
            raise BadData(
                str(self.folder),
                "was made by another plan (model, prompts, seeds or code).",
                "Delete the folder, or restore what was changed.",
            )
        write_text(kept, json.dumps(self.plan, indent=2) + "\n")

    def texts(self, batch: int) -> list[list[int]] | None:
        """The texts of a finished batch."""
        path = self.folder / f"texts-{batch:03d}.json"
        found: list[list[int]] | None = json.loads(path.read_text()) if path.is_file() else None
        return found

    def keep_texts(self, batch: int, texts: Sequence[Sequence[int]]) -> None:
        """Keep a batch's texts."""
        with disk(self.folder):
            write_text(self.folder / f"texts-{batch:03d}.json", json.dumps([list(t) for t in texts]))

    def done(self) -> set[str]:
        """Names of the texts whose rows are on disk; a line cut off by a kill does not count."""
        path = self.folder / "done.txt"
        lines = path.read_text(encoding="utf-8").split("\n") if path.is_file() else [""]
        return set(lines[:-1])

    def keep_rows(self, name: str, first: int, total: int, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Write one text's rows at `first` of `total`, then note that they are there."""
        with disk(self.folder):
            for key, array in arrays.items():
                whole = self._array(key, (total, *array.shape[1:]), array.dtype)
                whole[first : first + len(array)] = array
                whole.flush()
            with (self.folder / "done.txt").open("a", encoding="utf-8") as file:
                file.write(f"{name}\n")

    def _array(self, name: str, shape: tuple[int, ...], dtype: np.dtype[Any]) -> np.memmap[Any, Any]:
        path = self.folder / f"{name}.npy"
        if not path.exists():
            size = int(np.prod(shape)) * dtype.itemsize
            free = shutil.disk_usage(self.folder).free
            if free < size + SPARE_BYTES:
                raise BadData(
                    str(self.folder),
                    f"has {free // 1_000_000} MB free; {name} needs {(size + SPARE_BYTES) // 1_000_000}.",
                    "Free some, or set XDG_CACHE_HOME to a larger disk.",
                )
            part = path.with_suffix(".part")
            np.lib.format.open_memmap(part, mode="w+", dtype=dtype, shape=shape).flush()
            part.replace(path)
        return np.lib.format.open_memmap(path, mode="r+")

    def seal(self, rows: int) -> Harvest:
        """Write the index with every array's digest; from now on it can be opened."""
        arrays = {}
        for path in sorted(self.folder.glob("*.npy")):
            found = np.load(path, mmap_mode="r")
            arrays[path.stem] = {
                "shape": list(found.shape),
                "dtype": str(found.dtype),
                "sha256": sha256_file(path),
            }
        index = {"plan": self.plan, "rows": rows, "arrays": arrays}
        with disk(self.folder):
            write_text(self.folder / "index.json", json.dumps(index, indent=2) + "\n")
        return Harvest(self.folder, index)


@contextmanager
def disk(folder: Path) -> Iterator[None]:
    """Turn a full or unwritable disk into a refusal."""
    try:
        yield
    except OSError as error:
        full = error.errno == errno.ENOSPC
        problem = "is on a full disk." if full else f"cannot be written: {error.strerror}."
        raise BadData(
            str(folder), problem, "Free some, or set XDG_CACHE_HOME to a larger disk; it goes on."
        ) from None
