"""Speculative decoding of the same pair and prompts: ours against transformers' own `generate`, greedy."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import torch

from benchmarks.measure import Ratio, paired
from engine.decode import models, replay
from engine.decode.drafts.lookup import Lookup
from engine.decode.drafts.model import ModelDraft
from engine.decode.live import decode
from engine.decode.llama import Llama
from engine.experiments.prompts import acceptance

NEW_TOKENS = 64
LENGTH = 4
PROMPTS = range(0, 84, 12)  # the first of each family


class Bench:
    """Both sides, loaded once."""

    def __init__(self) -> None:
        self.target, self.draft = models.load("smollm2"), models.load("smollm2-draft")
        self.peer_target, self.peer_draft = models.peer("smollm2"), models.peer("smollm2-draft")
        self.chat = models.load_chat("smollm2")
        self.prompts = [self.chat.prompt(acceptance()[i].text) for i in PROMPTS]
        settings = self.peer_draft.generation_config
        settings.num_assistant_tokens = LENGTH
        settings.num_assistant_tokens_schedule = "constant"
        settings.assistant_confidence_threshold = 0.0

    def ours(self, scheme: str, prompt: list[int], end: int) -> tuple[int, ...]:
        """Our tokens; `scheme` is plain, lookup or draft."""
        draft = (
            ModelDraft(self.draft, capacity=len(prompt) + NEW_TOKENS + 1) if scheme == "draft" else Lookup()
        )
        length = 0 if scheme == "plain" else LENGTH
        return decode(self.target, draft, prompt, length=length, new_tokens=NEW_TOKENS, end=end).tokens

    def peers(self, scheme: str, prompt: list[int]) -> tuple[int, ...]:
        """transformers' tokens under the same settings."""
        options: dict[str, Any] = {}
        if scheme == "lookup":
            options = {"prompt_lookup_num_tokens": LENGTH, "max_matching_ngram_size": 3}
        elif scheme == "draft":
            options = {"assistant_model": self.peer_draft}
        ids = torch.tensor([prompt])
        mask = torch.ones_like(ids)
        out = self.peer_target.generate(
            ids, attention_mask=mask, do_sample=False, max_new_tokens=NEW_TOKENS, **options
        )
        return tuple(out[0, len(prompt) :].tolist())

    def rows(self) -> Iterator[Ratio]:
        """Every scheme against its peer, ours against our own plain decoding, replay against live."""
        end = self.chat.end
        for prompt in self.prompts[:2]:  # warm both sides, and see that they write the same
            for scheme in ("plain", "lookup", "draft"):
                if self.ours(scheme, prompt, end) != self.peers(scheme, prompt):
                    raise SystemExit(f"{scheme}: the two sides wrote different tokens; nothing to compare")
        for scheme, peer in (
            ("plain", "transformers generate"),
            ("lookup", "transformers generate, prompt_lookup_num_tokens"),
            ("draft", "transformers generate, assistant_model"),
        ):
            pairs = [
                (partial(self.ours, scheme, p, end), partial(self.peers, scheme, p)) for p in self.prompts
            ]
            yield paired(f"decoding, {scheme}", peer, pairs)
        for scheme in ("lookup", "draft"):
            pairs = [
                (partial(self.ours, scheme, p, end), partial(self.ours, "plain", p, end))
                for p in self.prompts
            ]
            yield paired(f"decoding, {scheme}", "our own plain decoding", pairs)
        yield paired("rounds of the draft by replay", "the same rounds by live decoding", self._replay())

    def _replay(self) -> list[tuple[Callable[[], object], Callable[[], object]]]:
        out: list[tuple[Callable[[], object], Callable[[], object]]] = []
        for prompt in self.prompts:
            text = self.ours("plain", prompt, self.chat.end)
            out.append(
                (
                    partial(replayed, self.target, self.draft, prompt, text),
                    partial(self.ours, "draft", prompt, self.chat.end),
                )
            )
        return out


def replayed(target: Llama, draft: Llama, prompt: list[int], text: tuple[int, ...]) -> int:
    """Read a text once with each model and walk its rounds; how many there are."""
    first, second = replay.read(target, prompt, text), replay.read(draft, prompt, text)
    if not np.array_equal(first.best, np.asarray(text)):
        raise SystemExit("the text is not the target's greedy one")
    accepted = replay.by_agreement(replay.greedy_agreement(second, text))
    return len(replay.rounds(accepted, text=len(text), length=LENGTH, new_tokens=NEW_TOKENS))
