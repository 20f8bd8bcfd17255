"""The fetched model: our decoding is transformers' own, token by token."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch

from engine.decode import models
from engine.decode.drafts.lookup import Lookup
from engine.decode.live import decode
from engine.experiments.prompts import acceptance

pytestmark = pytest.mark.model

PROMPTS = [prompt.text for prompt in acceptance()[::4][:20]]
NEW = 32


@pytest.fixture(autouse=True)
def threads(need: Callable[[str], None]) -> Iterator[None]:
    """All cores for the real model, where it is here; one again for the tiny ones."""
    need("smollm2")
    before = torch.get_num_threads()
    torch.set_num_threads(os.cpu_count() or 1)
    yield
    torch.set_num_threads(before)


def test_live_greedy_decoding_by_lookup_is_transformers_own_greedy_decoding() -> None:
    ours, theirs, chat = models.load("smollm2"), models.peer("smollm2"), models.load_chat("smollm2")
    assert ours.embedding.dtype == torch.float32 and theirs.dtype == torch.float32
    rounds = 0
    for text in PROMPTS:
        prompt = chat.prompt(text)
        ids = torch.tensor([prompt])
        expected = theirs.generate(
            ids, attention_mask=torch.ones_like(ids), do_sample=False, max_new_tokens=NEW
        )
        made = decode(ours, Lookup(), prompt, length=4, new_tokens=NEW, end=chat.end)
        assert list(made.tokens) == expected[0, len(prompt) :].tolist(), text
        rounds += len(made.rounds)
    assert len(PROMPTS) == 20
    assert rounds < 0.95 * 20 * NEW  # else no draft was ever kept


def test_the_model_answers_as_one_that_was_converted_rightly() -> None:
    ours, chat = models.load("smollm2"), models.load_chat("smollm2")
    prompt = chat.prompt("What is the capital of France?")
    made = decode(ours, Lookup(), prompt, length=2, new_tokens=12, end=chat.end)
    assert "Paris" in chat.text(list(made.tokens))


@pytest.mark.parametrize("text", ["Hello!", "two\nlines, é and 東京", " <|im_end|> ", PROMPTS[3]])
def test_the_prompt_is_transformers_chat_template_and_reads_as_it_should(text: str) -> None:
    chat = models.load_chat("smollm2")
    tokenizer: Any = chat.tokenizer
    message = [{"role": "user", "content": text}]
    rendered = tokenizer.apply_chat_template(message, add_generation_prompt=True, tokenize=False)
    assert chat.prompt(text) == tokenizer(rendered, add_special_tokens=False)["input_ids"]
    assert chat.text(chat.prompt(text)) == rendered
    assert rendered.endswith(f"<|im_start|>user\n{text}<|im_end|>\n<|im_start|>assistant\n")
    assert chat.text([chat.end]) == "<|im_end|>"
