"""How large a difference do seeds alone show, and how many prompts resolve the bar?

Recorded runs are resampled: the acceptance record holds, for every prompt, the tokens and checks of sampled
decoding under several seeds. Nothing is decoded again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from engine.contract import store
from engine.contract.errors import BadData
from engine.contract.payload import Leaf, Measured, Payload, State, Statistic, lexeme
from engine.contract.provenance import ROOT, gather, sha256_file
from engine.experiments.acceptance import evaluate
from engine.experiments.settings import shown
from engine.run import Documents, Task, source_digest
from engine.stats.statistic import Table

SOURCE = "payloads/acceptance/seed-noise.json"
DRAFTS = ("lookup", "draft")


@dataclass(frozen=True)
class Settings:
    """The frozen configuration. `bar` is the least gain that counts, in tokens a check."""

    root: int = 20261130
    studied_prompts: tuple[int, ...] = (10, 20, 30, 42, 60, 84, 120, 150, 210)
    studies: int = 10_000
    bar: float = 0.062
    resamples: int = 10_000
    level: float = 0.95


@dataclass
class SeedNoise:
    """One task that takes the recorded runs over, one payload."""

    settings: Settings = Settings()

    @property
    def key(self) -> str:
        """Settings, the recorded runs, and the code that takes them over."""
        code = source_digest(["engine/experiments/seed_noise.py"])
        return f"{asdict(self.settings)} {sha256_file(ROOT / SOURCE)} {code}"

    def tasks(self) -> list[Task]:
        """Read the recorded runs."""
        return [Task("runs", 1.0, lambda _: self.runs())]

    def runs(self) -> dict[str, Any]:
        """Columns and rows of the recorded runs, with the conditions they were made under."""
        found = store.read(ROOT / SOURCE)
        if not isinstance(found, Measured) or found.state is None:
            raise BadData(SOURCE, "holds no state.", "Restore it from the repository.")
        return {
            "columns": found.state.columns,
            "rows": found.state.rows,
            "regime": found.regime,
            "seeds": int(str(found.config["seeds"])),
        }

    def payloads(self, documents: Documents) -> Sequence[Payload]:
        """Half widths and shares of gains, for every number of prompts."""
        runs, settings = documents["runs"], self.settings
        table = Table.from_rows(
            runs["columns"],
            runs["rows"],
            root=settings.root,
            resamples=settings.resamples,
            level=settings.level,
        )
        results, absent = evaluate(list(statements(settings, runs["seeds"])), table)
        results["bar"] = Leaf(value=lexeme(settings.bar), unit="tokens a check")
        return [
            Measured(
                schema="specdec-sidechannels/payload/1",
                name="tools/seed-noise",
                question="How large a difference do seeds alone show, and how many prompts resolve the bar?",
                regime=runs["regime"],
                config=shown(settings)
                | {
                    "prompts": len(runs["rows"]),
                    "seeds": runs["seeds"],
                    "drawn": "prompts with repetition, a pair of different seeds afresh for each",
                },
                seeds={"root": settings.root},
                provenance=gather(
                    ["engine", "run", "seed-noise"], packages=("numpy",), models=[], inputs=[SOURCE]
                ),
                results=results,
                absent=absent or None,
                state=State(columns=runs["columns"], rows=runs["rows"]),
            )
        ]


def statements(settings: Settings, seeds: int) -> Iterator[tuple[str, str, Statistic]]:
    """Name, unit and statistic of every number."""
    for draft in DRAFTS:
        for prompts in settings.studied_prompts:
            made = Statistic(
                kind="seed_difference",
                numerator=[f"{draft}_emitted_{seed}" for seed in range(seeds)],
                denominator=[f"{draft}_rounds_{seed}" for seed in range(seeds)],
                prompts=prompts,
                subsets=settings.studies,
                stream=f"pairs/{draft}/{prompts}",
            )
            at = f"{draft}.prompts_{prompts}"
            yield f"{at}.half_width", "tokens a check", made
            gain = made.model_copy(update={"kind": "seed_gain", "bar": lexeme(settings.bar)})
            yield f"{at}.false_gain", "share of draws", gain
