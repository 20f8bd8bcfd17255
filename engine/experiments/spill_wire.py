"""Is what a listener reads on the wire what the traces say?

The server runs on loopback over TLS, with the real model, and a relay keeps the lengths and times of records.
Rounds are read back by record (one event a round) and by gap (one event a token), the lengths of records
are held against those computed from the rounds, under every mitigation, and times alone are attacked.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from engine.contract.payload import Leaf, Measured, Payload, Rehearsal, State, Statistic, lexeme
from engine.contract.provenance import gather
from engine.decode.schemes import load
from engine.experiments.acceptance import model_digest
from engine.experiments.settings import command, shown
from engine.experiments.spill_listener import (
    UNIT,
    Columns,
    accuracy,
    excess,
    plain,
    questions,
    ratio,
    results,
    schema,
    summed,
)
from engine.run import Documents, Task, source_digest
from engine.spill.attack import Forest, Hits, Traces, folds, rotate
from engine.spill.capture import Capture, Frame, by_gap, by_record, capture, differing, gaps, recovery
from engine.spill.mitigate import Mitigation
from engine.spill.relay import Relay
from engine.spill.server import Served, Service
from engine.spill.server import Settings as Serving
from engine.spill.server_events import Framing, Head
from engine.spill.server_running import Running
from engine.spill.tls import Authority

WAYS = ("none", "token")


@dataclass(frozen=True)
class Settings:
    """The frozen configuration."""

    root: int = 20261130
    file: str = "spill"
    prompts: int = 10
    runs: int = 12
    test: int = 4
    folds: int = 3
    new_tokens: int = 32
    temperature: float = 0.3
    schemes: tuple[str, ...] = ("plain", "lookup", "draft")
    gap_milliseconds: int = 5
    period: float = 0.1
    mitigations: tuple[str, ...] = (
        "fixed:1024",
        "fixed:64",
        "random:48",
        "aggregate:5",
        "constant:16",
        "obfuscation:32",
    )
    resamples: int = 10_000
    level: float = 0.95


QUICK = Settings(
    root=20261131,
    file="spill-rehearsal",
    prompts=3,
    runs=3,
    test=1,
    folds=1,
    new_tokens=12,
    schemes=("plain", "lookup"),
)


@dataclass
class SpillWire:
    """A task a scheme and way of sending, one a mitigation; one payload."""

    settings: Settings = Settings()
    forest: Forest = field(default_factory=Forest)
    quick: bool = False

    def rehearsal(self) -> SpillWire:
        """A few other prompts, short answers."""
        return SpillWire(QUICK, replace(self.forest, trees=30), quick=True)

    @cached_property
    def texts(self) -> list[str]:
        """The first of the committed questions."""
        return questions(self.settings.file, self.settings.prompts)

    @property
    def key(self) -> str:
        """Settings, weights, prompts, and the code that serves, decodes and listens."""
        names = ("smollm2", "smollm2-draft")
        code = ["engine/decode/**/*.py", "engine/spill/*.py", "engine/experiments/spill_wire.py"]
        digest = source_digest([*code, f"engine/experiments/prompts/{self.settings.file}.toml"])
        models = [model_digest(name).sha256 for name in names]
        return f"{asdict(self.settings)} {asdict(self.forest)} {models} {digest}"

    # tasks

    def tasks(self) -> list[Task]:
        """Captures of every scheme, sent both ways, then of every mitigation, then attacks on them."""
        each = 0.12 * self.settings.new_tokens * self.settings.prompts
        out = []
        for scheme in self.settings.schemes:
            for way in WAYS:
                runs = self.settings.runs if way == "none" else 1
                work = partial(self.captured, scheme=scheme, mitigation=way, runs=runs)
                out.append(Task(f"captured/{scheme}/{way}", each * runs, work))
            out.append(Task(f"attack/{scheme}", 5.0, partial(self.attacked, scheme=scheme)))
        for mitigation in self.settings.mitigations:
            work = partial(self.captured, scheme=self.settings.schemes[1], mitigation=mitigation, runs=1)
            out.append(Task(f"captured/{self.settings.schemes[1]}/{mitigation}", each, work))
        return out

    @cached_property
    def schemes(self) -> dict[str, Any]:
        """The ways of decoding, loaded at the first capture."""
        return dict(load(self.settings.schemes))

    @cached_property
    def chat(self) -> Any:
        """The tokenizer of the target."""
        from engine.decode.models import load_chat

        return load_chat("smollm2")

    def captured(self, _: Documents, *, scheme: str, mitigation: str, runs: int) -> list[dict[str, Any]]:
        """Every prompt, `runs` times, over TLS through the relay: what was meant and what a listener saw."""
        settings, authority = self.settings, Authority.make()
        chosen = Mitigation.parse(mitigation)
        serving = Serving(mitigation=chosen, period=settings.period, root=settings.root)
        service = Service(self.schemes[scheme], self.chat, serving)
        out = []
        with ExitStack() as stack:
            running = stack.enter_context(Running(service, authority.server_context()))
            relay = stack.enter_context(Relay(running.port))
            context = authority.client_context()
            frame = Frame.learn(capture(relay, context, self.body(self.texts[0], 0) | {"max_tokens": 1}))
            for prompt, text in enumerate(self.texts):
                for run in range(runs):
                    found = capture(relay, context, self.body(text, 1 + prompt * runs + run))
                    one = self._seen(found, frame, service.served[-1], chosen, scheme)
                    out.append({"prompt": prompt, "run": run} | one)
        return out

    def body(self, text: str, seed: int) -> dict[str, Any]:
        """One request."""
        return {
            "messages": [{"role": "user", "content": text}],
            "stream": True,
            "max_tokens": self.settings.new_tokens,
            "temperature": self.settings.temperature,
            "seed": seed,
        }

    def _seen(
        self, found: Capture, frame: Frame, sent: Served, mitigation: Mitigation, scheme: str
    ) -> dict[str, Any]:
        """Wanted and seen lengths, rounds read back both ways, microseconds between records."""
        records = frame.rounds(found)
        around = Framing.of(Head(sent.id, 1_700_000_000, scheme, mitigation.filling))
        wanted = [around.record(event) for event in sent.events]
        seen = [group.length for group in by_record(records)]
        grouped = by_gap(records, self.settings.gap_milliseconds / 1000)
        read = [group.records for group in grouped] if mitigation.by_token else [1] * len(records)
        truth = sent.counts if mitigation.by_token else [1] * len(sent.counts)
        rounds = recovery(truth, read)
        return {
            "records": len(wanted),
            "mismatched": differing(wanted, seen),
            "rounds": rounds.rounds,
            "wrong": rounds.wrong,
            "lengths": seen,
            "microseconds": gaps(grouped),
            "sent": sum(seen),
            "whole": found.answer.text == "".join(sent.pieces),
        }

    def attacked(self, documents: Documents, *, scheme: str) -> dict[str, Any]:
        """The attack on captured lengths, and on times alone."""
        rows = documents[f"captured/{scheme}/none"]
        out = {}
        for kind in ("lengths", "microseconds"):
            vectors = np.zeros((len(rows), self.settings.new_tokens), np.int64)
            for vector, row in zip(vectors, rows, strict=True):
                vector[: len(row[kind])] = row[kind]
            labels, runs = (np.array([row[name] for row in rows]) for name in ("prompt", "run"))
            out[kind] = plain(self._told(Traces(vectors, labels, runs), f"wire/{scheme}/{kind}"))
        return out

    def _told(self, traces: Traces, cell: str) -> Hits:
        settings = self.settings
        turns = folds(range(settings.runs), settings.test, settings.folds)
        return rotate(traces, turns, self.forest, root=settings.root, cell=cell, prompts=settings.prompts)

    # payloads

    def payloads(self, documents: Documents) -> Sequence[Payload]:
        """One payload: recovery, lengths, the attack on sizes and on times, and mitigations on the wire."""
        settings, columns = self.settings, Columns(self.settings.prompts)
        named_: list[tuple[str, str, Statistic]] = []
        for scheme in settings.schemes:
            for way in WAYS:
                at = f"{scheme}_{way}"
                self._counted(columns, at, documents[f"captured/{scheme}/{way}"])
                field_ = "by_record" if way == "none" else "by_gap"
                named_.append((f"{scheme}.{field_}.rounds", "rounds", summed(f"{at}_rounds")))
                named_.append((f"{scheme}.{field_}.wrong", "rounds", summed(f"{at}_wrong")))
                named_.append(
                    (f"{scheme}.{field_}.error", "share of rounds", ratio(f"{at}_wrong", f"{at}_rounds"))
                )
                named_.append((f"{scheme}.{field_}.mismatched", "records", summed(f"{at}_mismatched")))
            for kind, found in documents[f"attack/{scheme}"].items():
                columns.hits(f"{scheme}_{kind}", found)
                named_.append((f"{scheme}.{kind}.accuracy", UNIT, accuracy(f"{scheme}_{kind}")))
                if scheme != "plain":
                    over = excess(f"{scheme}_{kind}", f"plain_{kind}")
                    named_.append((f"{scheme}.{kind}.excess", UNIT, over))
        for mitigation in settings.mitigations:
            at = mitigation.replace(":", "_")
            self._counted(columns, at, documents[f"captured/{settings.schemes[1]}/{mitigation}"])
            named_.append((f"mitigations.{at}.mismatched", "records", summed(f"{at}_mismatched")))
            named_.append((f"mitigations.{at}.records", "records", summed(f"{at}_records")))
        made, absent = results(named_, columns.table(settings.root, settings.resamples, settings.level))
        made["chance"] = Leaf(value=lexeme(1 / settings.prompts), unit=UNIT)
        _mark(made)
        kind_: type[Measured] = Rehearsal if self.quick else Measured
        return [
            kind_(
                schema=schema(self.quick),
                name="spill/wire",
                question="Is what a listener reads on the wire what the traces say?",
                regime={
                    "target": "SmolLM2-135M-Instruct",
                    "precision": "fp32",
                    "device": "CPU",
                    "wire": "TLS 1.3 on loopback, server-sent events, one HTTP chunk a record",
                },
                config=shown(settings) | {"forest": shown(self.forest)},
                seeds={"root": settings.root},
                provenance=gather(
                    command("spill-wire", quick=self.quick),
                    packages=("numpy", "scikit-learn", "torch", "uvicorn", "starlette"),
                    models=[model_digest(name) for name in ("smollm2", "smollm2-draft")],
                    inputs=[f"engine/experiments/prompts/{settings.file}.toml"],
                ),
                results=made,
                absent=absent or None,
                state=State(columns=columns.names, rows=columns.rows),
            )
        ]

    def _counted(self, columns: Columns, at: str, rows: Sequence[dict[str, Any]]) -> None:
        """Columns of whole numbers of one set of captures, added up by prompt."""
        for name in ("records", "mismatched", "rounds", "wrong"):
            totals = [0] * self.settings.prompts
            for row in rows:
                totals[row["prompt"]] += row[name]
            columns.add(f"{at}_{name}", totals)


def _mark(made: dict[str, Any]) -> None:
    """Mark what depends on this machine's clock: rounds read from gaps, and attacks on times."""
    for scheme in made.values():
        for part in ("by_gap", "microseconds") if isinstance(scheme, dict) else ():
            for name, leaf in scheme.get(part, {}).items():
                if name != "rounds":
                    scheme[part][name] = leaf.model_copy(update={"machine": True})
