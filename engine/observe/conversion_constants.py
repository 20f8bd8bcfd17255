"""The registered constants of conversion, reconstruction, floors and prefetch, from the record's one file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from engine.observe.constants import REGISTERED, part, section


@dataclass(frozen=True)
class Conversion:
    """Attempts, their order and stop, populations and grids."""

    streams: tuple[str, ...]
    attempts: tuple[str, ...]
    attempts_most: int
    bar: float
    prompts_each: int
    populations: tuple[str, ...]
    root: int
    temperature: int
    draft_length: int
    new_tokens: int
    batch: int
    fit_clusters: int
    choose_clusters: int
    ridge: tuple[float, ...]
    scale: tuple[float, ...]
    rank: int
    neighbours: tuple[int, ...]
    weight: tuple[float, ...]
    oracle_slots: int
    live_prompts: int
    level: float
    resamples: int


@dataclass(frozen=True)
class Reconstruction:
    """Split, grid and support test of the map to the final state, and the readings of what is free."""

    streams: tuple[str, ...]
    baselines: tuple[str, ...]
    aheads: tuple[int, ...]
    fit_clusters: int
    choose_clusters: int
    test_clusters: int
    ridge: tuple[float, ...]
    worst: int
    scale_of_state: int
    positions_numeric: int
    kept_rows: tuple[int, ...]
    roundings: tuple[str, ...]
    injection: str


@dataclass(frozen=True)
class Floors:
    """Seeds and studies of the noise floor, widths that are priced, and the clock."""

    conditions: tuple[str, ...]
    seeds: int
    small_study: int
    subsets: int
    win: float
    widths: tuple[int, ...]
    reader_widths: tuple[int, ...]
    narrow: int
    keep: float
    clock_prompts: int
    clock_warm: int
    clock_new_tokens: int


@dataclass(frozen=True)
class Prefetching:
    """Slots kept ready, the predictor and its grid, and what is compared."""

    kept: int
    extra: int
    harvests: tuple[str, ...]
    decays: tuple[float, ...]
    token_smoothing: float
    ridge: tuple[float, ...]
    state_ridge: tuple[float, ...]
    policies: tuple[str, ...]
    material: float


T = TypeVar("T", Conversion, Reconstruction, Floors, Prefetching)
WHERE: dict[type[Any], str] = {
    Conversion: "conversion",
    Reconstruction: "reconstruction",
    Floors: "floors",
    Prefetching: "prefetch",
}


def read(kind: type[T], path: Path = REGISTERED) -> T:
    """One section of the registered file, or `BadData` where it is missing or of another form."""
    return build(kind, *part(path, WHERE[kind]))


def build(kind: type[T], found: Mapping[str, Any], place: str) -> T:
    """A section from plain data; every key must be known and there, except `why`, which is for people."""
    return section(kind, {name: value for name, value in found.items() if name != "why"}, place)
