"""How many draft tokens does the target keep?

The target writes a continuation of every prompt, greedily and at temperature one under several seeds;
each text is then read once by target and draft, and the rounds of every draft length are replayed
from those readings.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np

from engine.contract.errors import BadData
from engine.contract.payload import Leaf, Measured, ModelDigest, Payload, State, Statistic, lexeme
from engine.contract.provenance import gather
from engine.contract.seeds import Stream
from engine.decode import registry
from engine.decode.drafts.lookup import Lookup
from engine.decode.live import Round
from engine.decode.replay import Accepted
from engine.experiments.prompts import FAMILIES, Prompt, acceptance
from engine.run import Documents, Task, source_digest
from engine.stats.statistic import Table, compute

PROMPTS_FILE = "engine/experiments/prompts/acceptance.toml"
DRAFTS = ("lookup", "draft")
MODES = ("greedy", "sampled")


@dataclass(frozen=True)
class Settings:
    """The frozen configuration of the record."""

    target: str = "smollm2"
    draft: str = "smollm2-draft"
    root: int = 20261130
    new_tokens: int = 96
    lengths: tuple[int, ...] = (1, 2, 3, 4, 5, 6, 7, 8)
    family_length: int = 4  # draft length of the readings by family and by seed
    seeds: int = 16  # independent sampled texts of each prompt; the first is the published reading
    small_study: int = 30  # prompts of the smaller study whose seed noise is stated
    subsets: int = 1000
    batch: int = 28
    lookup_longest: int = 3
    lookup_shortest: int = 1
    resamples: int = 10_000
    level: float = 0.95


@dataclass
class Acceptance:
    """The acceptance experiment: tasks that write and read texts, and five payloads."""

    settings: Settings = Settings()

    @cached_property
    def prompts(self) -> list[Prompt]:
        """The committed prompts."""
        return acceptance()

    @cached_property
    def models(self) -> list[ModelDigest]:
        """The pinned weights of target and draft."""
        return [model_digest(self.settings.target), model_digest(self.settings.draft)]

    @property
    def key(self) -> str:
        """Settings, weights, prompts, decoding code and this file's."""
        code = source_digest(["engine/decode/**/*.py", "engine/experiments/acceptance.py", PROMPTS_FILE])
        return f"{asdict(self.settings)} {[m.sha256 for m in self.models]} {code}"

    def texts_name(self, seed: int | None) -> str:
        """The name of one set of texts: greedy, or sampled under a seed."""
        return "greedy" if seed is None else f"seed-{seed:02d}"

    # tasks

    def tasks(self) -> list[Task]:
        """Texts in batches, then one reading by each model, for greedy and for every seed."""
        out = []
        for seed in (None, *range(self.settings.seeds)):
            texts = self.texts_name(seed)
            for batch, start in enumerate(range(0, len(self.prompts), self.settings.batch)):
                work = partial(self.write, start=start, seed=seed)
                out.append(Task(f"text/{texts}/{batch}", 16.0, work))
            out.append(Task(f"read/{texts}", 30.0, partial(self.read, seed=seed)))
        return out

    @cached_property
    def loaded(self) -> Any:
        """Target, draft and tokenizer, loaded at the first task that needs them."""
        from engine.decode import models

        return (
            models.load(self.settings.target),
            models.load(self.settings.draft),
            models.load_chat(self.settings.target),
        )

    @cached_property
    def prompt_ids(self) -> list[list[int]]:
        """Token ids of every prompt in its chat format."""
        return [self.loaded[2].prompt(prompt.text) for prompt in self.prompts]

    def write(self, _: Documents, *, start: int, seed: int | None) -> list[list[int]]:
        """The target's continuations of one batch of prompts. Token ids, a list a prompt."""
        from engine.decode.sample import Row, generate

        target, _, chat = self.loaded
        chosen = range(start, min(start + self.settings.batch, len(self.prompts)))
        rows = [Row(tuple(self.prompt_ids[i]), self._uniform("text", seed, i)) for i in chosen]
        return [
            list(text)
            for text in generate(target, rows, new_tokens=self.settings.new_tokens, end=chat.end).texts
        ]

    def read(self, documents: Documents, *, seed: int | None) -> dict[str, Any]:
        """Where the draft's token stands along each text, as strings of 0 and 1.

        For greedy texts also how often the target's own top token is not the text's.
        """
        from engine.decode import replay

        target, draft, _ = self.loaded
        stands, differing = [], 0
        for index, text in enumerate(self.texts(documents, seed)):
            first = replay.read(target, self.prompt_ids[index], text)
            second = replay.read(draft, self.prompt_ids[index], text)
            uniform = self._uniform("accept", seed, index)
            if uniform is None:
                agrees = replay.greedy_agreement(second, text)
                differing += int((first.best != np.asarray(text)).sum())
            else:
                agrees = replay.sampled_agreement(first, second, uniform[: len(text)])
            stands.append("".join("01"[int(a)] for a in agrees))
        return {"stands": stands, "target_differs": differing, "prompts": self.prompt_ids}

    def _uniform(self, use: str, seed: int | None, prompt: int) -> Any:
        if seed is None:
            return None
        name = f"acceptance/{use}/seed-{seed}/{self.prompts[prompt].id}"
        return Stream(self.settings.root, name).uniform(self.settings.new_tokens)

    def texts(self, documents: Documents, seed: int | None) -> list[list[int]]:
        """All texts of one set, in the order of the prompts."""
        batches = range(-(-len(self.prompts) // self.settings.batch))
        return [text for batch in batches for text in documents[f"text/{self.texts_name(seed)}/{batch}"]]

    # rounds

    def rounds(self, documents: Documents, draft: str, seed: int | None, length: int) -> list[list[Round]]:
        """The replayed rounds of every prompt."""
        from engine.decode import replay

        reading = documents[f"read/{self.texts_name(seed)}"]
        out = []
        for index, text in enumerate(self.texts(documents, seed)):
            accepted: Accepted
            if draft == "lookup":
                lookup = Lookup(self.settings.lookup_longest, self.settings.lookup_shortest)
                accepted = replay.by_lookup(reading["prompts"][index], text, lookup)
            else:
                accepted = replay.by_agreement(np.array([c == "1" for c in reading["stands"][index]]))
            walked = replay.rounds(
                accepted, text=len(text), length=length, new_tokens=self.settings.new_tokens
            )
            out.append(walked)
        return out

    # payloads

    def payloads(self, documents: Documents) -> Sequence[Payload]:
        """One payload a draft and mode, and the noise between seeds."""
        pairs = [(draft, mode) for draft in DRAFTS for mode in MODES]
        return [self._reading(documents, *pair) for pair in pairs] + [self._noise(documents)]

    def _reading(self, documents: Documents, draft: str, mode: str) -> Measured:
        seed = None if mode == "greedy" else 0
        columns, rows = (
            ["cluster", "family"],
            [[i, FAMILIES.index(p.family)] for i, p in enumerate(self.prompts)],
        )
        for length in self.settings.lengths:
            columns += column_names(length)
            for row, walked in zip(rows, self.rounds(documents, draft, seed, length), strict=True):
                row += tally(walked, length)
        named = list(statements(self.settings))
        question = f"How many {DRAFT_WORDS[draft]} tokens does the target keep, decoding {MODE_WORDS[mode]}?"
        return self._payload(f"{draft}-{mode}", question, draft, mode, (columns, rows), named)

    def _noise(self, documents: Documents) -> Measured:
        columns, length = ["cluster"], self.settings.family_length
        rows = [[i] for i in range(len(self.prompts))]
        for draft in DRAFTS:
            for seed in range(self.settings.seeds):
                columns += [f"{draft}_emitted_{seed}", f"{draft}_rounds_{seed}"]
                for row, walked in zip(rows, self.rounds(documents, draft, seed, length), strict=True):
                    row += [sum(r.emitted for r in walked), len(walked)]
        named = list(self._spreads())
        question = "How far does a change of seed alone move tokens a check?"
        return self._payload(
            "seed-noise", question, "lookup and draft model", "sampled", (columns, rows), named
        )

    def _spreads(self) -> Iterator[tuple[str, str, Statistic]]:
        for draft in DRAFTS:
            for name, prompts in (("all", len(self.prompts)), ("small", self.settings.small_study)):
                yield (
                    f"{draft}.half_width_{name}",
                    "tokens a check",
                    Statistic(
                        kind="seed_spread",
                        numerator=[f"{draft}_emitted_{s}" for s in range(self.settings.seeds)],
                        denominator=[f"{draft}_rounds_{s}" for s in range(self.settings.seeds)],
                        prompts=prompts,
                        subsets=1 if name == "all" else self.settings.subsets,
                        stream=f"subsets/{draft}/{name}",
                    ),
                )

    def _payload(
        self,
        name: str,
        question: str,
        draft: str,
        mode: str,
        state: tuple[list[str], list[list[int]]],
        named: Sequence[tuple[str, str, Statistic]],
    ) -> Measured:
        settings = self.settings
        table = Table.from_rows(
            *state, root=settings.root, resamples=settings.resamples, level=settings.level
        )
        results, absent = evaluate(named, table)
        results["plain"] = Leaf(value=1, unit="tokens a check")
        title = registry.entry(settings.target).title
        return Measured(
            schema="specdec-sidechannels/payload/1",
            name=f"acceptance/{name}",
            question=question,
            regime={
                "target": title,
                "draft": DRAFT_TITLES.get(draft, draft),
                "precision": "fp32",
                "decoding": MODE_WORDS[mode],
                "device": "CPU",
            },
            config=config(settings, len(self.prompts)),
            seeds={"root": settings.root},
            provenance=gather(
                ["engine", "run", "acceptance"],
                packages=("numpy", "torch", "transformers"),
                models=self.models,
                inputs=[PROMPTS_FILE],
            ),
            results=results,
            absent=absent or None,
            state=State(columns=state[0], rows=state[1]),
        )


DRAFT_WORDS = {"lookup": "looked-up", "draft": "draft-model"}
DRAFT_TITLES = {"lookup": "prompt lookup", "draft": "smollm2-draft"}
MODE_WORDS = {"greedy": "greedily", "sampled": "at temperature one"}


def config(settings: Settings, prompts: int) -> dict[str, Any]:
    """The settings as a payload holds them."""
    out: dict[str, Any] = {"prompts": prompts}
    for name, value in asdict(settings).items():
        if name != "root":
            out[name] = list(value) if isinstance(value, tuple) else value
    return out | {"level": lexeme(settings.level)}


def model_digest(name: str) -> ModelDigest:
    """The digest that pins a fetched model: its source file's, or its trained weights'."""
    found = registry.require(name)
    return ModelDigest(name=name, sha256=found.digest)


def column_names(length: int) -> list[str]:
    """State columns of one draft length."""
    histogram = [f"k{length}_kept_{a}" for a in range(length + 1)]
    tried = [f"k{length}_tried_{j}" for j in range(1, length + 1)]
    return [f"k{length}_emitted", f"k{length}_proposed", f"k{length}_accepted", *histogram, *tried]


def tally(walked: Sequence[Round], length: int) -> list[int]:
    """The columns of `column_names`, of one prompt."""
    kept = [sum(r.accepted == a for r in walked) for a in range(length + 1)]
    tried = [sum(r.tried >= j for r in walked) for j in range(1, length + 1)]
    totals = [
        sum(r.emitted for r in walked),
        sum(r.proposed for r in walked),
        sum(r.accepted for r in walked),
    ]
    return [*totals, *kept, *tried]


def statements(settings: Settings) -> Iterator[tuple[str, str, Statistic]]:
    """Name, unit and statistic of every estimate of one draft and mode."""
    for k in settings.lengths:
        kept = [f"k{k}_kept_{a}" for a in range(k + 1)]
        at = f"length_{k}"
        yield f"{at}.tokens_per_check", "tokens a check", _ratio([f"k{k}_emitted"], kept)
        yield (
            f"{at}.accepted_over_proposed",
            "share of tokens",
            _ratio([f"k{k}_accepted"], [f"k{k}_proposed"]),
        )
        for j in range(1, k + 1):
            conditional = _ratio(kept[j:], [f"k{k}_tried_{j}"])
            yield f"{at}.acceptance_at_{j}", "share of tokens", conditional
        for a in range(k + 1):
            yield f"{at}.rounds_keeping_{a}", "share of rounds", _ratio([kept[a]], kept)
    k = settings.family_length
    kept = [f"k{k}_kept_{a}" for a in range(k + 1)]
    for index, family in enumerate(FAMILIES):
        yield f"families.{family}", "tokens a check", _ratio([f"k{k}_emitted"], kept, index)


def _ratio(above: list[str], below: list[str], family: int | None = None) -> Statistic:
    stream = "bootstrap" if family is None else f"bootstrap/{FAMILIES[family]}"
    return Statistic(kind="ratio", numerator=above, denominator=below, family=family, stream=stream)


def evaluate(
    named: Sequence[tuple[str, str, Statistic]], table: Table
) -> tuple[dict[str, Any], dict[str, str]]:
    """Results as a payload nests them, and the reasons of those that the data could not give."""
    results: dict[str, Any] = {}
    absent: dict[str, str] = {}
    for name, unit, statistic in named:
        try:
            fields = compute(statistic.model_dump(exclude_none=True), table)
        except BadData as error:
            absent[name] = f"{error.place} {error.problem}"
            continue
        *path, last = name.split(".")
        place = results
        for key in path:
            place = place.setdefault(key, {})
        place[last] = Leaf.model_validate(fields | {"unit": unit, "statistic": statistic})
    return results, absent
