"""The experiments there are, by name: data only, so that listing them costs nothing."""

from __future__ import annotations

from dataclasses import dataclass

from engine.contract.errors import UnknownName


@dataclass(frozen=True)
class Row:
    """One experiment: where it is defined, what it asks, which models and how long it needs."""

    name: str
    place: str
    question: str
    models: tuple[str, ...]
    minutes: int
    payloads: tuple[str, ...]


EXPERIMENTS = (
    Row(
        name="acceptance",
        place="engine.experiments.acceptance:Acceptance",
        question="How many draft tokens does the target keep?",
        models=("smollm2", "smollm2-draft"),
        minutes=25,
        payloads=tuple(
            f"acceptance/{name}"
            for name in ("lookup-greedy", "lookup-sampled", "draft-greedy", "draft-sampled", "seed-noise")
        ),
    ),
    Row(
        name="replay",
        place="engine.experiments.replay:ReplayCheck",
        question="Are replayed rounds those of live decoding, and is the text the target's own?",
        models=("smollm2", "smollm2-draft"),
        minutes=20,
        payloads=("acceptance/replay",),
    ),
    Row(
        name="distillation",
        place="engine.experiments.distillation:Distillation",
        question="What was the draft trained on, and how far did it get?",
        models=("smollm2-draft",),
        minutes=1,
        payloads=("acceptance/distillation",),
    ),
)


def find(name: str) -> Row:
    """An experiment's row, or `UnknownName` naming those there are."""
    for row in EXPERIMENTS:
        if row.name == name:
            return row
    known = ", ".join(row.name for row in EXPERIMENTS)
    raise UnknownName(name, "is no experiment.", f"Known: {known}.")
