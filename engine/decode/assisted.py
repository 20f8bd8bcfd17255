"""transformers' own assisted sampling, to be judged: its accept rule alone, and all of its `generate`.

The second door to transformers. Nothing of the engine's decoding uses it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from transformers import GenerationConfig, LlamaConfig, LlamaForCausalLM
from transformers.generation.utils import _speculative_sampling

Law = NDArray[np.float64]


def first_tokens(target: Law, draft: Law, reported: Law, rounds: int, seed: int) -> Iterator[int]:
    """The first token of each round with one draft token, by transformers' accept rule.

    The draft token is drawn from `draft` (V,), the rule is told `reported`, the target's law is `target`.
    """
    torch.manual_seed(seed)
    drawn = torch.multinomial(torch.from_numpy(draft), rounds, replacement=True)
    candidate = torch.from_numpy(np.log(reported))[None, None]
    new = torch.from_numpy(np.log(np.stack([target, target])))[None]
    for token in drawn:
        kept, _ = _speculative_sampling(token.reshape(1, 1), candidate, 1, new)
        yield int(kept[0, 0])


def tiny(vocabulary: int, seed: int) -> Any:
    """A random Llama of a few thousand weights whose laws leave no token too rare to count."""
    torch.manual_seed(seed)
    model = LlamaForCausalLM(
        LlamaConfig(
            vocab_size=vocabulary,
            hidden_size=16,
            intermediate_size=32,
            num_hidden_layers=1,
            num_attention_heads=2,
            num_key_value_heads=2,
            max_position_embeddings=32,
            initializer_range=0.1,
            bos_token_id=None,
            eos_token_id=None,
            pad_token_id=None,
        )
    )
    return model.eval()


def law_of_two(model: Any, prompt: list[int]) -> Law:
    """The exact law of the two tokens after the prompt, (V * V,)."""
    vocabulary = model.config.vocab_size
    rows = torch.tensor([[*prompt, token] for token in range(vocabulary)])
    with torch.no_grad():
        laws = model(rows).logits.double().softmax(dim=-1)
    law: Law = (laws[0, -2][:, None] * laws[:, -1]).flatten().numpy()
    return law


def two_tokens(target: Any, draft: Any | None, prompt: list[int], count: int, seed: int) -> Iterator[int]:
    """Two sampled tokens after the prompt, as one number; `draft` assists where there is one."""
    torch.manual_seed(seed)
    config = GenerationConfig(
        do_sample=True,
        top_k=0,
        max_new_tokens=3,
        num_assistant_tokens=2,
        num_assistant_tokens_schedule="constant",
        assistant_confidence_threshold=0.0,
    )
    if draft is not None:
        draft.generation_config.num_assistant_tokens = 2
        draft.generation_config.num_assistant_tokens_schedule = "constant"
        draft.generation_config.assistant_confidence_threshold = 0.0
    start = torch.tensor([prompt])
    vocabulary = target.config.vocab_size
    for _ in range(count):
        text = target.generate(
            start, attention_mask=torch.ones_like(start), generation_config=config, assistant_model=draft
        )[0, len(prompt) :].tolist()
        yield text[0] * vocabulary + text[1]
