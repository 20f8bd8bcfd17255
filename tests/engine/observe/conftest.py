"""Small constants, tiny random targets and a planted harvest, for the tests of streams and readers."""

from __future__ import annotations

import copy
import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.observe import constants as registered
from engine.observe import labels
from engine.observe.constants import Sideband
from engine.observe.harvest import Harvest, Writing

TOKENS = 41


@pytest.fixture
def draft() -> dict[str, Any]:
    """The registered constants as plain data, shrunk to tiny models, to be spoiled freely."""
    found: dict[str, Any] = json.loads(registered.REGISTERED.read_text(encoding="utf-8"))["config"][
        "sideband"
    ]
    found = copy.deepcopy(found)
    found["harvest"] |= {"prompts": 24, "texts": 2, "new_tokens": 9, "batch": 7, "top": 4, "mass": 16}
    found["split"] |= {"train": 10, "validation": 4, "held_out": 10}
    found["tap"] |= {"layers": [0, 1], "units": 5, "slots": 16}
    found["pages"] |= {"size": 4, "kept": 2, "ages": 4, "budget": 3}
    found["experts"] |= {"experts": 8, "chosen": 2}
    found["baseline"] |= {"candidates": 4, "candidate_slots": 8}
    found["twin"] |= {"seeds": 2}
    found["control"] |= {"answer_slots": 32, "answer_shares": [1, 0.1]}
    found["curve"] |= {"clusters": [5, 10]}
    return found


@pytest.fixture
def constants(draft: dict[str, Any]) -> Sideband:
    """Those constants, read."""
    return registered.build(draft, "draft")


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty user cache."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path


@pytest.fixture
def spaces(tmp_path: Path, draft: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> Callable[[], Sideband]:
    """Constants whose label file is a small one of the tiny vocabulary, at its own digest."""

    def make() -> Sideband:
        ids = np.arange(TOKENS)
        text = labels.write({"l1": ids % 8, "l2": ids % 16, "l3": ids % 10})
        path = tmp_path / "labels.txt"
        path.write_text(text, encoding="ascii")
        draft["label"] |= {"file": str(path), "sha256": hashlib.sha256(text.encode()).hexdigest()}
        return registered.build(draft, "draft")

    return make


@pytest.fixture
def planted(cache: Path) -> Callable[..., Harvest]:
    """A harvest of made-up rows: experts tell the label's token in a share of them, the baseline never."""

    def make(constants: Sideband, *, told: float, name: str = "planted", each: int = 40) -> Harvest:
        draws = np.random.default_rng(5)
        rows = constants.harvest.prompts * each
        label = draws.integers(0, TOKENS, rows).astype(np.int32)
        hit = draws.random(rows) < told
        drawn = draws.integers(0, 8, (rows, 6, 2))
        drawn[hit, :, 0] = (label[hit, None] >> np.arange(6)) & 1  # the label's bits, one a router
        drawn[..., 1] = np.where(drawn[..., 0] == drawn[..., 1], (drawn[..., 1] + 1) % 8, drawn[..., 1])
        arrays = {
            "prompt": np.repeat(np.arange(constants.harvest.prompts), each).astype(np.int32),
            "position": np.tile(np.arange(each), constants.harvest.prompts).astype(np.int32),
            "label_token": label,
            "summary": draws.normal(size=(rows, 8)).astype(np.float32),
            "hidden": draws.normal(size=(rows, 6)).astype(np.float32),
            "top_ids": draws.integers(0, TOKENS, (rows, 4)).astype(np.int32),
            "top_log_probability": np.full((rows, 4), -2.0, dtype=np.float32),
            "experts": drawn.astype(np.uint8),
        }
        writing = Writing(name, {"model": "a" * 64})
        writing.keep_rows("all", 0, rows, arrays)
        return writing.seal(rows)

    return make


@pytest.fixture(scope="session")
def module() -> Callable[..., Any]:
    """A function that makes a tiny random transformers module: llama, mixtral or olmoe."""
    import torch
    from transformers import (
        LlamaConfig,
        LlamaForCausalLM,
        MixtralConfig,
        MixtralForCausalLM,
        OlmoeConfig,
        OlmoeForCausalLM,
    )

    torch.set_num_threads(1)
    common = {
        "vocab_size": TOKENS,
        "hidden_size": 24,
        "intermediate_size": 16,
        "num_hidden_layers": 2,
        "num_attention_heads": 6,
        "num_key_value_heads": 2,
        "head_dim": 4,
        "rope_parameters": {"rope_type": "default", "rope_theta": 5_000.0},
        "initializer_range": 0.4,
        "pad_token_id": 0,
    }
    chosen = {"num_experts_per_tok": 2, "experts_implementation": "eager"}
    kinds = {
        "llama": lambda: LlamaForCausalLM(LlamaConfig(**common)),
        "mixtral": lambda: MixtralForCausalLM(MixtralConfig(**common, num_local_experts=8, **chosen)),
        "olmoe": lambda: OlmoeForCausalLM(OlmoeConfig(**common, num_experts=8, **chosen)),
    }

    def make(kind: str, seed: int = 3) -> Any:
        torch.manual_seed(seed)
        return kinds[kind]().eval()

    return make
