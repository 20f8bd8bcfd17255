"""Does the packet stream tell which prompt was asked, and is it speculation that tells?

A forest is trained on traces of fifty prompts and tested on fresh ones; every cell is read beside its
controls: plain decoding, equal length, total length, shuffled rounds, shuffled labels. Traces come from the
files of `spill-traces`; nothing is decoded here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from itertools import product
from typing import Any, Literal

import numpy as np

from engine.contract.payload import Leaf, Measured, Payload, Rehearsal, State, Statistic, lexeme
from engine.contract.provenance import gather
from engine.contract.seeds import Stream
from engine.experiments.settings import command, shown
from engine.experiments.spill_listener import (
    UNIT,
    Columns,
    accuracy,
    excess,
    plain,
    results,
    schema,
    tag,
)
from engine.experiments.spill_planted import Study
from engine.experiments.spill_planted import payload as power_payload
from engine.run import Documents, Task, source_digest
from engine.spill.attack import Forest, Hits, Traces, attack, folds, rotate
from engine.spill.controls import equal_length, shuffled_labels, shuffled_rounds, total

Kind = Literal["bytes", "counts"]
KINDS: tuple[Kind, ...] = ("bytes", "counts")
SETS = {"exp1": "questions", "exp2": "template", "exp3": "rephrased"}
QUESTIONS = {
    "exp1": "Does the packet stream tell which of fifty known prompts was asked?",
    "exp2": "Does it, where all prompts have one form?",
    "exp3": "Does it, where the prompts are asked in other words than those the listener learned from?",
}
CONTROL = {"lade": "plain-short", "bild": "plain-short"}
"""The no-speculation control of each scheme; `plain` where none is named."""
CODE = ("engine/spill/attack.py", "engine/spill/controls.py", "engine/experiments/spill_*.py")


@dataclass(frozen=True)
class Settings:
    """The frozen configuration."""

    root: int = 20261130
    prompts: int = 50
    schemes: tuple[str, ...] = ("plain", "lookup", "draft", "rest", "eagle")
    short_schemes: tuple[str, ...] = ("lade", "bild")
    lowest: float = 0.3  # the temperature of curves and shuffled labels
    test: int = 5
    folds: int = 7
    short_folds: int = 3
    short_tokens: int = 48
    short_train: int = 10
    first_test: int = 30
    fewest_rounds: int = 8
    shuffles: int = 20
    curve_traces: tuple[int, ...] = (2, 5, 10, 20, 30)
    curve_classes: tuple[int, ...] = (5, 10, 25, 50)
    resamples: int = 10_000
    level: float = 0.95


QUICK = Settings(
    prompts=6,
    test=2,
    folds=1,
    short_folds=1,
    short_tokens=24,
    short_train=4,
    fewest_rounds=4,
    shuffles=2,
    curve_traces=(2, 4),
    curve_classes=(3, 6),
)


@dataclass(frozen=True)
class Cell:
    """One reading: which experiment, scheme, temperature and kind of trace."""

    experiment: str
    scheme: str
    temperature: float
    kind: Kind

    @property
    def name(self) -> str:
        """As documents and random streams are named."""
        return f"{self.experiment}/{self.scheme}/{self.temperature:g}/{self.kind}"

    @property
    def column(self) -> str:
        """As columns of state begin."""
        return f"{self.scheme.replace('-', '_')}_{tag(self.temperature)}"


@dataclass
class SpillAttack:
    """Cells of the attack with their controls, curves, and what a design of this size can see."""

    settings: Settings = Settings()
    forest: Forest = field(default_factory=Forest)
    study: Study = field(default_factory=Study)
    quick: bool = False
    traces: Any = None
    """The experiment that makes the traces; `SpillTraces` unless another is given."""
    _sets: dict[tuple[str, str, float], Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.traces is None:
            from engine.experiments.spill_traces import SpillTraces

            self.traces = SpillTraces(quick=True) if self.quick else SpillTraces()

    def rehearsal(self) -> SpillAttack:
        """The same on a few other prompts and runs."""
        return SpillAttack(QUICK, replace(self.forest, trees=30), self.study.quick(), quick=True)

    @property
    def key(self) -> str:
        """Settings, the traces' own key, and this code's."""
        chosen = [asdict(each) for each in (self.settings, self.forest, self.study)]
        return f"{chosen} {self.traces.key} {source_digest(CODE)}"

    # tasks

    def tasks(self) -> list[Task]:
        """The traces' own tasks, then every cell, the curves, and the planted studies."""
        out = [replace(task, owner=("spill-traces", self.traces.key)) for task in self.traces.tasks()]
        for cell in self.cells():
            cost = 20.0 if cell.experiment != "exp3" else 4.0
            out.append(Task(f"cell/{cell.name}", cost, partial(self.read, cell=cell)))
        for scheme in (*self.settings.schemes, *self.settings.short_schemes):
            out.append(Task(f"labels/{scheme}", 16.0, partial(self.labels, scheme=scheme)))
            out.append(Task(f"curves/{scheme}", 10.0, partial(self.curves, scheme=scheme)))
        out.append(Task("planted", 3.0, self.planted))
        for share in self.study.all_shares:
            out.append(Task(f"power/{share:g}", 110.0, partial(self.power, share=share)))
        return out

    def cells(self) -> list[Cell]:
        """A reading of every set of traces there is, and the control of those that are short."""
        there = set(self.traces.cells())
        out = []
        for experiment, kind in product(SETS, KINDS):
            prompts = {SETS[experiment], "questions"} if experiment == "exp3" else {SETS[experiment]}
            for scheme in (*self.settings.schemes, *self.settings.short_schemes, "plain-short"):
                like = self.settings.short_schemes[0] if scheme == "plain-short" else scheme
                for temperature in sorted({t for s, _, t in there if s == like}):
                    if all((like, each, temperature) in there for each in prompts):
                        out.append(Cell(experiment, scheme, temperature, kind))
        return out

    def gathered(self, documents: Documents, cell: Cell) -> Traces:
        """The vectors of one cell; of rephrased prompts, trained on the questions as they were."""
        if cell.experiment != "exp3":
            return self._traces(documents, cell, SETS[cell.experiment])
        asked, said = (self._traces(documents, cell, name) for name in ("questions", "rephrased"))
        asked, said = (
            asked.take(asked.runs < self.settings.first_test),
            said.take(said.runs >= self.settings.first_test),
        )
        return Traces(
            np.concatenate([asked.vectors, said.vectors]),
            np.concatenate([asked.prompts, said.prompts]),
            np.concatenate([asked.runs, said.runs]),
        )

    def _traces(self, documents: Documents, cell: Cell, prompts: str) -> Traces:
        scheme = "plain" if cell.scheme == "plain-short" else cell.scheme
        at = (scheme, prompts, cell.temperature)
        if at not in self._sets:
            self._sets[at] = self.traces.trace_set(documents, *at)
        found = self._sets[at]
        length = found.new_tokens if cell.scheme != "plain-short" else self.settings.short_tokens
        made = Traces(found.vectors(cell.kind, length), found.labels(), found.runs())
        if cell.scheme != "plain-short":
            return made
        few = (made.runs < self.settings.short_train) | (made.runs >= self.settings.first_test)
        return made.take(few)

    def read(self, documents: Documents, *, cell: Cell) -> dict[str, Any]:
        """Hits by prompt: whole traces, cut to one length, rounds shuffled (one fold), total length alone."""
        traces = self.gathered(documents, cell)
        cut = equal_length(traces, self.settings.fewest_rounds)
        mixed = shuffled_rounds(traces, Stream(self.settings.root, f"rounds/{cell.name}"))
        return {
            "whole": plain(self._told(traces, cell, "whole")),
            "equal": plain(self._told(cut.traces, cell, "equal")),
            "order": plain(self._told(mixed, cell, "order", 1)),
            "total": plain(self._told(total(traces), cell, "total")),
            "equal_rounds": cut.rounds,
            "left_out": cut.left_out,
        }

    def _told(self, traces: Traces, cell: Cell, control: str, count: int | None = None) -> Hits:
        settings = self.settings
        short = cell.scheme in settings.short_schemes or cell.scheme == "plain-short"
        turns = 1 if cell.experiment == "exp3" else settings.short_folds if short else settings.folds
        made = folds(np.unique(traces.runs).tolist(), settings.test, count or turns)
        name = f"{cell.name}/{control}"
        return rotate(traces, made, self.forest, root=settings.root, cell=name, prompts=settings.prompts)

    def _first(self, documents: Documents, scheme: str) -> tuple[Cell, Traces, Traces]:
        """The byte traces of experiment one at the lowest temperature: to train and to test."""
        cell = Cell("exp1", scheme, self.settings.lowest, "bytes")
        traces = self.gathered(documents, cell)
        fold = folds(np.unique(traces.runs).tolist(), self.settings.test, 1)[0]
        return cell, traces.of_runs(fold.train), traces.of_runs(fold.test)

    def _attack(self, train: Traces, test: Traces, name: str) -> Hits:
        stream = Stream(self.settings.root, f"attack/{name}")
        return attack(train, test, self.forest, stream, self.settings.prompts)

    def labels(self, documents: Documents, *, scheme: str) -> dict[str, Any]:
        """Hits of attackers whose labels were dealt out anew, added up."""
        cell, train, test = self._first(documents, scheme)
        nothing = np.zeros(self.settings.prompts, np.int64)
        found = Hits(nothing, nothing)
        for turn in range(self.settings.shuffles):
            name = f"{cell.name}/labels/{turn}"
            dealt = shuffled_labels(train, Stream(self.settings.root, f"deal/{name}"))
            found += self._attack(dealt, test, name)
        return plain(found)

    def curves(self, documents: Documents, *, scheme: str) -> dict[str, Any]:
        """Hits with fewer traces to train on, and with fewer prompts to choose among."""
        cell, train, test = self._first(documents, scheme)
        runs, out = np.unique(train.runs).tolist(), dict[str, Any]()
        for count in self.settings.curve_traces:
            if count <= len(runs):
                fewer = train.of_runs(runs[:count])
                out[f"traces_{count}"] = plain(self._attack(fewer, test, f"{cell.name}/traces/{count}"))
        for count in self.settings.curve_classes:
            out[f"classes_{count}"] = plain(self._among(cell, train, test, count))
        return out

    def _among(self, cell: Cell, train: Traces, test: Traces, count: int) -> Hits:
        """Attacks on disjoint groups of `count` prompts, so that every prompt is tested."""
        nothing = np.zeros(self.settings.prompts, np.int64)
        found = Hits(nothing, nothing)
        for first in range(0, self.settings.prompts, count):
            one, two = (t.take((t.prompts >= first) & (t.prompts < first + count)) for t in (train, test))
            found += self._attack(one, two, f"{cell.name}/classes/{count}/{first}")
        return found

    def planted(self, documents: Documents) -> dict[str, Any]:
        """The harness on the control's traces dealt out anew, and on the same with the answer beside them."""
        cell, train, test = self._first(documents, "plain")
        out = {}
        for name, answer in (("none", 0), ("full", 1)):
            pair = []
            for part, traces in (("train", train), ("test", test)):
                order = Stream(self.settings.root, f"planted/{part}").permutation(len(traces.prompts))
                column = (answer * (traces.prompts + 1))[:, None]
                mixed = np.concatenate([traces.vectors[order], np.repeat(column, 8, axis=1)], axis=1)
                pair.append(Traces(mixed, traces.prompts, traces.runs))
            out[name] = plain(self._attack(pair[0], pair[1], f"{cell.name}/planted/{name}"))
        return out

    def power(self, _: Documents, *, share: float) -> list[list[int]]:
        """Whole studies with a leak of known size: hits with and without it, a row a study and prompt."""
        return self.study.run(share, self.forest, self.settings.root)

    # payloads

    def payloads(self, documents: Documents) -> Sequence[Payload]:
        """A payload an experiment and kind of trace, then controls, curves, and the planted studies."""
        out = [self._reading(documents, experiment, kind) for experiment, kind in product(SETS, KINDS)]
        out.append(self._controls(documents))
        out.append(self._curves(documents))
        out.append(power_payload(self.study, documents, self))
        return out

    def _reading(self, documents: Documents, experiment: str, kind: Kind) -> Measured:
        columns, named = Columns(self.settings.prompts), list[tuple[str, str, Statistic]]()
        numbers: dict[str, dict[str, Any]] = {}
        for cell in (c for c in self.cells() if (c.experiment, c.kind) == (experiment, kind)):
            found = documents[f"cell/{cell.name}"]
            for control in ("whole", "equal", "order", "total"):
                columns.hits(f"{cell.column}_{control}", found[control])
            named += self._named(cell)
            place = numbers.setdefault(_field(cell.scheme), {}).setdefault(tag(cell.temperature), {})
            place["equal_rounds"] = Leaf(value=found["equal_rounds"], unit="rounds")
            place["left_out"] = Leaf(value=found["left_out"], unit="traces")
        return self.measured(f"attack-{experiment}-{kind}", QUESTIONS[experiment], columns, named, numbers)

    def _named(self, cell: Cell) -> Iterator[tuple[str, str, Statistic]]:
        """What is told of one cell: accuracies, and how far they lie above controls."""
        at, column = f"{_field(cell.scheme)}.{tag(cell.temperature)}", cell.column
        for control in ("whole", "equal", "order", "total"):
            yield f"{at}.{control}", UNIT, accuracy(f"{column}_{control}")
        yield f"{at}.over_total", UNIT, excess(f"{column}_whole", f"{column}_total")
        if not cell.scheme.startswith("plain"):
            over = replace(cell, scheme=CONTROL.get(cell.scheme, "plain")).column
            yield f"{at}.excess", UNIT, excess(f"{column}_whole", f"{over}_whole")
            yield f"{at}.equal_excess", UNIT, excess(f"{column}_equal", f"{over}_equal")

    def _controls(self, documents: Documents) -> Measured:
        columns, named = Columns(self.settings.prompts), list[tuple[str, str, Statistic]]()
        for scheme in (*self.settings.schemes, *self.settings.short_schemes):
            columns.hits(f"{scheme}_labels", documents[f"labels/{scheme}"])
            named.append((f"labels.{scheme}", UNIT, accuracy(f"{scheme}_labels")))
        for name, found in documents["planted"].items():
            columns.hits(f"planted_{name}", found)
            named.append((f"planted.{name}", UNIT, accuracy(f"planted_{name}")))
        question = "Does the attacker find nothing where nothing is, and everything where all is told?"
        return self.measured("attack-controls", question, columns, named, {})

    def _curves(self, documents: Documents) -> Measured:
        columns, named = Columns(self.settings.prompts), list[tuple[str, str, Statistic]]()
        for scheme in (*self.settings.schemes, *self.settings.short_schemes):
            for name, found in documents[f"curves/{scheme}"].items():
                columns.hits(f"{scheme}_{name}", found)
                named.append((f"{scheme}.{name}", UNIT, accuracy(f"{scheme}_{name}")))
        question = "How many traces does the listener need, and how does the number of prompts matter?"
        return self.measured("attack-curves", question, columns, named, {})

    def measured(
        self,
        name: str,
        question: str,
        columns: Columns,
        named: Sequence[tuple[str, str, Statistic]],
        numbers: dict[str, Any],
    ) -> Measured:
        """One payload from its columns and what is told of them; `numbers` stand beside the estimates."""
        settings = self.settings
        made, absent = results(named, columns.table(settings.root, settings.resamples, settings.level))
        _merge(made, numbers | {"chance": Leaf(value=lexeme(1 / settings.prompts), unit=UNIT)})
        kind: type[Measured] = Rehearsal if self.quick else Measured
        return kind(
            schema=schema(self.quick),
            name=f"spill/{name}",
            question=question,
            regime={
                "target": "SmolLM2-135M-Instruct",
                "precision": "fp32",
                "device": "CPU",
                "attacker": "random forest on raw vectors, trained on traces of the same kind",
            },
            config=self._config(),
            seeds={"root": settings.root},
            provenance=gather(
                command("spill-attack", quick=self.quick),
                packages=("numpy", "scikit-learn"),
                models=[],
                inputs=["engine/experiments/prompts/spill.toml"],
            ),
            results=made,
            absent=absent or None,
            state=State(columns=columns.names, rows=columns.rows),
        )

    def _config(self) -> dict[str, Any]:
        return shown(self.settings) | {"forest": shown(self.forest)}


def _field(scheme: str) -> str:
    return scheme.replace("-", "_")


def _merge(tree: dict[str, Any], more: dict[str, Any]) -> None:
    for key, value in more.items():
        if isinstance(value, dict):
            _merge(tree.setdefault(key, {}), value)
        else:
            tree[key] = value
