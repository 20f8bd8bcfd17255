"""Does a model's ranking of tokens repeat in other environments?

The texts of the Amber experiment, cut short, are ranked by target and draft in one environment after another,
each a process of its own. Told are the first places that hold another token, the text's own tokens whose rank
is another, and how small margins get.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import Any

from engine.coding import census
from engine.coding.census import Setting
from engine.contract.errors import BadData
from engine.contract.payload import Leaf, Measured, Payload, State, Statistic, lexeme
from engine.contract.provenance import gather
from engine.decode import registry
from engine.experiments.acceptance import PROMPTS_FILE, evaluate
from engine.experiments.amber import MODES, OWN_PROMPTS_FILE, Amber
from engine.experiments.amber_state import rehearsed
from engine.run import Documents, Task, source_digest
from engine.stats.statistic import Table

MODELS = ("target", "draft")
ENVIRONMENTS = (
    "again",
    "one_row",
    "five_rows",
    "one_thread",
    "plain_attention",
    "avx2",
    "onednn_avx2",
    "bf16",
    "fp16",
    "cuda",
    "other_torch",
)
NEAR = (4, 7, 10)
"""Margins below two to the minus these, in logits, are counted."""
UNIT = 20
"""Margins come in 2^-20ths."""


@dataclass(frozen=True)
class Settings:
    """The frozen configuration, besides that of the texts."""

    tokens: int = 64
    rows: int = 25
    threads: int = 2


@dataclass
class Census:
    """The experiment: one reading a model and environment; one payload."""

    settings: Settings = Settings()
    inner: Amber = field(default_factory=Amber)

    def rehearsal(self) -> Census:
        """A small one of the same kind, whose payload is not to be published."""
        return Census(Settings(tokens=16), self.inner.rehearsal())

    @property
    def key(self) -> str:
        """As the Amber experiment's, and this file's code and settings."""
        return f"{self.inner.key} {asdict(self.settings)} {source_digest(['engine/experiments/census.py'])}"

    def tasks(self) -> list[Task]:
        """The texts of the Amber experiment, then the readings."""
        owner = ("amber", self.inner.key)
        wanted = ("text/", "texts", "pack")
        texts = [task for task in self.inner.tasks() if task.name.startswith(wanted)]
        out = [replace(task, owner=owner) for task in texts]
        for model in MODELS:
            for name in ("baseline", *ENVIRONMENTS):
                cost = (10.0 if model == "draft" else 40.0) * (8 if name == "one_row" else 1)
                work = partial(self.read, model=model, name=name)
                out.append(Task(f"read/{model}/{name}", cost, work))
        return out

    def setting(self, name: str) -> Setting:
        """An environment by name; `BadData` where it was not given."""
        baseline = Setting(rows=self.settings.rows, threads=self.settings.threads)
        known = census.settings(baseline, self.inner.other_torch) | {"baseline": baseline}
        if name not in known:
            raise BadData(name, f"was not given: {census.TORCH} names no folder.", "Install one there.")
        return known[name]

    def read(self, documents: Documents, *, model: str, name: str) -> dict[str, Any]:
        """What an environment says of each token, or why there is none; the baseline must be there."""
        texts = [text[: self.settings.tokens] for text in documents["pack"]["tokens"]]
        named = getattr(self.inner.settings, model)
        try:
            return asdict(census.read(named, self.setting(name), texts))
        except BadData as error:
            if name == "baseline":
                raise
            return {"absent": f"{error.place} {error.problem}"}

    def payloads(self, documents: Documents) -> Sequence[Payload]:
        """One payload: every environment against the baseline, under each model."""
        inner = self.inner.settings
        columns: dict[str, list[int]] = {"cluster": list(range(inner.prompts))}
        named: list[tuple[str, str, Statistic]] = []
        quantities: dict[str, dict[str, Any]] = {}
        absent: dict[str, str] = {}
        for model in MODELS:
            before = census.Reading(**documents[f"read/{model}/baseline"])
            columns |= self._margins(model, before)
            named += _near(model)
            quantities[model] = {"smallest_margin": self._smallest(before)}
            for name in ENVIRONMENTS:
                found = documents[f"read/{model}/{name}"]
                if "absent" in found:
                    absent[f"{model}.{name}"] = found["absent"]
                    continue
                after = census.Reading(**found)
                columns |= self._changes(f"{model}_{name}", before, after)
                named += _changed(model, name)
                same = Leaf(value=int(before.canary == after.canary), unit="canaries that sing the same")
                quantities[model] |= {f"{name}_canary": same}
        return [self._payload(documents, columns, named, quantities, absent)]

    def _folded(self, values: Sequence[int]) -> list[int]:
        prompts = self.inner.settings.prompts
        return [sum(values[prompt::prompts]) for prompt in range(prompts)]

    def _changes(self, at: str, before: census.Reading, after: census.Reading) -> dict[str, list[int]]:
        found = census.compare(before, after)
        return {
            f"{at}_{part}": self._folded([getattr(c, part) for c in found]) for part in ("flips", "moved")
        }

    def _margins(self, model: str, before: census.Reading) -> dict[str, list[int]]:
        ranked = [
            [m for m, rank in zip(*pair, strict=True) if rank >= 0]
            for pair in zip(before.margins, before.ranks, strict=True)
        ]
        out = {
            f"{model}_tokens": self._folded([len(text) for text in before.ranks]),
            f"{model}_ranked": self._folded([len(text) for text in ranked]),
        }
        for power in NEAR:
            near = [sum(m < 1 << UNIT - power for m in text) for text in ranked]
            out[f"{model}_near_{power}"] = self._folded(near)
        return out

    def _smallest(self, before: census.Reading) -> Leaf:
        ranked = [
            m
            for margins, ranks in zip(before.margins, before.ranks, strict=True)
            for m, rank in zip(margins, ranks, strict=True)
            if rank >= 0
        ]
        return Leaf(value=lexeme(min(ranked) / (1 << UNIT)), unit="logits")

    def _payload(
        self,
        documents: Documents,
        columns: dict[str, list[int]],
        named: Sequence[tuple[str, str, Statistic]],
        quantities: dict[str, dict[str, Any]],
        absent: dict[str, str],
    ) -> Payload:
        inner = self.inner.settings
        rows = [list(row) for row in zip(*columns.values(), strict=True)]
        table = Table.from_rows(
            list(columns), rows, root=inner.root, resamples=inner.resamples, level=inner.level
        )
        results, without = evaluate(named, table)
        for model, leaves in quantities.items():
            results[model] |= leaves
        measured = Measured(
            schema="specdec-sidechannels/payload/1",
            name="census/rankings",
            question="Does a model's ranking of tokens repeat in other environments?",
            regime={
                "target": registry.entry(inner.target).title,
                "draft": inner.draft,
                "baseline": documents["read/target/baseline"]["environment"]["words"],
                "precision": "fp32",
                "device": "CPU",
            },
            config=asdict(self.settings)
            | {"prompts": inner.prompts, "modes": list(MODES), "near": list(NEAR)}
            | {"resamples": inner.resamples, "level": lexeme(inner.level)},
            seeds={"root": inner.root},
            provenance=gather(
                ["engine", "run", "census"],
                packages=("numpy", "torch", "transformers"),
                models=self.inner.models,
                inputs=[PROMPTS_FILE, OWN_PROMPTS_FILE],
            ),
            results=results,
            absent=absent | without or None,
            state=State(columns=list(columns), rows=rows),
        )
        return rehearsed(measured) if self.inner.rehearsing else measured


def _changed(model: str, name: str) -> Iterator[tuple[str, str, Statistic]]:
    for part, words in (("flips", "flips"), ("moved", "moved ranks")):
        column = f"{model}_{name}_{part}"
        yield f"{model}.{name}.{part}_counted", words, _sum(column)
        yield f"{model}.{name}.{part}", "share of tokens", _ratio(column, f"{model}_tokens")


def _near(model: str) -> Iterator[tuple[str, str, Statistic]]:
    yield f"{model}.tokens", "tokens", _sum(f"{model}_tokens")
    for power in NEAR:
        yield (
            f"{model}.near.bits_{power}",
            "share of tokens",
            _ratio(f"{model}_near_{power}", f"{model}_ranked"),
        )


def _ratio(above: str, below: str) -> Statistic:
    return Statistic(kind="ratio", numerator=[above], denominator=[below], stream="bootstrap")


def _sum(column: str) -> Statistic:
    return Statistic(kind="sum", numerator=[column], stream="bootstrap")
