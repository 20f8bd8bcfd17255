"""What the draft was trained on, and how far it got: the facts its training left behind."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from engine.contract.payload import Leaf, Measured, Payload, lexeme
from engine.contract.provenance import gather
from engine.decode import registry
from engine.experiments.acceptance import model_digest
from engine.experiments.settings import shown
from engine.run import Documents, Task

PROMPTS_FILE = "engine/experiments/prompts/distillation.toml"


@dataclass
class Distillation:
    """One task that reads the training facts beside the draft's weights."""

    draft: str = "smollm2-draft"

    @property
    def key(self) -> str:
        """The draft's weights."""
        return model_digest(self.draft).sha256

    def tasks(self) -> list[Task]:
        """Read the facts."""
        return [Task("facts", 1.0, lambda _: self.facts())]

    def facts(self) -> dict[str, Any]:
        """What `engine fetch` recorded of the training."""
        found: dict[str, Any] = json.loads(
            (registry.require(self.draft).folder / "training.json").read_text()
        )
        return found

    def payloads(self, documents: Documents) -> Sequence[Payload]:
        """One payload of plain quantities; there is nothing to resample."""
        facts = documents["facts"]
        recipe = facts["recipe"]
        teacher = registry.entry(registry.entry(self.draft).teacher or "")
        return [
            Measured(
                schema="specdec-sidechannels/payload/1",
                name="acceptance/distillation",
                question="What was the draft trained on, and how far did it get?",
                regime={"target": teacher.title, "draft": self.draft, "precision": "fp32", "device": "CPU"},
                config=shown({k: v for k, v in recipe.items() if k != "seed"}),
                seeds={"root": recipe["seed"]},
                provenance=gather(
                    ["engine", "run", "distillation"],
                    packages=("torch", "transformers"),
                    models=[model_digest(teacher.name), model_digest(self.draft)],
                    inputs=[PROMPTS_FILE],
                ),
                results={
                    "prompts": Leaf(value=facts["samples"], unit="prompts"),
                    "sampled_tokens": Leaf(value=facts["sampled_tokens"], unit="tokens"),
                    "positions": Leaf(value=facts["positions_an_epoch"], unit="positions"),
                    "epochs": Leaf(value=recipe["epochs"], unit="passes"),
                    "steps": Leaf(value=facts["steps"], unit="steps"),
                    "layers": Leaf(value=len(recipe["layers"]), unit="layers"),
                    "outputs": Leaf(value=recipe["outputs"], unit="tokens"),
                    "last_epoch_loss": Leaf(
                        value=lexeme(round(facts["last_epoch_loss_nats"], 4)), unit="nats"
                    ),
                },
            )
        ]
