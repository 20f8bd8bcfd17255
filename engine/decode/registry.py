"""The models the engine knows, read from one TOML file, and where their files are kept."""

from __future__ import annotations

import os
import tomllib
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from engine.contract.errors import ModelMissing, UnknownName

HUB_SUMS = "SHA256SUMS"
"""The digests of a model from the hub, in its folder."""


@dataclass(frozen=True)
class Entry:
    """One model of `models.toml`. Fields that do not apply to its source are None."""

    name: str
    title: str
    role: str
    source: str
    licence: str
    precision: str
    wheel: str | None = None
    wheel_sha256: str | None = None
    member: str | None = None
    sha256: str | None = None
    teacher: str | None = None
    hub: str | None = None
    revision: str | None = None
    gigabytes: int = 0

    @property
    def folder(self) -> Path:
        """Where this model's files are kept."""
        return cache_home() / "models" / self.name

    @property
    def present(self) -> bool:
        """Whether fetching this model was completed; the last file written is the mark."""
        return (self.folder / "model.json").is_file()

    @property
    def digest(self) -> str:
        """What pins the weights: the digest of the file they came in, of the list of files, or their own."""
        from engine.contract.provenance import sha256_file

        return self.sha256 or sha256_file(self.folder / (HUB_SUMS if self.hub else "model.safetensors"))


def cache_home() -> Path:
    """Weights and harvests: `$XDG_CACHE_HOME/specdec-sidechannels`, by default under `~/.cache`."""
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "specdec-sidechannels"


def entries() -> dict[str, Entry]:
    """All models by name, in the order of the file."""
    text = resources.files("engine.decode").joinpath("models.toml").read_text(encoding="utf-8")
    return {name: Entry(name=name, **fields) for name, fields in tomllib.loads(text).items()}


def entry(name: str) -> Entry:
    """One model, or `UnknownName` naming those there are."""
    known = entries()
    if name not in known:
        raise UnknownName(name, "is no model of this engine.", f"Known: {', '.join(known)}.")
    return known[name]


def require(name: str) -> Entry:
    """A model that has been fetched, or `ModelMissing` with the command that fetches it."""
    found = entry(name)
    if not found.present:
        raise ModelMissing(name, "has not been fetched.", f"Run: engine fetch {name}")
    return found
