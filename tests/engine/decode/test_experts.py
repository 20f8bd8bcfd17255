"""A model with experts: our forward pass says what transformers' Mixtral says, and its routers bite."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

from engine.decode.llama import Cache, Llama, expert_weights, forward, weighted
from engine.decode.models import from_tensors

LENGTH = 17


def tiny_mixtral(seed: int, chosen: int) -> tuple[Any, Llama]:
    """A random Mixtral twice: transformers' module, and our form of it. Eight experts of four units."""
    from transformers import MixtralConfig, MixtralForCausalLM

    torch.set_num_threads(1)
    torch.manual_seed(seed)
    config = MixtralConfig(
        vocab_size=41,
        hidden_size=24,
        intermediate_size=4,
        num_hidden_layers=2,
        num_attention_heads=6,
        num_key_value_heads=2,
        head_dim=4,
        num_local_experts=8,
        num_experts_per_tok=chosen,
        initializer_range=0.4,
        experts_implementation="eager",
    )
    module = MixtralForCausalLM(config).eval()
    return module, from_tensors(dict(module.state_dict()), config.to_dict())


@torch.inference_mode()
def theirs(module: Any, ids: Tensor) -> Tensor:
    """transformers' logits of whole rows. (B, n, vocabulary)"""
    logits: Tensor = module(input_ids=ids, use_cache=False).logits
    return logits


@pytest.mark.parametrize(("seed", "chosen"), [(0, 1), (1, 3), (2, 8)])
def test_logits_are_those_of_mixtral(seed: int, chosen: int) -> None:
    module, model = tiny_mixtral(seed, chosen)
    ids = torch.randint(0, 41, (2, LENGTH), generator=torch.Generator().manual_seed(seed))
    made = forward(model, ids, Cache(model, rows=2, capacity=LENGTH), 0)
    torch.testing.assert_close(made, theirs(module, ids), rtol=1e-5, atol=2e-5)
    assert made.std() > 0.1


def test_another_number_of_chosen_experts_gives_other_logits() -> None:
    _, three = tiny_mixtral(1, 3)
    _, four = tiny_mixtral(1, 4)
    ids = torch.arange(LENGTH)[None]
    a, b = (forward(m, ids, Cache(m, rows=1, capacity=LENGTH), 0) for m in (three, four))
    assert (a - b).abs().max() > 0.01


def test_weights_are_zero_but_for_the_chosen_and_sum_to_one() -> None:
    weights = expert_weights(torch.tensor([[3.0, 1.0, 2.0, 0.0]]), 2)
    assert (weights > 0).tolist() == [[True, False, True, False]]
    torch.testing.assert_close(weights.sum(), torch.tensor(1.0))
    torch.testing.assert_close(weights[0, 0] / weights[0, 2], torch.tensor(1.0).exp())


def test_each_unit_takes_the_weight_of_the_expert_that_owns_it() -> None:
    units = weighted(torch.ones(6), torch.tensor([0.0, 0.25, 0.75]))
    assert units.tolist() == [0.0, 0.0, 0.25, 0.25, 0.75, 0.75]
