"""The same question of the large models, on a graphics card.

Everything is as registered for the small ones, but for the label spaces, which are made before the harvest
by the registered rules from the model's own tokenizer and output embeddings, and for the precision: the text
is written, and the streams are recorded, by transformers' module.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from engine.contract.errors import BadData
from engine.contract.store import write_text
from engine.decode import registry
from engine.experiments.existence import REGISTERED, Existence
from engine.experiments.prompts import named
from engine.observe.constants import Sideband

LARGE = "payloads/registered/sideband-large.json"
REFERENCE = "acceptance"
"""The prompts whose tokens are the reference text of the label spaces."""


@dataclass
class LargeExistence(Existence):
    """One large target on a graphics card."""

    on: str = "cuda"

    @property
    def precision(self) -> str:
        """As the weights are loaded."""
        return registry.entry(self.target).precision

    @property
    def device(self) -> str:
        """The graphics card, by its name."""
        import torch

        return torch.cuda.get_device_name() if self.on == "cuda" else "CPU"

    @cached_property
    def module(self) -> Any:
        """The target; packed into 4 bits where its entry says so. Refused where there is no graphics card."""
        import torch

        from engine.decode import models
        from engine.observe.weights import assert_packed

        if self.on == "cuda" and not torch.cuda.is_available():
            raise BadData(
                self.command,
                "needs a graphics card (CUDA), and torch finds none here.",
                "Where there is one, install torch's build for it, then: make record-gpu",
            )
        found = models.module(self.target, self.on)
        if self.precision == "NF4":
            assert_packed(found.model.layers, self.target)
        return found

    @cached_property
    def constants(self) -> Sideband:
        """The registered constants, with the label spaces of this model."""
        found = super().constants
        path = registry.cache_home() / "labels" / f"{self.target}.txt"
        if not path.is_file():
            self._label(found, path)
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        return replace(found, label=replace(found.label, file=str(path), sha256=digest))

    def _label(self, constants: Sideband, path: Path) -> None:
        """Make the label spaces by the registered rules."""
        from engine.decode import models
        from engine.observe import labels

        matrix = self.module.get_output_embeddings().weight.detach().float().cpu().numpy()
        texts = [prompt.text for prompt in named(REFERENCE)]
        spaces = labels.made(models.load_chat(self.target).tokenizer, matrix, texts, constants.label)
        path.parent.mkdir(parents=True, exist_ok=True)
        write_text(path, labels.write(spaces))

    def load(self) -> Any:
        """The module, which writes the texts and is recorded."""
        from engine.decode import models
        from engine.observe.collect import Loaded

        chat = models.load_chat(self.target)
        return Loaded(self.module, self.module, chat.prompt, chat.end)

    def inputs(self) -> list[str]:
        """The label file is made here; its digest is in the settings."""
        reference = f"engine/experiments/prompts/{REFERENCE}.toml"
        return [self.constants.harvest.prompts_file, reference, REGISTERED, LARGE]

    def settings(self) -> dict[str, Any]:
        """The constants, the label file by its name alone."""
        out = super().settings()
        return out | {"label": out["label"] | {"file": f"{self.target}.txt"}}


def llama() -> LargeExistence:
    """S1 and S2, from Llama-3.1-8B-Instruct in 4 bits."""
    return LargeExistence("llama-8b", ("s1", "s2", "s2a"), "sideband-llama", what="existence-llama")


def olmoe() -> LargeExistence:
    """S3, from OLMoE-1B-7B-0125-Instruct."""
    return LargeExistence("olmoe-1b-7b", ("s3",), "sideband-olmoe", what="existence-olmoe")
