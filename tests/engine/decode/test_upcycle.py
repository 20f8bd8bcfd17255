"""Experts cut from a dense model are the dense model until a token must choose, and are kept as Mixtral's."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file
from torch import Tensor

from engine.contract.seeds import Stream
from engine.decode import distill, models, upcycle
from engine.decode.llama import Cache, forward

VOCABULARY, LENGTH = 41, 12


def parent(seed: int) -> Any:
    """A small random Llama of transformers with tied embeddings and 32 hidden units a layer."""
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.set_num_threads(1)
    torch.manual_seed(seed)
    config = LlamaConfig(
        vocab_size=VOCABULARY,
        hidden_size=24,
        intermediate_size=32,
        num_hidden_layers=2,
        num_attention_heads=6,
        num_key_value_heads=2,
        head_dim=4,
        initializer_range=0.3,
        tie_word_embeddings=True,
    )
    return LlamaForCausalLM(config).eval()


def recipe(**changes: Any) -> upcycle.Recipe:
    """Eight experts of four units, two chosen at the end, a handful of steps."""
    small = {"experts": 8, "anneal": ((4, 0.0), (2, 0.5)), "epochs": 2, "batch": 2, "checkpoint_every": 1}
    return upcycle.Recipe(**(small | changes))


def ids(seed: int, rows: int = 2) -> Tensor:
    """Random token ids. (rows, LENGTH)"""
    return torch.randint(0, VOCABULARY, (rows, LENGTH), generator=torch.Generator().manual_seed(seed))


@torch.inference_mode()
def said(model: Any, text: Tensor) -> Tensor:
    """The module's logits of whole rows."""
    logits: Tensor = model(input_ids=text, use_cache=False).logits
    return logits


def samples(model: Any) -> list[distill.Sample]:
    """Random texts with what `model` says at each position."""
    made = []
    for row in ids(5, rows=4):
        logits = said(model, row[None])[0].log_softmax(dim=-1)
        best = logits.topk(8, dim=-1)
        made.append(distill.Sample(row.int(), 6, best.indices.int(), best.values))
    return made


def test_clusters_are_of_one_size_and_of_one_direction() -> None:
    directions = torch.eye(4).repeat(3, 1) + 0.05 * torch.randn(
        (12, 4), generator=torch.Generator().manual_seed(1)
    )
    order = upcycle.balanced_clusters(directions, 4, 6, Stream(1, "clusters"))
    assert sorted(order.tolist()) == list(range(12))
    groups = {frozenset((order.view(4, 3)[i] % 4).tolist()) for i in range(4)}
    assert groups == {frozenset({k}) for k in range(4)}


def test_units_that_do_not_divide_are_refused() -> None:
    with pytest.raises(ValueError, match="equal experts"):
        upcycle.balanced_clusters(torch.randn(10, 3), 4, 2, Stream(1, "x"))


def test_where_all_experts_are_chosen_alike_the_model_is_its_parent() -> None:
    whole, cut = parent(2), parent(2)
    upcycle.upcycled(cut, recipe(router_scale=0.0))
    torch.testing.assert_close(said(cut, ids(2)), said(whole, ids(2)), rtol=1e-4, atol=1e-5)


def test_fewer_chosen_experts_are_another_model_of_the_same_scale() -> None:
    cut = parent(2)
    layers = upcycle.upcycled(cut, recipe(router_scale=0.0))
    before, down = said(cut, ids(2)), layers[0].down.detach().clone()
    for layer in layers:
        layer.choose(4)
    assert (said(cut, ids(2)) - before).abs().max() > 0.01
    torch.testing.assert_close(layers[0].down.detach(), down / 2)


@pytest.mark.parametrize(("share", "chosen"), [(0.0, 4), (0.49, 4), (0.5, 2), (1.0, 2)])
def test_the_number_chosen_is_annealed(share: float, chosen: int) -> None:
    assert upcycle.chosen_at(recipe(), share) == chosen


def test_imbalance_is_one_where_use_is_even_and_rises_where_it_is_not() -> None:
    generator = torch.Generator().manual_seed(3)
    parts = [torch.randn(shape, generator=generator) for shape in ((8, 4), (8, 4), (4, 8))]
    even = upcycle.Experts(*parts, torch.zeros(8, 4), 8)
    even(torch.randn((1, 50, 4), generator=generator))
    assert float(even.imbalance.detach()) == pytest.approx(1.0)
    one = torch.zeros(8, 4)
    one[0] = 100.0
    uneven = upcycle.Experts(*parts, one, 1)
    uneven(torch.ones(1, 50, 4))
    assert float(uneven.imbalance.detach()) == pytest.approx(8.0)


def test_what_is_kept_says_in_both_readers_what_was_trained(tmp_path: Path) -> None:
    from transformers import MixtralConfig, MixtralForCausalLM

    model = parent(4)
    losses = upcycle.fit(model, tmp_path / "checkpoint.pt", samples(parent(4)), recipe())
    assert len(losses) == 4
    upcycle.save(model, recipe(), tmp_path)
    config = json.loads((tmp_path / "config.json").read_text())
    tensors = load_file(tmp_path / models.WEIGHTS)
    mine = models.from_tensors(tensors, config)
    expected = said(model.eval(), ids(4))
    made = forward(mine, ids(4), Cache(mine, rows=2, capacity=LENGTH), 0)
    torch.testing.assert_close(made, expected, rtol=1e-4, atol=1e-5)
    theirs = MixtralForCausalLM(MixtralConfig(**config, experts_implementation="eager")).eval()
    theirs.load_state_dict(tensors | {"lm_head.weight": tensors["model.embed_tokens.weight"]})
    torch.testing.assert_close(said(theirs, ids(4)), expected, rtol=1e-4, atol=1e-5)


def test_training_that_was_cut_off_goes_on_as_if_it_had_not_been(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = samples(parent(4))
    whole, broken = parent(4), parent(4)
    upcycle.fit(whole, tmp_path / "whole.pt", texts, recipe())
    steps = iter(range(3))
    real = distill.divergence

    def failing(*arguments: Any) -> Tensor:
        if next(steps) == 2:
            raise KeyboardInterrupt
        return real(*arguments)

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(distill, "divergence", failing)
        upcycle.fit(broken, tmp_path / "broken.pt", texts, recipe())
    again = parent(4)
    upcycle.fit(again, tmp_path / "broken.pt", texts, recipe())
    for name, tensor in whole.state_dict().items():
        assert torch.equal(tensor, again.state_dict()[name]), name
