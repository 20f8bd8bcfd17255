"""Our forward pass says what transformers' Llama says, whatever the batch and the state of the cache."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from engine.decode.llama import Cache, Llama, final_hidden, forward

Tiny = Callable[..., tuple[Any, Llama]]
LENGTH = 23


def close(made: Tensor, expected: Tensor) -> None:
    """Fail unless equal up to the rounding of fp32."""
    torch.testing.assert_close(made, expected, rtol=1e-5, atol=2e-5)


@torch.inference_mode()
def theirs(module: Any, ids: Tensor) -> Tensor:
    """transformers' logits of whole rows. (B, n, vocabulary)"""
    logits: Tensor = module(input_ids=ids, use_cache=False).logits
    return logits


def text(seed: int, rows: int = 1, length: int = LENGTH) -> Tensor:
    """Random token ids. (rows, length)"""
    return torch.randint(0, 41, (rows, length), generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_one_row_read_at_once(tiny: Tiny, seed: int, tied: bool) -> None:
    module, model = tiny(seed, tied=tied)
    ids = text(seed)
    made = forward(model, ids, Cache(model, rows=1, capacity=LENGTH), 0)
    close(made, theirs(module, ids))
    assert made.std() > 0.1  # random weights that say nothing would agree with anything


@pytest.mark.parametrize("portions", [[1] * LENGTH, [10, 1, 5, 7], [LENGTH - 1, 1], [3, 20]])
def test_one_row_read_in_portions(tiny: Tiny, portions: list[int]) -> None:
    module, model = tiny(4)
    ids, cache, start, made = text(4), Cache(model, rows=1, capacity=LENGTH + 9), 0, []
    for size in portions:
        made.append(forward(model, ids[:, start : start + size], cache, start))
        start += size
    close(torch.cat(made, dim=1), theirs(module, ids))


def test_only_the_last_logits_where_only_they_are_asked_for(tiny: Tiny) -> None:
    _, model = tiny(5)
    ids = text(5)
    whole = forward(model, ids, Cache(model, rows=1, capacity=LENGTH), 0)
    part = forward(model, ids, Cache(model, rows=1, capacity=LENGTH), 0, last=4)
    close(part, whole[:, -4:])


def ragged(model: Llama, ids: Tensor, lengths: list[int], new: int) -> Tensor:
    """Rows of unlike prompts, read singly into one cache, then `new` tokens of all rows at once."""
    cache = Cache(model, rows=len(lengths), capacity=LENGTH)
    for row, length in enumerate(lengths):
        one = Cache(model, rows=1, capacity=LENGTH)
        forward(model, ids[row : row + 1, :length], one, 0)
        cache.keys[:, row], cache.values[:, row] = one.keys[:, 0], one.values[:, 0]
    starts = torch.tensor(lengths)
    fed = ids.gather(1, starts[:, None] + torch.arange(new))
    return forward(model, fed, cache, starts)


@pytest.mark.parametrize("new", [1, 3])
def test_many_rows_with_different_starts(tiny: Tiny, new: int) -> None:
    module, model = tiny(6)
    lengths, ids = [7, 1, 20, 13], text(6, rows=4)
    made = ragged(model, ids, lengths, new)
    for row, length in enumerate(lengths):
        expected = theirs(module, ids[row : row + 1, : length + new])[0, length:]
        close(made[row], expected)


def test_rows_fed_step_by_step_from_different_starts_do_not_disturb_each_other(tiny: Tiny) -> None:
    module, model = tiny(7)
    ids, starts = text(7, rows=3, length=12), torch.tensor([0, 0, 0])
    cache = Cache(model, rows=3, capacity=12)
    orders = [[0, 1, 2, 3, 4, 5], [0, 0, 1, 1, 2, 2], [0, 1, 1, 1, 1, 2]]  # rows two and three wait at times
    for places in zip(*orders, strict=True):
        starts = torch.tensor(places)
        made = forward(model, ids.gather(1, starts[:, None]), cache, starts)[:, 0]
    for row, place in enumerate(starts.tolist()):
        close(made[row], theirs(module, ids[row : row + 1])[0, place])


@pytest.mark.parametrize("many", [False, True])
def test_a_rejected_draft_is_taken_back_by_writing_over_it(tiny: Tiny, many: bool) -> None:
    module, model = tiny(8)
    right, wrong = text(8), text(9)
    cache = Cache(model, rows=1, capacity=LENGTH)

    def read(ids: Tensor, start: int, end: int) -> Tensor:
        return forward(model, ids[:, start:end], cache, torch.tensor([start]) if many else start)

    read(right, 0, 10)
    read(wrong, 10, 18)  # a draft of eight, of which the first two stand
    read(right, 10, 13)
    read(wrong, 13, 22)
    made = read(right, 13, LENGTH)
    close(made[0], theirs(module, right)[0, 13:])


def test_what_stands_beyond_the_newest_token_is_never_read(tiny: Tiny) -> None:
    module, model = tiny(10)
    ids = text(10, rows=2)
    cache = Cache(model, rows=2, capacity=LENGTH)
    cache.keys.fill_(torch.nan)
    cache.values.fill_(torch.nan)
    made = forward(model, ids[:, :9], cache, 0)
    made = torch.cat([made, forward(model, ids[:, 9:10], cache, 9)], dim=1)
    close(made, theirs(module, ids[:, :10]))


def test_a_position_beyond_the_cache_is_refused(tiny: Tiny) -> None:
    _, model = tiny(11)
    cache = Cache(model, rows=1, capacity=5)
    with pytest.raises(ValueError, match="position 6 is beyond the cache's 5"):
        forward(model, text(0)[:, :3], cache, 3)
    with pytest.raises((ValueError, IndexError)):
        forward(model, text(0)[:, :3], cache, torch.tensor([3]))


def test_a_reduced_head_is_widened_with_minus_infinity_off_its_list(tiny: Tiny) -> None:
    module, model = tiny(12, head=9)
    ids = text(12)
    reduced = forward(model, ids, Cache(model, rows=1, capacity=LENGTH), 0)
    assert reduced.shape == (1, LENGTH, 9) and model.head_tokens is not None
    listed = model.head_tokens.tolist()
    whole = model.full(reduced)
    off = [token for token in range(41) if token not in listed]
    assert bool((whole[..., off] == -torch.inf).all())
    close(whole[..., listed], theirs(module, ids)[..., listed])
    assert torch.equal(model.token(reduced.argmax(-1)), whole.argmax(-1))


def test_a_whole_head_is_left_as_it_is(tiny: Tiny) -> None:
    _, model = tiny(13)
    logits = forward(model, text(13), Cache(model, rows=1, capacity=LENGTH), 0)
    assert model.full(logits) is logits
    assert torch.equal(model.token(logits.argmax(-1)), logits.argmax(-1))


def test_the_last_hidden_state_times_the_head_is_the_logits(tiny: Tiny) -> None:
    _, model = tiny(14)
    ids = text(14)
    hidden = final_hidden(model, ids, Cache(model, rows=1, capacity=LENGTH), 0)
    logits = forward(model, ids, Cache(model, rows=1, capacity=LENGTH), 0)
    close(hidden @ model.head.matrix.T, logits)
