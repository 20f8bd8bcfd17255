"""Do rounds show on the wire of a server that nobody here wrote?

llama.cpp's server behind nginx, on the weights that all targets here come from, asked through the relay as
our own server is: with drafts looked up in what stands already, and without. It says in its last event how
many drafted tokens it kept, which is what the rounds that a listener counts are held against.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from engine.contract.errors import BadData
from engine.contract.payload import Leaf, Measured, Payload, Rehearsal, State, Statistic, lexeme
from engine.contract.provenance import gather
from engine.decode import registry
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
from engine.spill.attack import Forest, Traces, folds, rotate
from engine.spill.capture import Capture, Frame, by_gap, by_record, capture, gaps
from engine.spill.relay import Relay
from engine.spill.tls import Authority

MODEL = "smollm2"
WAYS = ("plain", "ngram")
KINDS = ("lengths", "bursts", "microseconds")


@dataclass(frozen=True)
class Settings:
    """The frozen configuration; drafts of `draft` tokens are looked up by the last `ngram` ones."""

    root: int = 20261130
    file: str = "spill"
    prompts: int = 10
    runs: int = 12
    test: int = 4
    folds: int = 3
    new_tokens: int = 64
    temperature: float = 0.3
    ngram: int = 2
    draft: int = 4
    gap_milliseconds: int = 3
    resamples: int = 10_000
    level: float = 0.95


QUICK = Settings(root=20261131, file="spill-rehearsal", prompts=3, runs=3, test=1, folds=1, new_tokens=12)


@dataclass
class SpillLlamaCpp:
    """Captures with drafts and without, and attacks on them; one payload."""

    settings: Settings = Settings()
    forest: Forest = field(default_factory=Forest)
    quick: bool = False

    def rehearsal(self) -> SpillLlamaCpp:
        """A few other prompts, short answers."""
        return SpillLlamaCpp(QUICK, replace(self.forest, trees=30), quick=True)

    @cached_property
    def texts(self) -> list[str]:
        """The first of the committed questions."""
        return questions(self.settings.file, self.settings.prompts)

    @property
    def key(self) -> str:
        """Settings, weights, prompts, and the code that listens."""
        prompts = f"engine/experiments/prompts/{self.settings.file}.toml"
        digest = source_digest(["engine/spill/*.py", "engine/experiments/spill_llama_cpp.py", prompts])
        return f"{self.settings} {self.forest} {model_digest(MODEL).sha256} {digest}"

    # tasks

    def tasks(self) -> list[Task]:
        """Captures both ways, an attack on each."""
        each = 0.03 * self.settings.new_tokens * self.settings.prompts * self.settings.runs
        out = [Task(f"captured/{way}", each, partial(self.captured, way=way)) for way in WAYS]
        return [*out, *(Task(f"attack/{way}", 5.0, partial(self.attacked, way=way)) for way in WAYS)]

    def captured(self, _: Documents, *, way: str) -> list[dict[str, Any]]:
        """Every prompt, `runs` times: what a listener sees, and what the server says it kept."""
        from engine.spill.llama_server import LlamaServer

        settings, authority = self.settings, Authority.make()
        found = registry.require(MODEL)
        assert found.member is not None
        gguf = found.folder / found.member.rpartition("/")[2]
        ngram = (settings.ngram, settings.draft) if way == "ngram" else None
        context, out = authority.client_context(), []
        with ExitStack() as stack:
            server = stack.enter_context(LlamaServer(gguf, authority, ngram))
            relay = stack.enter_context(Relay(server.port))
            for prompt, text in enumerate(self.texts):
                for run in range(settings.runs):
                    seed = 1 + prompt * settings.runs + run
                    one = capture(relay, context, self.body(text, seed))
                    out.append({"prompt": prompt, "run": run} | self._seen(one))
        return out

    def body(self, text: str, seed: int) -> dict[str, Any]:
        """One request; nothing is kept of those before it."""
        return {
            "messages": [{"role": "user", "content": text}],
            "stream": True,
            "max_tokens": self.settings.new_tokens,
            "temperature": self.settings.temperature,
            "top_k": 0,
            "top_p": 1,
            "min_p": 0,
            "seed": seed,
            "cache_prompt": False,
        }

    def _seen(self, found: Capture) -> dict[str, Any]:
        timings = next((e["timings"] for e in reversed(found.answer.events) if "timings" in e), None)
        if found.answer.status != 200 or not found.answer.whole or timings is None:
            raise BadData("llama.cpp's server", f"answers {found.answer.status}, not whole.", "Run it again.")
        records = Frame.learn(found).rounds(found)
        grouped = by_gap(records, self.settings.gap_milliseconds / 1000)
        tokens = int(timings["predicted_n"])
        rounds = tokens - int(timings.get("draft_n_accepted", 0))
        return {
            "tokens": tokens,
            "rounds": rounds,
            "records": len(records),
            "groups": len(grouped),
            "wrong": abs(len(grouped) - rounds),
            "lengths": [group.length for group in by_record(records)],
            "bursts": [group.length for group in grouped],
            "microseconds": gaps(grouped),
        }

    def attacked(self, documents: Documents, *, way: str) -> dict[str, Any]:
        """The attack on lengths of records, on those of bursts, and on times alone."""
        rows, settings, out = documents[f"captured/{way}"], self.settings, {}
        labels, runs = (np.array([row[name] for row in rows]) for name in ("prompt", "run"))
        turns = folds(range(settings.runs), settings.test, settings.folds)
        for kind in KINDS:
            vectors = np.zeros((len(rows), settings.new_tokens), np.int64)
            for vector, row in zip(vectors, rows, strict=True):
                kept = row[kind][: settings.new_tokens]
                vector[: len(kept)] = kept
            hits = rotate(
                Traces(vectors, labels, runs),
                turns,
                self.forest,
                root=settings.root,
                cell=f"llama-cpp/{way}/{kind}",
                prompts=settings.prompts,
            )
            out[kind] = plain(hits)
        return out

    # payload

    def payloads(self, documents: Documents) -> Sequence[Payload]:
        """Records a token, rounds read by gap, and the attacks, with drafts and without."""
        from engine.spill.llama_server import proxy_version

        settings, columns = self.settings, Columns(self.settings.prompts)
        wanted: list[tuple[str, str, Statistic]] = []
        for way in WAYS:
            self._counted(columns, way, documents[f"captured/{way}"])
            for name in ("tokens", "records", "rounds", "groups"):
                wanted.append((f"{way}.{name}", name, summed(f"{way}_{name}")))
            wanted.append(
                (f"{way}.tokens_a_round", "tokens a round", ratio(f"{way}_tokens", f"{way}_rounds"))
            )
            wanted.append(
                (f"{way}.tokens_a_record", "tokens a record", ratio(f"{way}_tokens", f"{way}_records"))
            )
            wanted.append((f"{way}.error", "share of rounds", ratio(f"{way}_wrong", f"{way}_rounds")))
            for kind, found in documents[f"attack/{way}"].items():
                columns.hits(f"{way}_{kind}", found)
                wanted.append((f"{way}.{kind}.accuracy", UNIT, accuracy(f"{way}_{kind}")))
                if way != "plain":
                    wanted.append((f"{way}.{kind}.excess", UNIT, excess(f"{way}_{kind}", f"plain_{kind}")))
        made, absent = results(wanted, columns.table(settings.root, settings.resamples, settings.level))
        made["chance"] = Leaf(value=lexeme(1 / settings.prompts), unit=UNIT)
        for way in WAYS:
            _mark(made.get(way, {}))
        kind_: type[Measured] = Rehearsal if self.quick else Measured
        return [
            kind_(
                schema=schema(self.quick),
                name="spill/llama-cpp",
                question="Do rounds show on the wire of a server that nobody here wrote?",
                regime={
                    "target": registry.entry(MODEL).title,
                    "precision": "Q4_1",
                    "device": "CPU",
                    "server": "llama.cpp's, as xllamacpp packages it",
                    "wire": f"nginx {proxy_version()}, unbuffered, TLS 1.3 on loopback",
                },
                config=shown(settings) | {"forest": shown(self.forest)},
                seeds={"root": settings.root},
                provenance=gather(
                    command("spill-llama-cpp", quick=self.quick),
                    packages=("numpy", "scikit-learn", "xllamacpp"),
                    models=[model_digest(MODEL)],
                    inputs=[f"engine/experiments/prompts/{settings.file}.toml"],
                ),
                results=made,
                absent=absent or None,
                state=State(columns=columns.names, rows=columns.rows),
            )
        ]

    def _counted(self, columns: Columns, way: str, rows: Sequence[dict[str, Any]]) -> None:
        """Columns of whole numbers of one set of captures, added up by prompt."""
        for name in ("tokens", "records", "rounds", "groups", "wrong"):
            totals = [0] * self.settings.prompts
            for row in rows:
                totals[row["prompt"]] += row[name]
            columns.add(f"{way}_{name}", totals)


def _mark(found: dict[str, Any]) -> None:
    """Mark what depends on this machine's clock: how records fall together, and what is read from times."""
    for name in ("records", "groups", "tokens_a_record", "error"):
        if name in found:
            found[name] = found[name].model_copy(update={"machine": True})
    for kind in KINDS:
        for name, leaf in found.get(kind, {}).items():
            found[kind][name] = leaf.model_copy(update={"machine": True})
