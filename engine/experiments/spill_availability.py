"""How many tokens does a check bring when texts repeat, are ordinary, or cannot be foreseen?

A defender's number: each scheme's tokens a check fall when users ask for what no draft can guess, and with
them what a machine can serve. The target answers three families of prompts; rounds follow by replay.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property, partial
from typing import Any

from engine.contract.payload import Measured, Payload, Rehearsal, State, Statistic, lexeme
from engine.contract.provenance import gather
from engine.contract.seeds import Stream
from engine.decode.registry import entry
from engine.experiments.acceptance import evaluate, model_digest
from engine.experiments.prompts import Prompt, named
from engine.experiments.settings import command
from engine.experiments.spill_traces import MODELS, label
from engine.run import Documents, Task, source_digest
from engine.stats.statistic import Table

KINDS = ("repetitive", "ordinary", "collapse")
SCHEMES = ("lookup", "draft", "rest", "eagle", "lade")
FILE = "engine/experiments/prompts/spill-availability.toml"


@dataclass(frozen=True)
class Settings:
    """The sizes of the study."""

    root: int = 20261130
    runs: int = 4
    new_tokens: int = 64
    temperatures: tuple[float, ...] = (0.3, 1.0)
    prompts_at_once: int = 6
    resamples: int = 10_000
    level: float = 0.95


QUICK = Settings(root=20261131, runs=2, new_tokens=24, resamples=1000)


@dataclass
class SpillAvailability:
    """Answers of three families, rounds of five schemes; one payload."""

    quick: bool = False
    settings: Settings = field(init=False)

    def __post_init__(self) -> None:
        self.settings = QUICK if self.quick else Settings()

    def rehearsal(self) -> SpillAvailability:
        """Other prompts, fewer runs, shorter answers."""
        return SpillAvailability(quick=True)

    @property
    def key(self) -> str:
        """Settings, weights, prompts and code."""
        code = ["engine/decode/**/*.py", "engine/spill/traces*.py", "engine/experiments/spill_*.py", FILE]
        weights = [model_digest(name).sha256 for name in MODELS]
        return f"{asdict(self.settings)} {weights} {source_digest(code)}"

    @cached_property
    def prompts(self) -> dict[str, list[Prompt]]:
        """The prompts of each family."""
        before = "rehearsal-" if self.quick else ""
        every = named("spill-availability")
        return {kind: [p for p in every if p.family == before + kind] for kind in KINDS}

    @cached_property
    def loaded(self) -> Any:
        """The parts of all schemes, and the tokenizer."""
        from engine.decode import models, schemes

        return schemes.parts(), models.load_chat(MODELS[0])

    def tasks(self) -> list[Task]:
        """Answers and rounds of a few prompts at a time."""
        size = self.settings.prompts_at_once
        return [
            Task(
                f"rounds/{kind}/{temperature:g}/{start:02d}",
                60.0,
                partial(
                    self.measure, prompts=self.prompts[kind][start : start + size], temperature=temperature
                ),
            )
            for kind in KINDS
            for temperature in self.settings.temperatures
            for start in range(0, len(self.prompts[kind]), size)
        ]

    def measure(
        self, _: Documents, *, prompts: Sequence[Prompt], temperature: float
    ) -> list[dict[str, list[int]]]:
        """For each prompt and scheme, tokens and checks of all its answers."""
        from engine.decode.sample import Row
        from engine.decode.scheme_replay import lookahead
        from engine.spill import traces_record

        (parts, chat), settings = self.loaded, self.settings
        ids = [tuple(chat.prompt(p.text)) for p in prompts]
        names = [[f"spill/{p.id}/{temperature:g}/{run}" for run in range(settings.runs)] for p in prompts]
        rows = [
            Row(prompt, Stream(settings.root, name).uniform(settings.new_tokens), temperature)
            for prompt, own in zip(ids, names, strict=True)
            for name in own
        ]
        answers = traces_record.write(parts.target, rows, new_tokens=settings.new_tokens, end=chat.end)
        out = []
        for index, prompt in enumerate(ids):
            own = answers[index * settings.runs : (index + 1) * settings.runs]
            found = traces_record.rounds(
                parts,
                prompt,
                own,
                names[index],
                temperature=temperature,
                new_tokens=settings.new_tokens,
                root=settings.root,
            )
            texts = [answer.tokens for answer in own]
            ahead = lookahead(parts.target, prompt, texts, parts.lade, new_tokens=settings.new_tokens)
            counts = {name: [one.counts[name] for one in found] for name in SCHEMES[:-1]} | {"lade": ahead}
            out.append({name: [sum(map(sum, c)), sum(map(len, c))] for name, c in counts.items()})
        return out

    def payloads(self, documents: Documents) -> Sequence[Payload]:
        """Tokens a check of every scheme, family and temperature, and what is lost to collapse."""
        settings = self.settings
        columns, rows = self.table(documents)
        table = Table.from_rows(
            columns, rows, root=settings.root, resamples=settings.resamples, level=settings.level
        )
        results, absent = evaluate(list(self.statements()), table)
        kind: Any = Rehearsal if self.quick else Measured
        config = {
            name: [lexeme(t) for t in v] if isinstance(v, tuple) else lexeme(v) if isinstance(v, float) else v
            for name, v in asdict(settings).items()
            if name != "root"
        }
        return [
            kind(
                schema=f"specdec-sidechannels/{'rehearsal' if self.quick else 'payload'}/1",
                name="spill/availability",
                question="How far do tokens a check fall when no draft can foresee the answer?",
                regime={"target": entry(MODELS[0]).title, "precision": "fp32", "device": "CPU"},
                config=config | {"prompts": len(self.prompts["ordinary"])},
                seeds={"root": settings.root},
                provenance=gather(
                    command("spill-availability", quick=self.quick),
                    packages=("numpy", "torch", "transformers"),
                    models=[model_digest(name) for name in MODELS],
                    inputs=[FILE],
                ),
                results=results,
                absent=absent or None,
                state=State(columns=columns, rows=rows),
            )
        ]

    def table(self, documents: Documents) -> tuple[list[str], list[list[int]]]:
        """One row a prompt; its family's columns are filled, under every scheme and temperature."""
        names = [f"{s}_{label(t)}" for t in self.settings.temperatures for s in SCHEMES]
        columns = [
            "cluster",
            "family",
            *(f"{name}_{what}" for name in names for what in ("tokens", "checks")),
        ]
        rows: list[list[int]] = []
        for family, kind in enumerate(KINDS):
            found = [self.of(documents, kind, temperature) for temperature in self.settings.temperatures]
            for one in zip(*found, strict=True):
                sums = [value for document in one for scheme in SCHEMES for value in document[scheme]]
                rows.append([len(rows), family, *sums])
        return columns, rows

    def of(self, documents: Documents, kind: str, temperature: float) -> list[dict[str, list[int]]]:
        """The documents of one family and temperature, a prompt each."""
        starts = range(0, len(self.prompts[kind]), self.settings.prompts_at_once)
        return [one for start in starts for one in documents[f"rounds/{kind}/{temperature:g}/{start:02d}"]]

    def statements(self) -> Iterator[tuple[str, str, Statistic]]:
        """Name, unit and statistic of every estimate."""
        for temperature in self.settings.temperatures:
            for scheme in SCHEMES:
                at = f"{scheme}_{label(temperature)}"
                ratios = [
                    Statistic(
                        kind="ratio",
                        numerator=[f"{at}_tokens"],
                        denominator=[f"{at}_checks"],
                        family=family,
                        stream=f"bootstrap/{kind}",
                    )
                    for family, kind in enumerate(KINDS)
                ]
                for kind, ratio in zip(KINDS, ratios, strict=True):
                    yield f"{scheme}.{label(temperature)}.{kind}", "tokens a check", ratio
