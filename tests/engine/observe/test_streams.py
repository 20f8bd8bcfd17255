"""Streams are recorded from tiny random models and mean what they say."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from engine.contract.errors import BadData
from engine.observe.capture import Capture, Source
from engine.observe.constants import Sideband
from engine.observe.streams import STREAMS, experts, pages, schedule, tap

PROMPT, TEXT = [5, 9, 11, 2, 30, 7], [1, 8, 40, 3, 3, 17, 22, 6]
SOURCE = Source(4, 1, "questions-01/1")


def read(module: Any, names: list[str], constants: Sideband) -> dict[str, Any]:
    recorders = [made(constants) for name in names if (made := STREAMS[name].recorder) is not None]
    with Capture(module, recorders, constants) as capture:
        return capture.read(SOURCE, PROMPT, TEXT)


def test_a_row_is_a_checked_position_and_its_label_two_tokens_on(
    module: Callable[..., Any], constants: Sideband
) -> None:
    found = read(module("llama"), ["s1", "s2"], constants)
    whole = PROMPT + TEXT
    assert found["position"].tolist() == list(range(5, 12))
    for row, at in enumerate(found["position"]):
        assert found["token"][row] == whole[at]
        assert found["next_token"][row] == whole[at + 1]
        assert found["label_token"][row] == whole[at + 2]
    assert set(found["prompt"]) == {4} and set(found["text"]) == {1}


def test_the_summary_and_the_hidden_state_are_those_of_the_whole_model(
    module: Callable[..., Any], constants: Sideband
) -> None:
    made = module("llama")
    found = read(made, ["s1"], constants)
    with torch.inference_mode():
        logits = made(torch.tensor([PROMPT + TEXT])).logits[0].double().log_softmax(-1)
    for row, at in enumerate(found["position"]):
        best, ids = logits[at].topk(4)
        np.testing.assert_allclose(found["summary"][row, :4], best, atol=1e-5)
        assert found["top_ids"][row].tolist() == ids.tolist()
        entropy = -(logits[at].exp() * logits[at]).sum()
        np.testing.assert_allclose(found["summary"][row, 4], entropy, atol=1e-5)
    with torch.inference_mode():
        again = made.lm_head(torch.from_numpy(found["hidden"])).double().log_softmax(-1)
    np.testing.assert_allclose(again, logits[found["position"]], atol=1e-4)


def test_tapped_units_are_the_ones_of_largest_activation_times_weight_norm(
    module: Callable[..., Any], constants: Sideband
) -> None:
    made = module("llama")
    found = read(made, ["s1"], constants)
    inputs: dict[int, torch.Tensor] = {}
    for index, layer in enumerate(made.model.layers):
        layer.mlp.down_proj.register_forward_hook(
            lambda _, given, __, at=index: inputs.__setitem__(at, given[0][0])
        )
    with torch.inference_mode():
        made(torch.tensor([PROMPT + TEXT]))
    for index, layer in enumerate(made.model.layers):
        strength = inputs[index].abs() * layer.mlp.down_proj.weight.norm(dim=0)
        for row, at in enumerate(found["position"]):
            kept = found["tap_units"][row, index]
            best = strength[at].topk(5).values
            np.testing.assert_allclose(strength[at][kept.astype(int)].detach(), best.detach(), rtol=1e-5)


def test_slots_count_every_kept_unit_once_and_follow_the_pinned_hash(
    module: Callable[..., Any], constants: Sideband
) -> None:
    found = read(module("llama"), ["s1"], constants)
    made = tap.features(found, constants)
    assert made.shape == (7, 16) and (made.sum(axis=1) == 10).all()
    assert [tap.slot(6, unit, 512) for unit in (0, 1, 1535)] == [489, 251, 138]
    unit = int(found["tap_units"][0, 0, 0])
    assert made[0, tap.slot(0, unit, 16)] >= 1


def test_pages_are_ranked_by_the_attention_mass_of_all_heads(
    module: Callable[..., Any], constants: Sideband
) -> None:
    made = module("llama")
    found = read(made, ["s2"], constants)
    with torch.inference_mode():
        weights = made(torch.tensor([PROMPT + TEXT]), output_attentions=True).attentions
    for row, at in enumerate(found["position"]):
        for layer in range(2):
            mass = weights[layer][0, :, at, : at + 1].sum(0)
            by_page = [float(mass[p * 4 : p * 4 + 4].sum()) for p in range(at // 4 + 1)]
            order = sorted(range(len(by_page)), key=lambda p: -by_page[p])[:2]
            assert found["pages"][row, layer].tolist() == order


def test_a_short_sequence_has_fewer_pages_than_are_kept() -> None:
    mass = torch.eye(5).cumsum(0)
    assert pages.heaviest(mass, 4, 3)[0].tolist() == [0, -1, -1]
    assert pages.heaviest(mass, 4, 3)[4].tolist() == [0, 1, -1]


def test_page_ages_are_counted_from_the_newest(constants: Sideband) -> None:
    arrays = {"pages": np.array([[[5, 0], [4, -1]]], dtype=np.int16), "position": np.array([22])}
    made = pages.features(arrays, constants).reshape(2, 4)
    assert made.tolist() == [[1, 0, 0, 1], [0, 1, 0, 0]]


def test_pages_need_a_model_that_hands_out_attention_weights(constants: Sideband) -> None:
    recorder = pages.Recorder(constants)
    with pytest.raises(BadData, match="eager"):
        recorder._listen(0, None, None, (torch.zeros(1), None))


def test_the_page_table_evicts_the_oldest_page_but_the_first(constants: Sideband) -> None:
    table = [event for event, _ in zip(schedule.events(constants.pages), range(24), strict=False)]
    assert [e.place for e in table[::4]] == [0, 1, 2, 1, 2, 1]
    assert [e.evicted for e in table[::4]] == [0, 0, 0, 1, 2, 3]
    assert [p for p, e in enumerate(table) if e.reused] == [12, 16, 20]


def test_the_address_only_pages_follow_from_the_position_alone(constants: Sideband) -> None:
    position = np.array([3, 17, 3, 60])
    made = schedule.features({"position": position}, constants)
    assert (made[0] == made[2]).all() and not (made[0] == made[1]).all()


@pytest.mark.parametrize("kind", ["mixtral", "olmoe"])
def test_chosen_experts_are_those_the_router_used(
    kind: str, module: Callable[..., Any], constants: Sideband
) -> None:
    made = module(kind)
    found = read(made, ["s3"], constants)
    with torch.inference_mode():
        logits = made(torch.tensor([PROMPT + TEXT]), output_router_logits=True).router_logits
    for row, at in enumerate(found["position"]):
        for layer in range(2):
            assert found["experts"][row, layer].tolist() == logits[layer][at].topk(2).indices.tolist()
    made = experts.features(found, constants)
    assert made.shape == (7, 16) and (made.sum(axis=1) == 4).all()


def test_a_plain_gate_that_returns_logits_is_accepted() -> None:
    logits = torch.tensor([[0.1, 0.9, 0.5, 0.5]])
    assert experts.chosen(logits, 4, 2, "router 0").tolist() == [[1, 2]]


@pytest.mark.parametrize(
    ("output", "said"),
    [
        ((torch.tensor([[3.0, 2.0, 1.0, 0.0]]), None, torch.tensor([[0, 2]])), "chose other experts"),
        ((torch.tensor([[3.0, 2.0, 1.0, 0.0]]), None, torch.tensor([[0]])), "chose other experts"),
        (torch.tensor([[3.0, torch.nan, 1.0, 0.0]]), "not finite"),
        (torch.tensor([[3.0, 1.0]]), "gives 2 logits"),
    ],
)
def test_a_router_that_says_otherwise_is_refused(output: Any, said: str) -> None:
    with pytest.raises(BadData, match=said):
        experts.chosen(output, 4, 2, "router 0")


def test_of_equal_shares_the_router_may_take_either() -> None:
    logits = torch.tensor([[3.0, 0.0, 0.0, 1e-9]])
    shares = logits.softmax(dim=-1)
    assert len(shares.unique()) == 2
    for taken in ([0, 1], [2, 0], [0, 3]):
        output = (logits, shares, torch.tensor([taken]))
        assert experts.chosen(output, 4, 2, "router 0").tolist() == [sorted(taken)]
    with pytest.raises(BadData, match="rank first"):
        experts.chosen((logits, shares, torch.tensor([[1, 2]])), 4, 2, "router 0")


def test_logits_that_are_not_numbers_are_refused_with_the_prompt(
    module: Callable[..., Any], constants: Sideband
) -> None:
    made = module("llama")
    with torch.no_grad():
        made.model.norm.weight[0] = torch.nan
    with pytest.raises(BadData, match="questions-01/1"):
        read(made, ["s1"], constants)


def test_layers_the_model_lacks_and_routers_it_lacks_are_refused(
    module: Callable[..., Any], constants: Sideband
) -> None:
    with pytest.raises(BadData, match="has 2 layers"):
        read(module("llama"), ["s1"], replace(constants, tap=replace(constants.tap, layers=(0, 2))))
    with pytest.raises(BadData, match="mixture of experts"):
        read(module("llama"), ["s3"], constants)


def test_hooks_come_out_again(module: Callable[..., Any], constants: Sideband) -> None:
    made = module("llama")
    read(made, ["s1", "s2"], constants)
    assert not made.model.layers[0].mlp.down_proj._forward_pre_hooks
    assert not made.model.layers[0].self_attn._forward_hooks
