"""A graphics card beside the CPU, one run: `python -m benchmarks.card`; says so where there is none."""

from __future__ import annotations

import time
from typing import Any

import torch

from engine.contract.seeds import Stream
from engine.decode import models
from engine.decode.sample import Row, generate
from engine.experiments.prompts import named

ROWS, NEW = 32, 96


def main() -> None:
    """Tokens a second of the same texts in single precision, and their ratio."""
    if not torch.cuda.is_available():
        print("torch finds no graphics card here: nothing was measured")
        return
    chat = models.load_chat("smollm2")
    rows = [
        Row(tuple(chat.prompt(prompt.text)), Stream(5, prompt.id).uniform(NEW))
        for prompt in named("acceptance")[:ROWS]
    ]
    here = _rate(models.load("smollm2"), rows, chat.end)
    there = _rate(models.peer("smollm2").to("cuda"), rows, chat.end)
    print(f"{torch.cuda.get_device_name()}: {there:.0f} tokens a second, {there / here:.1f} times the CPU's")


def _rate(model: Any, rows: list[Row], end: int) -> float:
    generate(model, rows[:2], new_tokens=4, end=end)
    started = time.perf_counter()
    made = generate(model, rows, new_tokens=NEW, end=end)
    return sum(map(len, made.texts)) / (time.perf_counter() - started)


if __name__ == "__main__":
    main()
