"""Does a draft's ranking make a byte-exact archive of the target's text, where, and at what size?

The target answers every prompt twice, greedily and at temperature one. Each text is an archive under the
draft; all are unpacked again in a process of their own. Then the same archives are decoded where the draft
computes otherwise: fewer threads, one row at a time, another torch, lower precision. Their sizes stand beside
those of coding by the draft's probabilities and of compressors that know no model. The target as its own
draft is a control.
"""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property, partial
from importlib import resources
from typing import Any

from engine.coding import census
from engine.coding.census import Setting
from engine.contract.errors import BadData
from engine.contract.payload import ModelDigest, Payload
from engine.contract.seeds import Stream
from engine.decode import registry
from engine.experiments import amber_counts as counts
from engine.experiments.acceptance import PROMPTS_FILE, model_digest
from engine.experiments.prompts import Prompt, acceptance
from engine.run import Documents, Task, source_digest

OWN_PROMPTS_FILE = "engine/experiments/prompts/amber.toml"
MODES = ("greedy", "sampled")
DECODERS = ("one_row", "one_thread", "bf16", "fp16", "other_torch")
"""Environments that the archives are decoded in, besides the one that packed them."""
READ = ("one_thread", "bf16", "fp16", "other_torch")
"""Those in which every token is ranked as well, also after the first that fails."""


@dataclass(frozen=True)
class Settings:
    """The frozen configuration."""

    target: str = "smollm2"
    draft: str = "smollm2-draft"
    root: int = 20261130
    prompts: int = 100
    new_tokens: int = 256
    rows: int = 25
    threads: int = 2
    piece: int = 8192  # bytes: every text is one chunk
    guard: int = 8  # 4096ths of a logit
    tail_window: int = 64
    tail_period: int = 32
    dictionary_texts: int = 100
    dictionary_size: int = 16384
    control_prompts: int = 12
    resamples: int = 10_000
    level: float = 0.95


QUICK = Settings(prompts=12, new_tokens=40, tail_window=16, tail_period=8, dictionary_texts=25)
"""A rehearsal: everything once, in a minute or two; never published."""


def prompts() -> list[Prompt]:
    """Those of the acceptance record, and sixteen more."""
    text = resources.files("engine.experiments.prompts").joinpath("amber.toml").read_text(encoding="utf-8")
    return [*acceptance(), *(Prompt(**entry) for entry in tomllib.loads(text)["prompt"])]


@dataclass
class Amber:
    """The experiment: texts, archives, decoders, lengths; two payloads."""

    settings: Settings = Settings()
    rehearsing: bool = False

    def rehearsal(self) -> Amber:
        """A small one of the same kind, whose payloads are not to be published."""
        return Amber(QUICK, rehearsing=True)

    @property
    def key(self) -> str:
        """Settings, weights, prompts, code, and the other torch where there is one."""
        sources = ["engine/decode/**/*.py", "engine/coding/*.py", "engine/experiments/amber*.py"]
        code = source_digest([*sources, PROMPTS_FILE, OWN_PROMPTS_FILE])
        return f"{asdict(self.settings)} {[m.sha256 for m in self.models]} {self.other_torch} {code}"

    @cached_property
    def models(self) -> list[ModelDigest]:
        """The pinned weights of target and draft."""
        return [model_digest(self.settings.target), model_digest(self.settings.draft)]

    @cached_property
    def prompts(self) -> list[Prompt]:
        """The committed prompts that are used."""
        return prompts()[: self.settings.prompts]

    @property
    def other_torch(self) -> str | None:
        """A folder with another torch, from the environment."""
        return os.environ.get(census.TORCH)

    @property
    def decoders(self) -> tuple[str, ...]:
        """Environments that the archives are decoded in, besides the one that packed them."""
        return DECODERS

    @cached_property
    def vocabulary(self) -> int:
        """Tokens of the draft."""
        config = json.loads((registry.require(self.settings.draft).folder / "config.json").read_text())
        return int(config["vocab_size"])

    # tasks

    def tasks(self) -> list[Task]:
        """Texts, then archives, then one task an environment and job."""
        s, out = self.settings, []
        for mode in MODES:
            for start in range(0, s.prompts, s.rows):
                work = partial(self.write, mode=mode, start=start)
                out.append(Task(f"text/{mode}/{start}", 40.0, work))
        for start in range(0, s.dictionary_texts, s.rows):
            out.append(Task(f"dictionary/{start}", 40.0, partial(self.write_disjoint, start=start)))
        out.append(Task("texts", 1.0, self.gather))
        out.append(Task("pack", 60.0, self.pack))
        out.append(Task("unpack", 60.0, self.unpack))
        out.append(Task("read/packed", 60.0, partial(self.read, name="packed")))
        for name in DECODERS:
            cost = 500.0 if name == "one_row" else 80.0
            out.append(Task(f"decode/{name}", cost, partial(self.decode, name=name)))
        out += [Task(f"read/{name}", 80.0, partial(self.read, name=name)) for name in READ]
        out.append(Task("shares", 400.0, self.shares))
        out.append(Task("control", 150.0, self.control))
        out.append(Task("rivals", 10.0, self.rivals))
        return out

    @cached_property
    def loaded(self) -> Any:
        """Target and its chat format, loaded by the first task that needs them."""
        from engine.decode import models

        return models.load(self.settings.target), models.load_chat(self.settings.target)

    def write(self, _: Documents, *, mode: str, start: int) -> list[list[int]]:
        """The target's answers to some prompts. Token ids, a list a prompt."""
        chosen = self.prompts[start : start + self.settings.rows]
        return self._written([prompt.text for prompt in chosen], [f"{mode}/{p.id}" for p in chosen], mode)

    def write_disjoint(self, _: Documents, *, start: int) -> list[str]:
        """Its answers to prompts that the draft was trained on, for the dictionary: half of each mode."""
        from engine.decode.distill import Recipe
        from engine.decode.distill import prompts as disjoint

        s = self.settings
        mode = MODES[start // s.rows % len(MODES)]
        texts = disjoint(Recipe())[start : min(start + s.rows, s.dictionary_texts)]
        names = [f"dictionary/{start + at}" for at in range(len(texts))]
        return [self._shown(ids) for ids in self._written(texts, names, mode)]

    def _written(self, texts: Sequence[str], names: Sequence[str], mode: str) -> list[list[int]]:
        from engine.decode.sample import Row, generate

        target, chat = self.loaded
        tokens = self.settings.new_tokens
        rows = [
            Row(tuple(chat.prompt(text)), self._uniform(name) if mode == "sampled" else None)
            for text, name in zip(texts, names, strict=True)
        ]
        return [list(ids) for ids in generate(target, rows, new_tokens=tokens, end=chat.end).texts]

    def _uniform(self, name: str) -> Any:
        return Stream(self.settings.root, f"amber/{name}").uniform(self.settings.new_tokens)

    def _shown(self, ids: Sequence[int]) -> str:
        """The text of an answer, without the mark that ends it."""
        chat = self.loaded[1]
        text: str = chat.text([token for token in ids if token != chat.end])
        return text

    def gather(self, documents: Documents) -> list[str]:
        """All texts, in the order of the prompts, the greedy ones first."""
        s = self.settings
        return [
            self._shown(ids)
            for mode in MODES
            for start in range(0, s.prompts, s.rows)
            for ids in documents[f"text/{mode}/{start}"]
        ]

    def setting(self, name: str) -> Setting:
        """An environment by name; `BadData` where it cannot be had."""
        packed = Setting(rows=self.settings.rows, threads=self.settings.threads)
        known = census.settings(packed, self.other_torch) | {"packed": packed}
        if name not in known:
            raise BadData(name, f"was not given: {census.TORCH} names no folder.", "Install one there.")
        return known[name]

    def pack(self, documents: Documents) -> dict[str, Any]:
        """The archives, in hex, and the tokens of each text."""
        s = self.settings
        return self._ask("pack", "packed", files=documents["texts"], piece=s.piece, guard=s.guard)

    def unpack(self, documents: Documents) -> dict[str, Any]:
        """Whether each archive came out of another process as its text."""
        reply = self._ask("unpack", "packed", archives=documents["pack"]["archives"])
        return {"same": [a == b for a, b in zip(reply["files"], documents["texts"], strict=True)]}

    def _ask(self, job: str, name: str, model: str | None = None, **rest: Any) -> dict[str, Any]:
        return census.ask(job, model or self.settings.draft, self.setting(name), **rest)

    def decode(self, documents: Documents, *, name: str) -> dict[str, Any]:
        """Where each archive's text first comes out wrong in an environment; its checks are passed over."""
        texts = documents["pack"]["tokens"]
        return self._tried(name, partial(self._decoded, documents, name, texts))

    def _decoded(self, documents: Documents, name: str, texts: list[list[int]]) -> dict[str, Any]:
        reply = self._ask("decode", name, archives=documents["pack"]["archives"])
        firsts = [counts.first_difference(*pair) for pair in zip(texts, reply["texts"], strict=True)]
        return {"first": firsts, "canary": reply["canary"], "environment": reply["environment"]}

    def read(self, documents: Documents, *, name: str) -> dict[str, Any]:
        """Ranks of every text's tokens in an environment."""
        return self._tried(name, lambda: self._ask("read", name, texts=documents["pack"]["tokens"]))

    def _tried(self, name: str, work: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """The work's document, or why there is none in this environment; what packed must be there."""
        try:
            return work()
        except BadData as error:
            if name == "packed":
                raise
            return {"absent": f"{error.place} {error.problem}"}

    def shares(self, documents: Documents) -> dict[str, Any]:
        """Codes under the draft's probabilities, their ideal lengths, and whether they decode."""
        return self._ask("shares", "packed", texts=documents["pack"]["tokens"])

    def control(self, documents: Documents) -> dict[str, Any]:
        """The same with the target as its own draft, for some prompts."""
        s = self.settings
        chosen = self.controlled
        files = [documents["texts"][index] for index in chosen]
        packed = self._ask("pack", "packed", s.target, files=files, piece=s.piece, guard=s.guard)
        shares = self._ask("shares", "packed", s.target, texts=packed["tokens"])
        return {"archives": packed["archives"], "ideal": shares["ideal"], "tokens": packed["tokens"]}

    @property
    def controlled(self) -> list[int]:
        """Texts of the control: the first prompts', in both modes."""
        some = range(min(self.settings.control_prompts, self.settings.prompts))
        return [index + mode * self.settings.prompts for mode in range(len(MODES)) for index in some]

    def rivals(self, documents: Documents) -> dict[str, list[int]]:
        """Bytes of every text under each compressor."""
        s = self.settings
        parts = [documents[f"dictionary/{at}"] for at in range(0, s.dictionary_texts, s.rows)]
        samples = [text.encode() for part in parts for text in part]
        trained = counts.dictionary(samples, s.dictionary_size)
        out = {
            name: [length(text.encode()) for text in documents["texts"]]
            for name, length in counts.rivals(trained).items()
        }
        return out | {"dictionary_bytes": [len(trained)]}

    # payloads

    def payloads(self, documents: Documents) -> Sequence[Payload]:
        """Where archives break, and how long they are."""
        from engine.experiments.amber_state import fragility, sizes

        return [fragility(self, documents), sizes(self, documents)]
