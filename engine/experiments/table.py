"""From an experiment's row to the experiment; imported when asked for."""

from __future__ import annotations

from importlib import import_module
from typing import cast

from engine.experiments.names import Row
from engine.run import Experiment


def load(row: Row) -> Experiment:
    """The experiment itself."""
    module, name = row.place.split(":")
    return cast(Experiment, getattr(import_module(module), name)())
