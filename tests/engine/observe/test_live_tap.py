"""The tap of a system that decodes live tells what the harvest would have told of the same text."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from engine.decode.live import decode
from engine.decode.sample import Row, generate
from engine.observe.capture import Capture, Source
from engine.observe.constants import Sideband
from engine.observe.conversion_bias import Basis, Bias
from engine.observe.conversion_live import Tap, TappedDraft
from engine.observe.conversion_passages import Pair
from engine.observe.streams import STREAMS, tap
from engine.stats.ridge import Linear

PROMPT, NEW, LENGTH = [5, 9, 11, 2, 30, 7], 14, 3


@pytest.fixture(scope="module")
def models(tiny: Any) -> tuple[Any, Any, Any]:
    """A target in both forms, and a draft whose head names half of the vocabulary."""
    module, target = tiny(1)
    return module, target, tiny(2, head=20)[1]


def steering(slots: int) -> Bias:
    """A bias that moves the draft's law by the stream, enough to change what it proposes."""
    draws = np.random.default_rng(3)
    maps = [Linear(draws.normal(size=(slots, 4)), np.zeros(slots), np.zeros(4)) for _ in range(LENGTH)]
    directions = draws.normal(size=(20, 4))
    return Bias(Basis(directions, directions.T), tuple(maps), scale=1.0, penalty=1.0)


def played(models: tuple[Any, Any, Any], constants: Sideband) -> tuple[list[int], list[tuple[int, Any]], Any]:
    """The tokens of a live run, what was looked up at each start of a round, and the draft."""
    _, target, model = models
    tapped = Tap(target, constants)
    seen: list[tuple[int, Any]] = []
    draft = TappedDraft(
        model,
        60,
        fitted=steering(constants.tap.slots),
        look=lambda _: None,
        prompt=len(PROMPT),
        named=Pair(target, model).named,
    ).follow(tapped)
    own = draft.look

    def look(start: int) -> Any:
        row = own(start)
        seen.append((start, row))
        return row

    draft.look = look
    made = decode(tapped.target, draft, PROMPT, length=LENGTH, new_tokens=NEW, end=-1)
    return list(made.tokens), seen, draft


def test_each_round_is_steered_by_the_row_of_the_last_checked_position(
    models: tuple[Any, Any, Any], constants: Sideband
) -> None:
    tokens, seen, draft = played(models, constants)
    recorders = [made(constants) for name in ["s1"] if (made := STREAMS[name].recorder) is not None]
    with Capture(models[0], recorders, constants) as capture:
        whole = capture.read(Source(0, 0, "a/1"), PROMPT, [*tokens, 1, 1])
    rows = tap.features(whole, constants)
    told = dict(zip(whole["position"].tolist(), rows, strict=True))
    checked = [(start, row) for start, row in seen if row is not None]
    assert len(checked) > 3 and seen[0][1] is None
    for start, row in checked:
        np.testing.assert_array_equal(row[0], told[len(PROMPT) + start - 2])
    assert draft.seconds > 0


def test_the_text_is_the_targets_whatever_the_tap_makes_of_the_draft(
    models: tuple[Any, Any, Any], constants: Sideband
) -> None:
    own = generate(models[1], [Row(tuple(PROMPT))], new_tokens=NEW, end=-1).texts[0]
    assert played(models, constants)[0] == list(own)
