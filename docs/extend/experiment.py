"""How often does looking back in a text find its next byte?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from engine.contract.payload import Measured, Payload, State, Statistic
from engine.contract.provenance import gather
from engine.decode.drafts.lookup import Lookup
from engine.experiments.acceptance import PROMPTS_FILE, evaluate
from engine.experiments.prompts import acceptance
from engine.experiments.settings import shown
from engine.run import Documents, Task, source_digest
from engine.stats.statistic import Table

COLUMNS = ["cluster", "found", "bytes"]


@dataclass(frozen=True)
class Settings:
    """The frozen configuration."""

    root: int = 20261130
    longest: int = 4
    shortest: int = 1
    resamples: int = 10_000
    level: float = 0.95


@dataclass
class Echo:
    """One task, one payload; no model."""

    settings: Settings = Settings()

    @property
    def key(self) -> str:
        """Everything that a finished task depends on."""
        code = source_digest(["engine/decode/drafts/lookup.py", "engine/experiments/echo.py", PROMPTS_FILE])
        return f"{asdict(self.settings)} {code}"

    def tasks(self) -> list[Task]:
        """All prompts at once."""
        return [Task("count", 2.0, lambda _: [list(self.count(each.text)) for each in acceptance()])]

    def count(self, text: str) -> tuple[int, int]:
        """Bytes of a text that looking back finds, and bytes there are to find."""
        found, draft = 0, Lookup(self.settings.longest, self.settings.shortest)
        data = list(text.encode())
        for at in range(1, len(data)):
            found += draft.propose(data[:at], 1).tokens == (data[at],)
        return found, len(data) - 1

    def payloads(self, documents: Documents) -> Sequence[Payload]:
        """The share over prompts as clusters, recomputable from the counts beside it."""
        rows = [[cluster, *counts] for cluster, counts in enumerate(documents["count"])]
        share = Statistic(kind="ratio", numerator=["found"], denominator=["bytes"], stream="bootstrap")
        settings: dict[str, Any] = asdict(self.settings)
        drawn = {key: settings[key] for key in ("root", "resamples", "level")}
        results, absent = evaluate([("found", "accuracy", share)], Table.from_rows(COLUMNS, rows, **drawn))
        return [
            Measured(
                schema="specdec-sidechannels/payload/1",
                name="mine/echo",
                question="How often does looking back in a text find its next byte?",
                regime={"text": "the committed prompts", "device": "CPU"},
                config=shown({key: value for key, value in settings.items() if key != "root"}),
                seeds={"root": self.settings.root},
                provenance=gather(
                    ["engine", "run", "echo"], packages=("numpy",), models=[], inputs=[PROMPTS_FILE]
                ),
                results=results,
                absent=absent or None,
                state=State(columns=COLUMNS, rows=rows),
            )
        ]
