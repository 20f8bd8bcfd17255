"""Work that was stopped goes on: finished groups are kept beside the output until it is whole."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from engine.contract.store import write_text

Item = TypeVar("Item")


class Journal:
    """Finished groups of one piece of work, a file each, in a folder named after all that decides them.

    Args:
        folder: where they are; it is made when first needed.
        key: what decides the work, as text; another key never sees them.
    """

    def __init__(self, folder: Path, key: str) -> None:
        self._folder, self._key = folder, key

    def kept(self, number: int, work: Callable[[], list[Item]]) -> list[Item]:
        """What was kept of group `number`, else the work, done and kept."""
        path = self._folder / f"{number}.json"
        if path.is_file():
            found = json.loads(path.read_text(encoding="utf-8"))
            if found["key"] == self._key:
                return [_restored(item) for item in found["group"]]
        done = work()
        write_text(path, json.dumps({"key": self._key, "group": [_plain(item) for item in done]}))
        return done

    def close(self) -> None:
        """The work is whole: nothing of it need be kept."""
        shutil.rmtree(self._folder, ignore_errors=True)


def _plain(item: Any) -> Any:
    return [part.hex() for part in item] if isinstance(item, tuple) else item


def _restored(item: Any) -> Any:
    codes = bool(item) and isinstance(item[0], str)
    return tuple(bytes.fromhex(part) for part in item) if codes else item
