"""What the engine's tests share: a small valid payload, tiny random models, the rule for fetched ones."""

from __future__ import annotations

import copy
import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from engine.contract.payload import Lexeme
from engine.decode import registry

if TYPE_CHECKING:
    from engine.decode.llama import Llama

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


@pytest.fixture(scope="session")
def tiny() -> Callable[..., tuple[Any, Llama]]:
    """A function that makes a random Llama twice, from one seed: transformers' module, and our form of it.

    Their logits spread over several nats, so that rows, positions and orders matter. One thread.
    """
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    from engine.decode.models import HEAD_TOKENS, from_tensors

    torch.set_num_threads(1)

    def make(
        seed: int, *, vocabulary: int = 41, tied: bool = False, head: int | None = None
    ) -> tuple[Any, Llama]:
        torch.manual_seed(seed)
        config = LlamaConfig(
            vocab_size=vocabulary,
            hidden_size=24,
            intermediate_size=40,
            num_hidden_layers=2,
            num_attention_heads=6,
            num_key_value_heads=2,
            head_dim=4,
            rope_parameters={"rope_type": "default", "rope_theta": 5_000.0},
            initializer_range=0.4,
            rms_norm_eps=1e-5,
            tie_word_embeddings=tied,
            attn_implementation="eager",
        )
        module = LlamaForCausalLM(config).eval()
        tensors = {name: tensor.clone() for name, tensor in module.state_dict().items()}
        if tied:
            tensors.pop("lm_head.weight")
        if head is not None:
            listed = torch.randperm(vocabulary)[:head].sort().values
            tensors |= {"lm_head.weight": tensors["lm_head.weight"][listed], HEAD_TOKENS: listed}
        return module, from_tensors(tensors, config.to_dict())

    return make


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
