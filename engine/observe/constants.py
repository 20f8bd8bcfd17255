"""The constants of the sideband record, read from its registered file and nowhere else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, TypeVar

from engine.contract import store
from engine.contract.errors import BadData
from engine.contract.provenance import ROOT

REGISTERED = ROOT / "payloads" / "registered" / "sideband.json"


@dataclass(frozen=True)
class Harvesting:
    """Which prompts, how many texts of each, how long."""

    prompts_file: str
    prompts: int
    texts: int
    new_tokens: int
    temperature: int
    batch: int
    harvests: tuple[str, ...]
    top: int
    mass: int


@dataclass(frozen=True)
class Splitting:
    """Clusters in each part."""

    train: int
    validation: int
    held_out: int
    stream: str


@dataclass(frozen=True)
class Labelling:
    """Label spaces: how many buckets each has, how far ahead, and the digest of the committed file."""

    ahead: int
    spaces: tuple[str, ...]
    l1: int
    l2: int
    l3: int
    file: str
    sha256: str


@dataclass(frozen=True)
class Tapping:
    """S1: tapped layers, units kept in each, slots they are hashed into."""

    layers: tuple[int, ...]
    units: int
    slots: int
    hash: str


@dataclass(frozen=True)
class Paging:
    """S2: positions a page, pages kept a layer, ages told apart, pages a sequence may hold."""

    size: int
    kept: int
    ages: int
    budget: int


@dataclass(frozen=True)
class Routing:
    """S3: experts a router has and chooses."""

    experts: int
    chosen: int


@dataclass(frozen=True)
class Baselining:
    """Sizes of the free baselines."""

    summary: int
    candidates: int
    candidate_slots: int


@dataclass(frozen=True)
class Twinning:
    """How many scrambled twins."""

    seeds: int


@dataclass(frozen=True)
class Controlling:
    """Positive control: shares of rows that hold the answer, and its slots."""

    answer_shares: tuple[float, ...]
    answer_slots: int


@dataclass(frozen=True)
class Linear:
    """Grid of the registered reader."""

    ridge: tuple[float, ...]
    stream_scale: tuple[float, ...]
    sharpness: tuple[float, ...]


@dataclass(frozen=True)
class Retesting:
    """Grids of the stronger readers."""

    logistic_ridge: tuple[float, ...]
    mlp_width: tuple[int, ...]
    mlp_decay: tuple[float, ...]
    mlp_epochs: int
    tree_leaves: tuple[int, ...]
    tree_rounds: int
    tree_rate: float
    projection: int
    twin_seeds: int


@dataclass(frozen=True)
class Curve:
    """Training clusters of the learning curve."""

    clusters: tuple[int, ...]


@dataclass(frozen=True)
class Interval:
    """How intervals are made; log loss is kept in `scale_bits` parts of a bit."""

    level: float
    resamples: int
    scale_bits: int


@dataclass(frozen=True)
class Sideband:
    """All of them."""

    root: int
    harvest: Harvesting
    split: Splitting
    label: Labelling
    tap: Tapping
    pages: Paging
    experts: Routing
    baseline: Baselining
    twin: Twinning
    control: Controlling
    linear: Linear
    retests: Retesting
    curve: Curve
    interval: Interval


SECTIONS: dict[str, type[Any]] = {
    "harvest": Harvesting,
    "split": Splitting,
    "label": Labelling,
    "tap": Tapping,
    "pages": Paging,
    "experts": Routing,
    "baseline": Baselining,
    "twin": Twinning,
    "control": Controlling,
    "linear": Linear,
    "retests": Retesting,
    "curve": Curve,
    "interval": Interval,
}
T = TypeVar("T")


def read(path: Path = REGISTERED) -> Sideband:
    """The registered constants, or `BadData` where there are none or they do not have this form."""
    return build(*part(path, "sideband"))


def part(path: Path, name: str) -> tuple[Mapping[str, Any], str]:
    """One part of a registered file and its place, or `BadData` where there is none."""
    if not path.is_file():
        raise BadData(str(path), "is not there.", "Register the constants before any run they govern.")
    document = store.loads(path.read_bytes(), str(path))
    found = document.get("config", {}).get(name) if isinstance(document, dict) else None
    place = f"{path} at /config/{name}"
    if not isinstance(found, dict):
        raise BadData(place, "is missing.", "Register the constants first.")
    return found, place


def build(found: Mapping[str, Any], place: str) -> Sideband:
    """Constants from plain data; every key must be known and there."""
    _known(found, {"root", *SECTIONS}, place)
    parts = {name: section(kind, found[name], f"{place}/{name}") for name, kind in SECTIONS.items()}
    return Sideband(root=int(found["root"]), **parts)


def section(kind: type[T], found: Mapping[str, Any], place: str) -> T:
    """A dataclass of numbers, texts and tuples of them; every field must be there, and nothing else."""
    wanted = {field.name: str(field.type) for field in fields(kind)}  # type: ignore[arg-type]
    _known(found, set(wanted), place)
    return kind(**{name: _value(found[name], type_) for name, type_ in wanted.items()})


def _known(found: Mapping[str, Any], wanted: set[str], place: str) -> None:
    odd = sorted(wanted ^ set(found))
    if odd:
        raise BadData(place, f"has or lacks the keys {', '.join(odd)}.", "Write what the code reads.")


def _value(value: Any, kind: str) -> Any:
    one = float if "float" in kind else int if "int" in kind else str
    return tuple(one(each) for each in value) if kind.startswith("tuple") else one(value)
