"""The reading of the target with experts: nothing apart from itself, and apart from another model."""

from __future__ import annotations

import json
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from engine.contract.payload import ModelDigest
from engine.experiments import upcycling
from engine.experiments.prompts import Prompt
from engine.run import Documents

Tiny = Callable[..., tuple[Any, Any]]
FACTS = {
    "recipe": {"epochs": 1, "experts": 8, "anneal": [[2, 0.0]], "rate": 0.1},
    "samples": 4,
    "sampled_tokens": 20,
    "positions_an_epoch": 40,
    "steps": 2,
    "last_epoch_loss_nats": 1.25,
}


def read(
    experts: Any, parent: Any, draft: Any, monkeypatch: pytest.MonkeyPatch
) -> tuple[dict[str, Any], list[list[int]]]:
    """The results and the state of a run on small models."""
    experiment = upcycling.Upcycling(upcycling.Settings(new_tokens=9, batch=3, resamples=200))
    chat = SimpleNamespace(prompt=lambda text: [1 + len(text) % 7, 2, 3], end=40)
    vars(experiment).update(
        loaded=(parent, experts, draft, chat),
        prompts=[Prompt(f"p{i}", "questions", "x" * i) for i in range(12)],
        models=[ModelDigest(name="tiny", sha256="a" * 64)],
    )
    monkeypatch.setattr(experiment, "facts", lambda: FACTS)
    documents: Documents = {}
    for task in experiment.tasks():
        documents[task.name] = json.loads(json.dumps(task.work(documents)))
    (payload,) = experiment.payloads(documents)
    made = payload.model_dump()
    return made["results"], made["state"]["rows"]


def test_a_model_read_beside_itself_is_nothing_apart(tiny: Tiny, monkeypatch: pytest.MonkeyPatch) -> None:
    (_, same), (_, other) = tiny(1), tiny(2)
    results, rows = read(same, same, other, monkeypatch)
    for _cluster, n, _thousand_n, divergence, parent, experts, agree, agree_draft in rows:
        assert (divergence, experts, agree) == (0, parent, n)
        assert agree_draft < n
    assert float(results["agreement_draft"]["high"]) < 1


def test_another_model_is_apart_and_the_draft_is_told_from_it(
    tiny: Tiny, monkeypatch: pytest.MonkeyPatch
) -> None:
    (_, parent), (_, other) = tiny(1), tiny(2)
    results, rows = read(other, parent, parent, monkeypatch)
    assert float(results["divergence"]["value"]) > 0.1
    assert all(row[-1] == row[1] for row in rows)
    assert float(results["agreement_more"]["high"]) < 0
    assert len(rows) == 12
    assert results["training"]["chosen"]["value"] == 2
