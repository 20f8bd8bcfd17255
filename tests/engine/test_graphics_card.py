"""A graphics card gives what the CPU gives, in single precision: `make gpu-check`.

Skipped, with the reason, wherever there is none.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
import pytest

from engine.contract.seeds import Stream
from engine.decode import models, registry
from engine.decode.sample import Row, generate
from engine.experiments.prompts import named
from engine.observe import constants as registered
from engine.observe.capture import Capture, Source
from engine.observe.streams import STREAMS
from engine.observe.weights import assert_packed

PROMPTS, NEW = 6, 32


@pytest.fixture(autouse=True)
def card(need: Callable[[str], None]) -> Iterator[None]:
    """A graphics card, exact products on it, and the target."""
    if os.environ.get("GPU_CHECK") != "1":
        pytest.skip("asks for a graphics card: make gpu-check")
    import torch

    if not torch.cuda.is_available():
        pytest.skip("torch finds no graphics card here")
    need("smollm2")
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.set_float32_matmul_precision("highest")
    yield


def _rows(temperature: float) -> list[Row]:
    chat = models.load_chat("smollm2")
    return [
        Row(
            tuple(chat.prompt(prompt.text)),
            Stream(3, f"card/{prompt.id}").uniform(NEW) if temperature else None,
            temperature or 1.0,
        )
        for prompt in named("acceptance")[:PROMPTS]
    ]


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_it_writes_the_same_texts(temperature: float) -> None:
    rows, end = _rows(temperature), models.load_chat("smollm2").end
    there = generate(models.peer("smollm2").to("cuda"), rows, new_tokens=NEW, end=end)
    assert there == generate(models.load("smollm2"), rows, new_tokens=NEW, end=end)


def test_a_harvest_there_is_the_harvest_here() -> None:
    constants, rows = registered.read(), _rows(0.0)
    texts = generate(models.load("smollm2"), rows, new_tokens=NEW, end=models.load_chat("smollm2").end).texts
    found = {}
    for device in ("cpu", "cuda"):
        recorders = [make(constants) for name in ("s1", "s2") if (make := STREAMS[name].recorder) is not None]
        with Capture(models.peer("smollm2").to(device), recorders, constants) as capture:
            found[device] = [
                capture.read(Source(0, at, f"text {at}"), row.prompt, text)
                for at, (row, text) in enumerate(zip(rows, texts, strict=True))
            ]
    for here, there in zip(found["cpu"], found["cuda"], strict=True):
        assert here.keys() == there.keys()
        for name, array in here.items():
            if np.issubdtype(array.dtype, np.floating):
                np.testing.assert_allclose(there[name], array, rtol=1e-3, atol=1e-3, err_msg=name)
            elif name not in ("tap_units", "pages"):
                assert (there[name] == array).all(), name
            else:  # ranks of nearly equal values may change places
                assert (np.sort(there[name]) == np.sort(array)).mean() > 0.99, name


def test_four_bits_are_four_bits_by_the_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    packed = replace(registry.entry("smollm2"), precision="NF4")
    monkeypatch.setattr(registry, "entries", lambda: {"smollm2": packed})
    assert_packed(models.module("smollm2").model.layers, "smollm2")
