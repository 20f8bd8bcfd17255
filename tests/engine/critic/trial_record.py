"""A small record whose payload the engine made: what the critic is tried on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from engine.contract import store
from engine.contract.payload import ADAPTER, Leaf, Lexeme, Statistic
from engine.stats.statistic import Table, compute

COLUMNS = ["cluster", "family", "hits", "other", "n", "s_0", "s_1", "s_2"]
CLUSTERS = 40
RATIO = {"kind": "ratio", "numerator": ["hits"], "denominator": ["n"]}
MINUS = {"kind": "ratio", "numerator": ["other"], "denominator": ["n"], "stream": "b"}
SEEDS = {"numerator": ["s_0", "s_1", "s_2"], "denominator": ["n", "n", "n"]}
STATISTICS: dict[str, dict[str, Any]] = {
    "share": RATIO,
    "second": RATIO | {"family": 1},
    "gain": RATIO | {"kind": "difference", "minus": MINUS},
    "total": {"kind": "sum", "numerator": ["hits", "other"]},
    "spread": SEEDS | {"kind": "seed_spread", "prompts": CLUSTERS, "subsets": 1},
    "small": SEEDS | {"kind": "seed_spread", "prompts": 15, "subsets": 400},
}


def rows() -> list[list[int]]:
    """Forty clusters with counts that differ."""
    random = np.random.default_rng(11)
    n = random.integers(30, 90, CLUSTERS)
    parts = random.binomial(n[:, None], [0.5, 0.42, 0.3, 0.3, 0.3])
    return [[i, i % 2, *map(int, parts[i, :2]), int(n[i]), *map(int, parts[i, 2:])] for i in range(CLUSTERS)]


@dataclass(frozen=True)
class Trial:
    """A record in a folder: one payload, and findings as they are written into it."""

    root: Path

    @property
    def payload(self) -> Path:
        """The payload's file."""
        return self.root / "payloads" / "trial" / "one.json"

    def change(self, change: Callable[[dict[str, Any]], None]) -> None:
        """Change the payload's content."""
        document = store.loads(self.payload.read_bytes(), "x")
        change(document)
        self.payload.write_text(store.canonical(document), encoding="utf-8")

    def source(self, name: str, front: str) -> None:
        """Write a finding or a kill criterion about the payload."""
        text = f"---\nid: {name}\n{front}payloads:\n  a: payloads/trial/one.json\n---\nText.\n"
        (self.root / "findings" / f"{name}.md").write_text(text, encoding="utf-8")

    def finding(self, rule: str, status: str = "holds", more: str = "") -> None:
        """Write F-01 with a rule for holds."""
        self.source("F-01", f"record: trial\nstatus: {status}\nholds_when: {rule}\n{more}")


def make(root: Path, document: dict[str, Any]) -> Trial:
    """A record whose numbers were just made by the engine, without a finding yet."""
    document["config"] = {"resamples": 2000, "level": Lexeme("0.95")}
    document["state"] = {"columns": COLUMNS, "rows": rows()}
    table = Table.from_rows(COLUMNS, rows(), root=document["seeds"]["root"], resamples=2000, level=0.95)
    document["results"] = {"half": {"value": Lexeme("0.5"), "unit": "share"}}
    for name, fields in STATISTICS.items():
        statistic = Statistic.model_validate(fields | {"stream": "b"})
        made = compute(statistic.model_dump(exclude_none=True), table)
        leaf = Leaf.model_validate(made | {"unit": "share", "statistic": statistic})
        document["results"][name] = leaf.model_dump(exclude_none=True)
    made_trial = Trial(root)
    (root / "findings").mkdir()
    store.write(made_trial.payload, ADAPTER.validate_python(document))
    return made_trial
