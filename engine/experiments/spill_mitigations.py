"""What hides the rounds, and what does it cost in bytes and in waiting?

Every answer of the traces is sent again, on paper, under each mitigation: the events are those of the
server, their lengths those of TLS records (`spill-wire` holds both against a capture). A fresh attacker is
trained on what a listener would see. Delay is counted in rounds (for a constant rate, in ticks of one round).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property, partial
from itertools import accumulate, pairwise
from typing import Any

import numpy as np

from engine.contract.payload import Leaf, Measured, Payload, Rehearsal, State, Statistic, lexeme
from engine.contract.provenance import gather
from engine.contract.seeds import Stream
from engine.experiments.settings import command, shown
from engine.experiments.spill_attack import CODE
from engine.experiments.spill_listener import (
    UNIT,
    Columns,
    accuracy,
    excess,
    plain,
    ratio,
    results,
    schema,
    tag,
)
from engine.run import Documents, Task, source_digest
from engine.spill.attack import Forest, Traces, folds, rotate
from engine.spill.controls import equal_length, total
from engine.spill.deltas import Deltas
from engine.spill.mitigate import Mitigation, size_of
from engine.spill.mitigate_sizes import seen, tight, vectors
from engine.spill.traces import Trace, TraceSet

TIGHT = "fixed:tight"


@dataclass(frozen=True)
class Settings:
    """The frozen configuration."""

    root: int = 20261130
    prompts: int = 50
    schemes: tuple[str, ...] = ("plain", "lookup", "draft", "rest", "eagle", "lade", "bild")
    temperatures: tuple[float, ...] = (0.3, 1.0)
    mitigations: tuple[str, ...] = (
        "none",
        "token",
        TIGHT,
        "fixed:1024",
        "random:6",
        "random:12",
        "random:24",
        "random:48",
        "aggregate:3",
        "aggregate:5",
        "aggregate:10",
        "aggregate:20",
        "constant:16",
        "obfuscation:32",
    )
    tight_step: int = 16
    test: int = 5
    first_test: int = 30
    bursts: int = 64  # how many a listener keeps of an answer
    fewest_bursts: int = 3
    resamples: int = 10_000
    level: float = 0.95


QUICK = Settings(
    prompts=6, test=2, bursts=24, mitigations=("none", "token", TIGHT, "random:48", "aggregate:5")
)


@dataclass
class SpillMitigations:
    """A task a scheme, temperature and mitigation; a payload a scheme and temperature."""

    settings: Settings = Settings()
    forest: Forest = field(default_factory=Forest)
    quick: bool = False
    traces: Any = None
    """The experiment that makes the traces; `SpillTraces` unless another is given."""
    _pieces: dict[tuple[int, ...], list[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.traces is None:
            from engine.experiments.spill_traces import SpillTraces

            self.traces = SpillTraces(quick=True) if self.quick else SpillTraces()

    def rehearsal(self) -> SpillMitigations:
        """The same on a few other prompts and runs."""
        return SpillMitigations(QUICK, replace(self.forest, trees=30), quick=True)

    @cached_property
    def chat(self) -> Any:
        """The tokenizer of the target."""
        from engine.decode.models import load_chat

        return load_chat("smollm2")

    @property
    def key(self) -> str:
        """Settings, the traces' own key, and this code's."""
        files = [*CODE, "engine/spill/mitigate*.py", "engine/spill/server_events.py"]
        return f"{asdict(self.settings)} {asdict(self.forest)} {self.traces.key} {source_digest(files)}"

    def tasks(self) -> list[Task]:
        """The traces' own tasks, then every mitigation of every scheme and temperature."""
        out = [replace(task, owner=("spill-traces", self.traces.key)) for task in self.traces.tasks()]
        for scheme, temperature in self.pairs():
            for name in self.settings.mitigations:
                work = partial(self.judge, scheme=scheme, temperature=temperature, name=name)
                out.append(Task(f"defended/{scheme}/{temperature:g}/{name}", 5.0, work))
        return out

    def pairs(self) -> list[tuple[str, float]]:
        """Schemes and temperatures for which there are traces of the questions."""
        there = set(self.traces.cells())
        wanted = ((s, t) for s in self.settings.schemes for t in self.settings.temperatures)
        return [(s, t) for s, t in wanted if (s, "questions", t) in there]

    def judge(self, documents: Documents, *, scheme: str, temperature: float, name: str) -> dict[str, Any]:
        """By prompt: hits of a fresh attacker, bytes sent, bytes of text, byte-rounds of waiting."""
        found = self.traces.trace_set(documents, scheme, "questions", temperature)
        rounds = [self.texts(trace) for trace in found.traces]
        mitigation = self.chosen(name, found, rounds)
        cell = f"{scheme}/{temperature:g}/{name}"
        answers = [
            seen(pieces, mitigation, Stream(self.settings.root, f"filling/{cell}/{trace.prompt}/{trace.run}"))
            for trace, pieces in zip(found.traces, rounds, strict=True)
        ]
        traces = Traces(vectors(answers, mitigation, self.settings.bursts), found.labels(), found.runs())
        lengths = Traces(np.array([[answer.sent] for answer in answers]), traces.prompts, traces.runs)
        width = 2 if mitigation.by_token else 1
        cut = equal_length(traces, width * self.settings.fewest_bursts)
        cost = np.zeros((3, self.settings.prompts), np.int64)
        for answer, prompt in zip(answers, traces.prompts.tolist(), strict=True):
            cost[:, prompt] += (answer.sent, answer.text, answer.waited)
        return {
            "mitigation": str(mitigation),
            "whole": self._told(traces, f"{cell}/whole"),
            "equal": self._told(cut.traces, f"{cell}/equal"),
            "total": self._told(total(lengths), f"{cell}/total"),
            "equal_bursts": cut.rounds // width,
            "left_out": cut.left_out,
            "sent": cost[0].tolist(),
            "text": cost[1].tolist(),
            "waited": cost[2].tolist(),
        }

    def texts(self, trace: Trace) -> list[list[str]]:
        """The texts of an answer's tokens, by round, as the server would push them."""
        if trace.tokens not in self._pieces:
            deltas = Deltas(self.chat)
            pieces = [deltas.push((token,)) for token in trace.tokens]
            if rest := deltas.finish():
                pieces[-1] += rest
            self._pieces[trace.tokens] = pieces
        pieces, ends = self._pieces[trace.tokens], [0, *accumulate(trace.counts)]
        return [pieces[start:end] for start, end in pairwise(ends)]

    def chosen(self, name: str, found: TraceSet, rounds: Sequence[Sequence[Sequence[str]]]) -> Mitigation:
        """The mitigation of a name; the tight size is that of the largest round among training answers."""
        if name != TIGHT:
            return Mitigation.parse(name)
        sizes = [
            sum(size_of(piece) for piece in pieces)
            for trace, answer in zip(found.traces, rounds, strict=True)
            if trace.run < self.settings.first_test
            for pieces in answer
        ]
        return Mitigation("fixed", tight(sizes, self.settings.tight_step))

    def _told(self, traces: Traces, cell: str) -> dict[str, Any]:
        turns = folds(np.unique(traces.runs).tolist(), self.settings.test, 1)
        root = self.settings.root
        return plain(rotate(traces, turns, self.forest, root=root, cell=cell, prompts=self.settings.prompts))

    # payloads

    def payloads(self, documents: Documents) -> Sequence[Payload]:
        """One a scheme and temperature."""
        return [self._payload(documents, *pair) for pair in self.pairs()]

    def _payload(self, documents: Documents, scheme: str, temperature: float) -> Measured:
        settings, columns = self.settings, Columns(self.settings.prompts)
        named, numbers = list[tuple[str, str, Statistic]](), dict[str, dict[str, Any]]()
        for name in settings.mitigations:
            for who in dict.fromkeys((scheme, "plain")):
                found, at = documents[f"defended/{who}/{temperature:g}/{name}"], f"{who}_{_field(name)}"
                for control in ("whole", "equal", "total"):
                    columns.hits(f"{at}_{control}", found[control])
                for cost in ("sent", "text", "waited"):
                    columns.add(f"{at}_{cost}", found[cost])
            found = documents[f"defended/{scheme}/{temperature:g}/{name}"]
            numbers[_field(name)] = {
                "equal_bursts": Leaf(value=found["equal_bursts"], unit="bursts"),
                "left_out": Leaf(value=found["left_out"], unit="traces"),
                "size": Leaf(value=Mitigation.parse(found["mitigation"]).size, unit="size"),
            }
            named += self._named(scheme, name)
        made, absent = results(named, columns.table(settings.root, settings.resamples, settings.level))
        for name, values in numbers.items():
            made.setdefault(name, {}).update(values)
        made["chance"] = Leaf(value=lexeme(1 / settings.prompts), unit=UNIT)
        kind: type[Measured] = Rehearsal if self.quick else Measured
        return kind(
            schema=schema(self.quick),
            name=f"spill/mitigations-{scheme}-{tag(temperature).replace('_', '-')}",
            question="What hides the rounds from a listener trained on what is left, and what does it cost?",
            regime={
                "target": "SmolLM2-135M-Instruct",
                "scheme": scheme,
                "temperature": lexeme(temperature),
                "attacker": "random forest, trained on defended traces",
                "wire": "record lengths computed from the server's events",
            },
            config=shown(settings) | {"forest": shown(self.forest)},
            seeds={"root": settings.root},
            provenance=gather(
                command("spill-mitigations", quick=self.quick),
                packages=("numpy", "scikit-learn"),
                models=[],
                inputs=["engine/experiments/prompts/spill.toml"],
            ),
            results=made,
            absent=absent or None,
            state=State(columns=columns.names, rows=columns.rows),
        )

    def _named(self, scheme: str, name: str) -> Iterator[tuple[str, str, Statistic]]:
        at, field_ = f"{scheme}_{_field(name)}", _field(name)
        for control in ("whole", "equal", "total"):
            yield f"{field_}.{control}", UNIT, accuracy(f"{at}_{control}")
        yield f"{field_}.over_total", UNIT, excess(f"{at}_whole", f"{at}_total")
        if scheme != "plain":
            yield f"{field_}.excess", UNIT, excess(f"{at}_whole", f"plain_{_field(name)}_whole")
        bare = f"{scheme}_none"
        if name != "none":
            yield f"{field_}.overhead", "times the bytes", ratio(f"{at}_sent", f"{bare}_sent")
        if name.startswith(("aggregate", "constant")):
            yield f"{field_}.delay", "rounds", ratio(f"{at}_waited", f"{at}_text")


def _field(name: str) -> str:
    return name.replace(":", "_")
