"""Writes a file of the record whole or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


def replace(file: Path, data: bytes, mode: int = 0o644) -> None:
    """Put new bytes in the place of a file; a killed process leaves the old file as it was."""
    file.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=f".{file.name}-", dir=file.parent)
    new = Path(name)
    try:
        with os.fdopen(handle, "wb") as opened:
            opened.write(data)
            opened.flush()
            os.fsync(opened.fileno())
        new.chmod(mode)
        new.replace(file)
    except BaseException:
        new.unlink(missing_ok=True)
        raise
