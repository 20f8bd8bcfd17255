"""What the experiments on traces share: cells of the attack, columns of state, and estimates over prompts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from engine.contract.errors import BadData
from engine.contract.payload import Leaf, Statistic
from engine.experiments.acceptance import evaluate
from engine.experiments.prompts import named
from engine.spill.attack import Hits
from engine.stats.statistic import Table, compute

UNIT = "accuracy"
SHARES = (UNIT, "share of rounds")
STREAM = "bootstrap"


def tag(temperature: float) -> str:
    """A temperature as a field's name: 0.3 is `t_0_3`."""
    return f"t_{temperature:.1f}".replace(".", "_")


@dataclass
class Columns:
    """State under way: one row a prompt, named columns of whole numbers."""

    prompts: int
    names: list[str] = field(default_factory=lambda: ["cluster"])
    values: list[list[int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.values = [list(range(self.prompts))]

    def add(self, name: str, values: Sequence[int]) -> str:
        """One more column; `BadData` for a name that stands already or a number a prompt too many."""
        if name in self.names or len(values) != self.prompts:
            raise BadData(f"column {name!r}", f"has {len(values)} rows or stands twice.", "Name it once.")
        self.names.append(name)
        self.values.append([int(value) for value in values])
        return name

    def hits(self, name: str, found: dict[str, Any]) -> None:
        """The two columns of an attack: told right, and tested."""
        self.add(f"{name}_hits", found["hits"])
        self.add(f"{name}_tested", found["tested"])

    @property
    def rows(self) -> list[list[int]]:
        """One row a prompt."""
        return [list(row) for row in zip(*self.values, strict=True)]

    def table(self, root: int, resamples: int, level: float) -> Table:
        """The same as what estimates are made from."""
        return Table.from_rows(self.names, self.rows, root=root, resamples=resamples, level=level)


def plain(hits: Hits) -> dict[str, Any]:
    """Hits as a document keeps them."""
    return {"hits": hits.hits.tolist(), "tested": hits.tested.tolist()}


def accuracy(name: str) -> Statistic:
    """The share of test traces told right."""
    return ratio(f"{name}_hits", f"{name}_tested")


def summed(column: str) -> Statistic:
    """The sum of a column."""
    return Statistic(kind="sum", numerator=[column], stream=STREAM)


def ratio(above: str, below: str) -> Statistic:
    """The sum of a column over that of another."""
    return Statistic(kind="ratio", numerator=[above], denominator=[below], stream=STREAM)


def questions(file: str, count: int) -> list[str]:
    """The first of the committed questions."""
    asked = [prompt.text for prompt in named(file) if prompt.family == "questions"]
    return asked[:count]


def excess(name: str, over: str) -> Statistic:
    """How much more is told right than by another attack on the same prompts."""
    made = accuracy(name)
    return made.model_copy(update={"kind": "difference", "minus": accuracy(over)})


def results(
    named: Sequence[tuple[str, str, Statistic]], table: Table
) -> tuple[dict[str, Any], dict[str, str]]:
    """Estimates, nested; a share that is the same at every prompt has Wilson's interval instead."""
    made, absent = evaluate(named, table)
    for name, unit, statistic in named:
        alike = statistic.kind == "ratio" and "same ratio" in absent.get(name, "")
        if alike and unit in SHARES:
            share = statistic.model_copy(update={"kind": "share"})
            fields = compute(share.model_dump(exclude_none=True), table)
            _place(made, name, Leaf.model_validate(fields | {"unit": unit, "statistic": share}))
            del absent[name]
    return made, absent


def _place(tree: dict[str, Any], name: str, leaf: Leaf) -> None:
    *path, last = name.split(".")
    for key in path:
        tree = tree.setdefault(key, {})
    tree[last] = leaf


def schema(quick: bool) -> Any:
    """The kind of document: a rehearsal's is marked, so that it is never published."""
    return f"specdec-sidechannels/{'rehearsal' if quick else 'payload'}/1"
