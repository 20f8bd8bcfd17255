"""What the engine's tests share: a small valid payload, and the rule for tests that need weights."""

from __future__ import annotations

import copy
import os
from collections.abc import Callable
from typing import Any

import pytest

from engine.contract.payload import Lexeme
from engine.decode import registry

DOCUMENT: dict[str, Any] = {
    "schema": "specdec-sidechannels/payload/1",
    "name": "trial/one",
    "question": "Does é survive?",
    "regime": {"target": "tiny", "precision": "fp32"},
    "config": {"resamples": 1000, "level": Lexeme("0.950"), "lengths": [1, 2], "strict": True},
    "seeds": {"root": 7},
    "provenance": {
        "command": ["engine", "run", "trial"],
        "commit": "0" * 40,
        "dirty": False,
        "versions": {"python": "3"},
        "device": "CPU",
        "models": [{"name": "tiny", "sha256": "a" * 64}],
        "inputs": [{"path": "prompts.toml", "sha256": "b" * 64}],
    },
    "results": {
        "margin": {"value": Lexeme("0.006860"), "low": Lexeme("-1.5e-3"), "high": 2, "unit": "tokens"},
        "nested": {"one": {"value": 3, "unit": "rounds"}},
    },
    "state": {"columns": ["cluster", "hits"], "rows": [[0, 5], [1, 6]]},
}


@pytest.fixture
def document() -> dict[str, Any]:
    """A valid measured payload as plain data, to be spoiled freely."""
    return copy.deepcopy(DOCUMENT)


@pytest.fixture
def need() -> Callable[[str], None]:
    """Skip where a model is not here; fail instead where the environment says that it must be."""

    def check(name: str) -> None:
        if registry.entry(name).present:
            return
        reason = f"{name} is not here; run: engine fetch {name}"
        if os.environ.get("REQUIRE_MODELS") == "1":
            pytest.fail(reason)
        pytest.skip(reason)

    return check
