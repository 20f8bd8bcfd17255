"""What every stream has: a recorder that listens to one pass of a model, and features for a reader."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from engine.observe.constants import Sideband

Arrays = Mapping[str, NDArray[Any]]
Features = NDArray[np.float32]


class Recorder(Protocol):
    """Listens to a transformers module through hooks. One pass of one row of n positions at a time."""

    def attach(self, module: Any) -> list[Any]:
        """Hook into the module; returns the handles that take the hooks out again."""

    def take(self, rows: slice) -> dict[str, NDArray[Any]]:
        """What the last pass touched at those positions, an array each; forgets it."""


@dataclass(frozen=True)
class Stream:
    """One stream by its name. `recorder` is None where it follows from arrays that every harvest has."""

    name: str
    title: str
    pure: bool
    """Whether an observer of addresses alone sees it."""
    needs: tuple[str, ...]
    """Arrays of a harvest that it reads."""
    features: Callable[[Arrays, Sideband], Features]
    """From those arrays, (N, …) each, to a reader's columns, (N, d)."""
    recorder: Callable[[Sideband], Recorder] | None = None
