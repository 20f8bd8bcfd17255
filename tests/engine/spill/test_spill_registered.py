"""The constants committed before the runs are those that the experiments begin with."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from engine.contract.store import canonical
from engine.decode.eagle_training import Recipe
from engine.experiments import (
    spill_attack,
    spill_availability,
    spill_datastore,
    spill_llama_cpp,
    spill_mitigations,
    spill_planted,
    spill_wire,
)
from engine.experiments.settings import shown
from engine.experiments.spill_traces import SpillTraces
from engine.spill.attack import Forest

ROOT = Path(__file__).parents[3]
REGISTERED = json.loads((ROOT / "payloads/registered/spill.json").read_text("utf-8"))["config"]
FOREST = {"forest": shown(Forest())}
PARTS: dict[str, dict[str, Any]] = {
    "traces": SpillTraces().config(),
    "attack": shown(spill_attack.Settings()) | FOREST,
    "planted": shown(spill_planted.Study()),
    "mitigations": shown(spill_mitigations.Settings()) | FOREST,
    "wire": shown(spill_wire.Settings()) | FOREST,
    "datastore": shown(spill_datastore.Settings()),
    "availability": shown(spill_availability.Settings()),
    "eagle": shown(Recipe()),
}


@pytest.mark.parametrize("part", PARTS)
def test_what_is_registered_is_what_the_experiment_begins_with(part: str) -> None:
    assert json.loads(canonical(PARTS[part])) == REGISTERED[part]


def test_the_server_that_is_not_ours_is_asked_as_was_registered() -> None:
    found = json.loads((ROOT / "payloads/registered/spill-llama-cpp.json").read_text("utf-8"))
    wanted = json.loads(canonical(shown(spill_llama_cpp.Settings()) | FOREST))
    in_words = {name: str(value) if isinstance(value, float) else value for name, value in wanted.items()}
    assert in_words == found["config"]["capture"]  # this file was frozen with its decimals as texts
