"""What does each scheme send, round by round?

The target answers every prompt many times at every temperature; the rounds of the lossless schemes follow
from those answers by replay, lookahead's by passes over its window. The big-little decoder, which is lossy,
writes answers of its own, live and many at a time. Each set of traces becomes a file with a digest, beside
the run's documents; the payload says how long rounds are and how many answers differ.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from engine.contract.payload import Leaf, Measured, ModelDigest, Payload, Rehearsal, State, Statistic
from engine.contract.provenance import gather
from engine.contract.seeds import Stream
from engine.decode.registry import cache_home, entry
from engine.experiments.acceptance import evaluate, model_digest
from engine.experiments.prompts import Prompt, named
from engine.experiments.settings import command
from engine.run import Documents, Task, source_digest
from engine.spill import traces as files
from engine.spill.traces import Trace, TraceSet
from engine.stats.statistic import Table

REPLAYED = ("plain", "lookup", "draft", "rest", "eagle")
FEW = ("lade", "bild")
SETS = ("questions", "template", "rephrased")
MODELS = ("smollm2", "smollm2-draft", "smollm2-eagle")


@dataclass(frozen=True)
class Settings:
    """The sizes of the study."""

    root: int = 20261130
    file: str = "spill"
    new_tokens: int = 64
    few_tokens: int = 48  # limit of lookahead's and big-little's answers
    train: int = 30
    few_train: int = 10
    first_test: int = 30
    test: int = 5
    temperatures: tuple[tuple[str, tuple[float, ...]], ...] = (
        ("questions", (0.3, 0.6, 0.8, 1.0)),
        ("template", (0.3, 1.0)),
        ("rephrased", (0.3, 1.0)),
    )
    few_temperatures: tuple[tuple[str, tuple[float, ...]], ...] = (
        ("questions", (0.3, 1.0)),
        ("template", (0.3,)),
        ("rephrased", (0.3, 1.0)),
    )
    rows: int = 35  # answers written at once
    resamples: int = 10_000
    level: float = 0.95

    def runs(self, prompts: str, few: bool) -> list[int]:
        """The runs of each prompt of a set; rephrased prompts have no training runs."""
        train = 0 if prompts == "rephrased" else self.few_train if few else self.train
        return [*range(train), *range(self.first_test, self.first_test + self.test)]


QUICK = Settings(
    root=20261131,
    file="spill-rehearsal",
    new_tokens=24,
    few_tokens=24,
    train=4,
    few_train=4,
    test=2,
    temperatures=tuple((name, (0.3, 1.0)) for name in SETS),
    few_temperatures=tuple((name, (0.3, 1.0)) for name in SETS),
    resamples=1000,
)


@dataclass
class SpillTraces:
    """Answers, rounds and files of traces; one payload."""

    quick: bool = False
    settings: Settings = field(init=False)

    def __post_init__(self) -> None:
        self.settings = QUICK if self.quick else Settings()

    def rehearsal(self) -> SpillTraces:
        """Other prompts, fewer runs, shorter answers."""
        return SpillTraces(quick=True)

    @cached_property
    def prompts(self) -> dict[str, list[Prompt]]:
        """The committed prompts of each set, in order."""
        everything = named(self.settings.file)
        return {name: [p for p in everything if p.family == name] for name in SETS}

    @property
    def prompts_file(self) -> str:
        """The file of the prompts, from the repository root."""
        return f"engine/experiments/prompts/{self.settings.file}.toml"

    @cached_property
    def models(self) -> list[ModelDigest]:
        """The pinned weights."""
        return [model_digest(name) for name in MODELS]

    @property
    def key(self) -> str:
        """Settings, weights, prompts, decoding code and this file's."""
        code = ["engine/decode/**/*.py", "engine/spill/traces*.py", "engine/spill/deltas.py"]
        digest = source_digest([*code, "engine/experiments/spill_traces.py", self.prompts_file])
        return f"{asdict(self.settings)} {[m.sha256 for m in self.models]} {digest}"

    @property
    def folder(self) -> Path:
        """Where the files of traces are kept."""
        return cache_home() / "spill" / hashlib.sha256(self.key.encode()).hexdigest()[:16]

    def cells(self) -> Iterator[tuple[str, str, float]]:
        """Scheme, prompt set and temperature of every file."""
        for schemes, wanted in (
            (REPLAYED, self.settings.temperatures),
            (FEW, self.settings.few_temperatures),
        ):
            for prompts, temperatures in wanted:
                for temperature in temperatures:
                    yield from ((scheme, prompts, temperature) for scheme in schemes)

    # tasks

    def tasks(self) -> list[Task]:
        """Answers and rounds in groups of prompts, then lookahead and big-little, then the files."""
        out = []
        for prompts, temperatures in self.settings.temperatures:
            for temperature in temperatures:
                for part, name in self.groups(prompts):
                    work = partial(self.write, prompts=prompts, temperature=temperature, chosen=part)
                    out.append(Task(f"answers/{prompts}/{temperature:g}/{name}", 20.0, work))
        for prompts, temperatures in self.settings.few_temperatures:
            for temperature in temperatures:
                for part, name in self.groups(prompts):
                    at: dict[str, Any] = {"prompts": prompts, "temperature": temperature, "chosen": part}
                    tail = f"{prompts}/{temperature:g}/{name}"
                    out.append(Task(f"lade/{tail}", 27.0, partial(self.look_ahead, **at, group=name)))
                    out.append(Task(f"bild/{tail}", 10.0, partial(self.big_little, **at)))
        for scheme, prompts, temperature in self.cells():
            kept = partial(self.assemble, scheme=scheme, prompts=prompts, temperature=temperature)
            out.append(Task(f"set/{scheme}/{prompts}/{temperature:g}", 1.0, kept))
        return out

    def groups(self, prompts: str) -> list[tuple[range, str]]:
        """Prompts that are worked on together, so that about `rows` answers are."""
        size = max(1, self.settings.rows // len(self.settings.runs(prompts, few=False)))
        count = len(self.prompts[prompts])
        return [(range(start, min(start + size, count)), f"{start:02d}") for start in range(0, count, size)]

    @cached_property
    def loaded(self) -> Any:
        """The parts of all schemes, and the tokenizer."""
        from engine.decode import models, schemes

        return schemes.parts(), models.load_chat(MODELS[0])

    def ids(self, prompts: str, index: int) -> tuple[int, ...]:
        """Token ids of one prompt in its chat format."""
        return tuple(self.loaded[1].prompt(self.prompts[prompts][index].text))

    def stream(self, prompts: str, temperature: float, index: int, run: int) -> str:
        """The name of one answer's random streams."""
        return f"spill/{self.prompts[prompts][index].id}/{temperature:g}/{run}"

    def write(self, _: Documents, *, prompts: str, temperature: float, chosen: range) -> list[dict[str, Any]]:
        """Answers to a group of prompts, a document a prompt, with the rounds of the replayed schemes."""
        from engine.decode.sample import Row
        from engine.spill import traces_record

        parts, chat = self.loaded
        runs, limit = self.settings.runs(prompts, few=False), self.settings.new_tokens
        names = [[self.stream(prompts, temperature, index, run) for run in runs] for index in chosen]
        rows = [
            Row(self.ids(prompts, index), Stream(self.settings.root, name).uniform(limit), temperature)
            for index, row in zip(chosen, names, strict=True)
            for name in row
        ]
        answers = traces_record.write(parts.target, rows, new_tokens=limit, end=chat.end)
        out = []
        for place, index in enumerate(chosen):
            own = answers[place * len(runs) : (place + 1) * len(runs)]
            found = traces_record.rounds(
                parts,
                self.ids(prompts, index),
                own,
                names[place],
                temperature=temperature,
                new_tokens=limit,
                root=self.settings.root,
            )
            out.append(
                {
                    "prompt": index,
                    "runs": runs,
                    "answers": [answer.tokens for answer in own],
                    "counts": {name: [r.counts[name] for r in found] for name in REPLAYED},
                    "first": [[r.first, r.first_shuffled, r.starts] for r in found],
                }
            )
        return out

    def look_ahead(
        self, documents: Documents, *, prompts: str, temperature: float, chosen: range, group: str
    ) -> list[dict[str, Any]]:
        """Lookahead's rounds over the beginnings of the same answers."""
        from engine.decode.scheme_replay import lookahead

        parts, limit = self.loaded[0], self.settings.few_tokens
        runs, out = self.settings.runs(prompts, few=True), []
        for document in documents[f"answers/{prompts}/{temperature:g}/{group}"]:
            index = document["prompt"]
            of_run = dict(zip(document["runs"], document["answers"], strict=True))
            texts = [of_run[run][:limit] for run in runs]
            found = lookahead(parts.target, self.ids(prompts, index), texts, parts.lade, new_tokens=limit)
            out.append({"prompt": index, "runs": runs, "answers": texts, "counts": {"lade": found}})
        return out

    def big_little(
        self, _: Documents, *, prompts: str, temperature: float, chosen: range
    ) -> list[dict[str, Any]]:
        """The big-little decoder's own answers, live."""
        from engine.decode.drafts.bild import lockstep
        from engine.decode.scheme import Request

        parts, chat = self.loaded
        runs, out = self.settings.runs(prompts, few=True), []
        for index in chosen:
            requests = [
                Request(
                    self.ids(prompts, index),
                    self.settings.few_tokens,
                    chat.end,
                    temperature,
                    f"{self.stream(prompts, temperature, index, run)}/bild",
                    self.settings.root,
                )
                for run in runs
            ]
            sent = list(lockstep(parts.target, parts.draft, requests, parts.bild))
            rows = [[new[row] for new in sent if new[row]] for row in range(len(runs))]
            answers = [[token for new in row for token in new] for row in rows]
            counts = [[len(new) for new in row] for row in rows]
            out.append({"prompt": index, "runs": runs, "answers": answers, "counts": {"bild": counts}})
        return out

    def assemble(
        self, documents: Documents, *, scheme: str, prompts: str, temperature: float
    ) -> dict[str, str]:
        """One file of traces: its path and digest."""
        chat = self.loaded[1]
        few = scheme in FEW
        rows = []
        for document in self.of(documents, scheme, prompts, temperature):
            for run, tokens, counts in zip(
                document["runs"], document["answers"], document["counts"][scheme], strict=True
            ):
                sizes = deltas_of(chat, tokens, counts)
                rows.append(Trace(document["prompt"], run, tuple(tokens), tuple(counts), sizes))
        limit = self.settings.few_tokens if few else self.settings.new_tokens
        made = TraceSet(scheme, prompts, temperature, limit, self.bound(scheme), tuple(rows))
        path, digest = files.write(self.folder, made)
        return {"path": path.name, "sha256": digest}

    def bound(self, scheme: str) -> int:
        """The most tokens a round of a scheme emits."""
        from engine.decode.schemes import scheme as make

        return make(scheme, self.loaded[0]).bound

    def of(
        self, documents: Documents, scheme: str, prompts: str, temperature: float
    ) -> Iterator[dict[str, Any]]:
        """The documents behind one file, a prompt each."""
        kind = scheme if scheme in FEW else "answers"
        for _, name in self.groups(prompts):
            yield from documents[f"{kind}/{prompts}/{temperature:g}/{name}"]

    def trace_set(self, documents: Documents, scheme: str, prompts: str, temperature: float) -> TraceSet:
        """The traces of one file, held against its digest."""
        listed = documents[f"set/{scheme}/{prompts}/{temperature:g}"]
        return files.read(self.folder / listed["path"], listed["sha256"])

    # payload

    def payloads(self, documents: Documents) -> Sequence[Payload]:
        """Tokens and bytes a round, distinct answers, and the feature head beside itself."""
        settings = self.settings
        columns, rows = self.table(documents)
        table = Table.from_rows(
            columns, rows, root=settings.root, resamples=settings.resamples, level=settings.level
        )
        results, absent = evaluate(list(self.statements()), table)
        for scheme, prompts, temperature in self.cells():
            spread = self.trace_set(documents, scheme, prompts, temperature).distinct().values()
            place = results.setdefault("distinct", {}).setdefault(scheme, {}).setdefault(prompts, {})
            of = f"answers of {len(settings.runs(prompts, scheme in FEW))}"
            place[label(temperature)] = {
                "fewest": Leaf(value=min(spread), unit=of),
                "most": Leaf(value=max(spread), unit=of),
            }
        kind: Any = Rehearsal if self.quick else Measured
        return [
            kind(
                schema=f"specdec-sidechannels/{'rehearsal' if self.quick else 'payload'}/1",
                name="spill/traces",
                question="What does each scheme send, round by round?",
                regime={
                    "target": entry(MODELS[0]).title,
                    "precision": "fp32",
                    "decoding": "sampled, top-p 1; bild is lossy",
                    "padding": "zeros after the last round",
                    "device": "CPU",
                },
                config=self.config(),
                seeds={"root": settings.root},
                provenance=gather(
                    command("spill-traces", quick=self.quick),
                    packages=("numpy", "torch", "transformers"),
                    models=self.models,
                    inputs=[self.prompts_file],
                ),
                results=results,
                absent=absent or None,
                state=State(columns=columns, rows=rows),
            )
        ]

    def config(self) -> dict[str, Any]:
        """The settings of study and schemes, as a payload holds them."""
        from engine.contract.payload import lexeme
        from engine.decode.drafts import bild, lade, rest

        def plain(value: Any) -> Any:
            return lexeme(value) if isinstance(value, float) else value

        out: dict[str, Any] = {}
        for name, value in asdict(self.settings).items():
            if name.endswith("temperatures"):
                out[name] = {prompts: [plain(t) for t in found] for prompts, found in value}
            elif name != "root":
                out[name] = plain(value)
        for name, made in (("lade", lade.Settings()), ("bild", bild.Settings()), ("rest", rest.Settings())):
            out[name] = {key: plain(value) for key, value in asdict(made).items()}
        return out | {"prompts": len(self.prompts["questions"])}

    def table(self, documents: Documents) -> tuple[list[str], list[list[int]]]:
        """One row a prompt: sums over its runs."""
        count = len(self.prompts["questions"])
        columns, rows = ["cluster"], [[index] for index in range(count)]
        for scheme, prompts, temperature in self.cells():
            at = column(scheme, prompts, temperature)
            columns += [f"{at}_tokens", f"{at}_bytes", f"{at}_rounds"]
            sums = [[0, 0, 0] for _ in range(count)]
            for trace in self.trace_set(documents, scheme, prompts, temperature).traces:
                new = (len(trace.tokens), sum(trace.sizes), len(trace.counts))
                sums[trace.prompt] = [a + b for a, b in zip(sums[trace.prompt], new, strict=True)]
            for row, found in zip(rows, sums, strict=True):
                row += found
        columns += ["head_stands", "head_shuffled_stands", "head_starts"]
        for row in rows:
            row += [0, 0, 0]
        for prompts, temperatures in self.settings.temperatures:
            for temperature in temperatures:
                for document in self.of(documents, "eagle", prompts, temperature):
                    for found in document["first"]:
                        row = rows[document["prompt"]]
                        row[-3:] = [a + b for a, b in zip(row[-3:], found, strict=True)]
        return columns, rows

    def statements(self) -> Iterator[tuple[str, str, Statistic]]:
        """Name, unit and statistic of every estimate."""
        for scheme, prompts, temperature in self.cells():
            at = column(scheme, prompts, temperature)
            name = f"{scheme}.{prompts}.{label(temperature)}"
            for what, unit in (("tokens", "tokens a round"), ("bytes", "bytes a round")):
                yield f"{name}.{what}", unit, _ratio(f"{at}_{what}", f"{at}_rounds")
        true, other = (_ratio(name, "head_starts") for name in ("head_stands", "head_shuffled_stands"))
        yield "eagle_head.stands", "share of tokens", true
        yield "eagle_head.stands_shuffled", "share of tokens", other
        yield (
            "eagle_head.over_shuffled",
            "share of tokens",
            Statistic(
                kind="difference",
                numerator=true.numerator,
                denominator=true.denominator,
                minus=other,
                stream="bootstrap",
            ),
        )


def deltas_of(chat: Any, tokens: Sequence[int], counts: Sequence[int]) -> tuple[int, ...]:
    """Bytes of each round's text."""
    from engine.spill.deltas import sizes

    return sizes(chat, tokens, counts)


def label(temperature: float) -> str:
    """A temperature as a name: t03, t10."""
    return f"t{round(temperature * 10):02d}"


def column(scheme: str, prompts: str, temperature: float) -> str:
    """The beginning of a state column's name."""
    return f"{scheme}_{prompts}_{label(temperature)}"


def _ratio(above: str, below: str) -> Statistic:
    return Statistic(kind="ratio", numerator=[above], denominator=[below], stream="bootstrap")
