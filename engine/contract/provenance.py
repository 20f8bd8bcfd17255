"""What produced a payload: command, commit, versions, device, digests."""

from __future__ import annotations

import hashlib
import platform
import subprocess
from collections.abc import Iterable
from importlib.metadata import version
from pathlib import Path

from engine.contract.errors import BadData
from engine.contract.payload import FileDigest, ModelDigest, Provenance

ROOT = Path(__file__).resolve().parents[2]


def gather(
    command: list[str],
    *,
    packages: Iterable[str],
    models: list[ModelDigest],
    inputs: list[str],
    device: str = "CPU",
) -> Provenance:
    """The provenance of a run of this code, now. `inputs` are paths from the repository root."""
    versions = {"python": platform.python_version()} | {name: version(name) for name in packages}
    return Provenance(
        command=command,
        commit=_git("rev-parse", "HEAD"),
        dirty=bool(_git("status", "--porcelain", "--", "engine")),
        versions=versions,
        device=f"{platform.system()} {platform.machine()}, {device}",
        models=models,
        inputs=[FileDigest(path=path, sha256=sha256_file(ROOT / path)) for path in inputs],
    )


def sha256_file(path: Path) -> str:
    """Digest of a file's bytes, read in pieces."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _git(*arguments: str) -> str:
    try:
        done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        raise BadData(str(ROOT), "is no git checkout, so a run has no commit.", "Run from a clone.") from None
    return done.stdout.strip()
