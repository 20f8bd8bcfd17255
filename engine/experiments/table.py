"""From an experiment's row to the experiment; imported when asked for."""

from __future__ import annotations

from importlib import import_module
from typing import cast

from engine.contract.errors import NotBuilt
from engine.experiments.names import Row
from engine.run import Experiment


def load(row: Row) -> Experiment:
    """The experiment itself."""
    module, name = row.place.split(":")
    return cast(Experiment, getattr(import_module(module), name)())


def rehearsal(row: Row) -> Experiment:
    """A small one of the same kind, whose payloads are marked; `NotBuilt` where there is none."""
    make = getattr(load(row), "rehearsal", None)
    if make is None:
        raise NotBuilt(row.name, "has no rehearsal.", "Run it whole, without --quick.")
    return cast(Experiment, make())
