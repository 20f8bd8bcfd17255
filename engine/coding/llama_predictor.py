"""The engine's own models and tokenizers as the coder uses them."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import torch

from engine.coding.predictor import Logits, Rows
from engine.contract.provenance import sha256_file
from engine.decode.llama import Cache, Llama, forward
from engine.decode.models import WEIGHTS, load, load_chat
from engine.decode.registry import require


@dataclass(frozen=True)
class LlamaPredictor:
    """One of the engine's own models, in fp32 on the CPU."""

    model: Llama
    first: int
    sha256: bytes

    @property
    def vocabulary(self) -> int:
        """Rows of the embedding."""
        return self.model.shape.vocabulary

    def begin(self, rows: int, capacity: int) -> Rows:
        """Rows with a cache of their own."""
        return _LlamaRows(self.model, Cache(self.model, rows=rows, capacity=capacity))


class _LlamaRows:
    def __init__(self, model: Llama, cache: Cache) -> None:
        self._model, self._cache, self._at = model, cache, 0

    def step(self, tokens: Sequence[int]) -> Logits:
        logits = forward(self._model, torch.tensor(tokens)[:, None], self._cache, self._at)[:, 0]
        self._at += 1
        shaped: Logits = self._model.full(logits).numpy()
        return shaped


@dataclass(frozen=True)
class ModelTokenizer:
    """The tokenizer of a fetched model."""

    tokenizer: Any
    file: Path

    @cached_property
    def sha256(self) -> bytes:
        """Digest of its file."""
        return bytes.fromhex(sha256_file(self.file))

    def tokens(self, text: str) -> list[int]:
        """Token ids, none added."""
        ids: list[int] = self.tokenizer.encode(text, add_special_tokens=False)
        return ids

    def text(self, tokens: list[int]) -> str:
        """The text, special tokens as they are written, nothing tidied."""
        text: str = self.tokenizer.decode(
            tokens, skip_special_tokens=False, clean_up_tokenization_spaces=False
        )
        return text


def fetched(name: str) -> tuple[LlamaPredictor, ModelTokenizer]:
    """A fetched model and its tokenizer; `ModelMissing` with the command that fetches it."""
    folder = require(name).folder
    chat = load_chat(name)
    digest = hashlib.sha256()
    for file in ("config.json", WEIGHTS):
        digest.update(bytes.fromhex(sha256_file(folder / file)))
    predictor = LlamaPredictor(load(name), chat.end, digest.digest())
    return predictor, ModelTokenizer(chat.tokenizer, folder / "tokenizer.json")
