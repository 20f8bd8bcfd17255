"""Is the target that was cut into experts good enough to be asked about?

The parent continues the held-out prompts at temperature one; parent, model with experts and draft read the
same texts. The divergence from the parent is over the whole vocabulary, at every position of the text.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property, partial
from typing import Any

from engine.contract.payload import Leaf, Measured, ModelDigest, Payload, State, Statistic, lexeme
from engine.contract.provenance import gather
from engine.contract.seeds import Stream
from engine.decode import registry
from engine.experiments.acceptance import PROMPTS_FILE, evaluate, model_digest
from engine.experiments.prompts import Prompt, acceptance
from engine.experiments.settings import shown
from engine.run import Documents, Task, source_digest
from engine.stats.statistic import Table

TRAINING_PROMPTS = "engine/experiments/prompts/distillation.toml"
COLUMNS = ("n", "thousand_n", "divergence", "loss_parent", "loss_experts", "agree_experts", "agree_draft")


@dataclass(frozen=True)
class Settings:
    """The configuration fixed in the registered file of the sideband record."""

    parent: str = "smollm2"
    experts: str = "smollm2-moe"
    draft: str = "smollm2-draft"
    root: int = 20261130
    new_tokens: int = 64
    batch: int = 28
    resamples: int = 10_000
    level: float = 0.95


@dataclass
class Upcycling:
    """Texts in batches, one reading of each batch by the models, one payload."""

    settings: Settings = Settings()

    @cached_property
    def prompts(self) -> list[Prompt]:
        """The held-out prompts, none of them trained on."""
        return acceptance()

    @cached_property
    def models(self) -> list[ModelDigest]:
        """The pinned weights of all three."""
        return [
            model_digest(name) for name in (self.settings.parent, self.settings.experts, self.settings.draft)
        ]

    @property
    def key(self) -> str:
        """Settings, weights, prompts, decoding code and this file's."""
        code = source_digest(["engine/decode/*.py", "engine/experiments/upcycling.py", PROMPTS_FILE])
        return f"{asdict(self.settings)} {[m.sha256 for m in self.models]} {code}"

    def tasks(self) -> list[Task]:
        """A batch of texts, then its reading; last the facts of the training."""
        out = []
        for start in range(0, len(self.prompts), self.settings.batch):
            out.append(Task(f"text/{start}", 12.0, partial(self.write, start=start)))
            out.append(Task(f"read/{start}", 20.0, partial(self.read, start=start)))
        return [*out, Task("facts", 1.0, lambda _: self.facts())]

    def facts(self) -> dict[str, Any]:
        """What `engine fetch` recorded of the training."""
        file = registry.require(self.settings.experts).folder / "training.json"
        found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        return found

    @cached_property
    def loaded(self) -> Any:
        """Parent, model with experts, draft and tokenizer, loaded at the first task that needs them."""
        from engine.decode import models

        settings = self.settings
        weights = [models.load(name) for name in (settings.parent, settings.experts, settings.draft)]
        return (*weights, models.load_chat(settings.parent))

    def write(self, _: Documents, *, start: int) -> list[list[list[int]]]:
        """Prompt and continuation of each row of a batch, token ids."""
        from engine.decode.sample import Row, generate

        parent, *_others, chat = self.loaded
        rows = []
        for prompt in self.prompts[start : start + self.settings.batch]:
            stream = Stream(self.settings.root, f"upcycling/text/{prompt.id}")
            rows.append(Row(tuple(chat.prompt(prompt.text)), stream.uniform(self.settings.new_tokens)))
        made = generate(parent, rows, new_tokens=self.settings.new_tokens, end=chat.end)
        return [[list(row.prompt), list(text)] for row, text in zip(rows, made.texts, strict=True)]

    def read(self, documents: Documents, *, start: int) -> list[list[int]]:
        """`COLUMNS` of each row of a batch; losses and divergence in thousandths of a nat."""
        parent, experts, draft, _chat = self.loaded
        return [_tally(parent, experts, draft, *pair) for pair in documents[f"text/{start}"]]

    def payloads(self, documents: Documents) -> Sequence[Payload]:
        """One payload: readings with intervals, and the plain facts of the training."""
        settings = self.settings
        starts = range(0, len(self.prompts), settings.batch)
        read = [row for start in starts for row in documents[f"read/{start}"]]
        rows = [[index, *row] for index, row in enumerate(read)]
        columns = ["cluster", *COLUMNS]
        table = Table.from_rows(
            columns, rows, root=settings.root, resamples=settings.resamples, level=settings.level
        )
        results, absent = evaluate(list(_statements()), table)
        return [
            Measured(
                schema="specdec-sidechannels/payload/1",
                name="sideband/upcycling",
                question="Is the target that was cut into experts good enough to be asked about?",
                regime={
                    "target": registry.entry(settings.experts).title,
                    "parent": registry.entry(settings.parent).title,
                    "precision": "fp32",
                    "decoding": "at temperature one",
                    "device": "CPU",
                },
                config=_config(settings, documents["facts"]["recipe"]),
                seeds={"root": settings.root},
                provenance=gather(
                    ["engine", "run", "upcycling"],
                    packages=("numpy", "torch", "transformers"),
                    models=self.models,
                    inputs=[PROMPTS_FILE, TRAINING_PROMPTS],
                ),
                results=results | {"training": _training(documents["facts"])},
                absent=absent or None,
                state=State(columns=columns, rows=rows),
            )
        ]


def _tally(parent: Any, experts: Any, draft: Any, prompt: list[int], text: list[int]) -> list[int]:
    """The columns of one text: how each model stands to the parent along it."""
    import torch

    token = torch.tensor(text)
    p, q = (_log_probabilities(model, prompt, text) for model in (parent, experts))
    best = p.argmax(dim=-1)
    proposed = _log_probabilities(draft, prompt, text).argmax(dim=-1)
    chosen = torch.arange(len(text))
    sums = [(p.exp() * (p - q)).sum(), -p[chosen, token].sum(), -q[chosen, token].sum()]
    hits = [(q.argmax(dim=-1) == best).sum(), (proposed == best).sum()]
    return [len(text), 1000 * len(text), *(round(1000 * float(x)) for x in sums), *(int(x) for x in hits)]


def _log_probabilities(model: Any, prompt: list[int], text: list[int]) -> Any:
    """The law of each token of `text` under `model`, float64. (len(text), vocabulary)"""
    import torch

    from engine.decode.llama import Cache, forward

    ids = torch.tensor([[*prompt, *text[:-1]]])
    logits = forward(model, ids, Cache(model, rows=1, capacity=ids.shape[1]), 0, last=len(text))[0]
    return model.full(logits).double().log_softmax(dim=-1)


def _statements() -> Iterator[tuple[str, str, Statistic]]:
    yield "divergence", "nats", _ratio("divergence", "thousand_n")
    yield "loss_parent", "nats", _ratio("loss_parent", "thousand_n")
    yield "loss_experts", "nats", _ratio("loss_experts", "thousand_n")
    yield "loss_more", "nats", _difference("loss_experts", "loss_parent", "thousand_n")
    yield "agreement", "share of tokens", _ratio("agree_experts", "n")
    yield "agreement_draft", "share of tokens", _ratio("agree_draft", "n")
    yield "agreement_more", "share of tokens", _difference("agree_experts", "agree_draft", "n")


def _ratio(above: str, below: str) -> Statistic:
    return Statistic(kind="ratio", numerator=[above], denominator=[below], stream="bootstrap")


def _difference(first: str, second: str, below: str) -> Statistic:
    return Statistic(
        kind="difference",
        numerator=[first],
        denominator=[below],
        minus=_ratio(second, below),
        stream="bootstrap",
    )


def _training(facts: dict[str, Any]) -> dict[str, Leaf]:
    recipe = facts["recipe"]
    return {
        "prompts": Leaf(value=facts["samples"], unit="prompts"),
        "sampled_tokens": Leaf(value=facts["sampled_tokens"], unit="tokens"),
        "positions": Leaf(value=facts["positions_an_epoch"], unit="positions"),
        "epochs": Leaf(value=recipe["epochs"], unit="passes"),
        "steps": Leaf(value=facts["steps"], unit="steps"),
        "experts": Leaf(value=recipe["experts"], unit="experts"),
        "chosen": Leaf(value=recipe["anneal"][-1][0], unit="experts"),
        "last_epoch_loss": Leaf(value=lexeme(round(facts["last_epoch_loss_nats"], 4)), unit="nats"),
    }


def _config(settings: Settings, recipe: dict[str, Any]) -> dict[str, Any]:
    chosen, start = zip(*recipe["anneal"], strict=True)
    training = recipe | {"anneal": {"chosen": chosen, "from_share_of_steps": start}}
    return shown(asdict(settings) | {"training": training})
