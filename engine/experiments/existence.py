"""Does a stream tell the draft anything that the decoder does not already have?

Two harvests of the target's own sampled texts, the second on fresh seeds. On each, readers predict the
concept bucket of the token two ahead of the last checked position, from a free baseline, from the
baseline with the stream, and from the baseline with scrambled twins of the stream: conditional probing
(Hewitt, Ethayarajh, Liang, Manning 2021), scored on held-out prompts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property, partial
from typing import Any

from engine.contract.payload import Measured, ModelDigest, Payload, Rehearsal, State, Statistic, lexeme
from engine.contract.provenance import gather
from engine.decode import registry
from engine.experiments.acceptance import evaluate, model_digest
from engine.experiments.prompts import Prompt, named
from engine.experiments.settings import shown
from engine.observe import constants as registered
from engine.observe.constants import Sideband
from engine.run import Documents, Task, source_digest
from engine.stats.statistic import Table

CODE = ("engine/observe/**/*.py", "engine/decode/llama.py", "engine/decode/sample.py")
REGISTERED = "payloads/registered/sideband.json"
BASELINES = ("partial", "full")
RECORDED = {
    "smollm2": ("s1", "s2"),
    "smollm2-moe": ("s3",),
    "llama-8b": ("s1", "s2"),
    "olmoe-1b-7b": ("s3",),
}
"""Streams recorded from each target; S2's address-only form follows from positions."""
TITLES = {
    "s1": "S1, tapped units (needs values to rank)",
    "s2": "S2, cache pages by attention mass (needs values to rank)",
    "s2a": "S2, addresses only: allocation, reuse, eviction",
    "s3": "S3, chosen experts (addresses only)",
}
QUICK = {"prompts": 24, "train": 10, "validation": 4, "held_out": 10, "new_tokens": 48, "batch": 48}


def rehearsed(constants: Sideband) -> Sideband:
    """The constants of a quick run: few prompts, other seeds, two twins."""
    return replace(
        constants,
        root=constants.root + 1,
        harvest=replace(
            constants.harvest,
            prompts=QUICK["prompts"],
            new_tokens=QUICK["new_tokens"],
            batch=QUICK["batch"],
            prompts_file="engine/experiments/prompts/acceptance.toml",
        ),
        split=replace(
            constants.split,
            train=QUICK["train"],
            validation=QUICK["validation"],
            held_out=QUICK["held_out"],
        ),
        twin=replace(constants.twin, seeds=2),
        curve=replace(constants.curve, clusters=(5,)),
    )


@dataclass
class Existence:
    """One target, the streams read from it, and a payload a stream and harvest."""

    target: str
    streams: tuple[str, ...]
    command: str
    quick: bool = False
    what: str = "existence"

    def rehearsal(self) -> Existence:
        """The same on few prompts of another record and other seeds."""
        return replace(self, quick=True)

    @cached_property
    def constants(self) -> Sideband:
        """The registered constants; of a quick run, those of a rehearsal."""
        found = registered.read()
        return rehearsed(found) if self.quick else found

    @cached_property
    def prompts(self) -> list[Prompt]:
        """The registered prompts; a quick run takes a spread of those of the acceptance record."""
        if not self.quick:
            return named("sideband")
        others = named("acceptance")
        return others[:: len(others) // QUICK["prompts"]][: QUICK["prompts"]]

    @cached_property
    def digest(self) -> ModelDigest:
        """The pinned weights of the target."""
        return model_digest(self.target)

    @property
    def precision(self) -> str:
        """Of the target's weights and products."""
        return "fp32"

    @property
    def device(self) -> str:
        """What the target runs on."""
        return "CPU"

    @property
    def key(self) -> str:
        """Constants, weights, prompts and code."""
        files = [*CODE, "engine/experiments/existence.py", self.constants.harvest.prompts_file]
        return f"{asdict(self.constants)} {self.digest.sha256} {self.streams} {source_digest(files)}"

    def harvest_name(self, harvest: str) -> str:
        """The folder of one harvest."""
        return f"{self.target}-{harvest}{'-quick' if self.quick else ''}"

    # tasks

    def tasks(self) -> list[Task]:
        """Each harvest, then its cells."""
        texts = self.constants.harvest.prompts * self.constants.harvest.texts
        out = []
        for harvest in self.constants.harvest.harvests:
            out.append(Task(f"harvest/{harvest}", 1.0 * texts, partial(self.collect, harvest=harvest)))
            for stream in self.streams:
                for baseline in BASELINES:
                    work = partial(self.read, harvest=harvest, stream=stream, baseline=baseline)
                    out.append(Task(f"cell/{harvest}/{stream}/{baseline}", 0.3 * texts, work))
        return out

    def collect(self, _: Documents, *, harvest: str) -> dict[str, Any]:
        """Make one harvest; its arrays stay in the cache, their digests in the document."""
        from engine.observe.collect import Wanted, collect

        wanted = Wanted(
            name=self.harvest_name(harvest),
            seeds=harvest,
            model=self.target,
            model_sha256=self.digest.sha256,
            prompts=[(prompt.id, prompt.text) for prompt in self.prompts],
            streams=RECORDED[self.target],
            constants=self.constants,
        )
        index = collect(wanted, self.load).index
        return {"rows": index["rows"], "arrays": {k: v["sha256"] for k, v in index["arrays"].items()}}

    def load(self) -> Any:
        """The target in both forms."""
        from engine.decode import models
        from engine.observe.collect import Loaded

        chat = models.load_chat(self.target)
        return Loaded(models.load(self.target), models.peer(self.target), chat.prompt, chat.end)

    @cached_property
    def _grounds(self) -> dict[str, Any]:
        return {}

    def ground(self, harvest: str) -> Any:
        """Rows, parts and labels of one harvest, made once."""
        from engine.observe.cell import ground
        from engine.observe.harvest import Harvest
        from engine.observe.split import split

        if harvest not in self._grounds:
            found = Harvest.open(self.harvest_name(harvest), model=self.digest.sha256)
            self._grounds[harvest] = ground(found, self.constants, split(self.constants))
        return self._grounds[harvest]

    def read(self, _: Documents, *, harvest: str, stream: str, baseline: str) -> dict[str, list[int]]:
        """The state of one cell."""
        from engine.observe.cell import cell

        return cell(self.ground(harvest), stream, baseline)

    # payloads

    def payloads(self, documents: Documents) -> Sequence[Payload]:
        """One payload a stream and harvest."""
        return [
            self._payload(documents, stream, harvest)
            for stream in self.streams
            for harvest in self.constants.harvest.harvests
        ]

    def _payload(self, documents: Documents, stream: str, harvest: str) -> Measured:
        cells = {b: documents[f"cell/{harvest}/{stream}/{b}"] for b in BASELINES}
        question = f"Does {TITLES[stream]}, tell of the token two ahead what the decoder lacks?"
        named_ = list(statements(self.constants))
        return self.document(documents, stream, harvest, self.what, question, cells, named_, self.command)

    def document(
        self,
        documents: Documents,
        stream: str,
        harvest: str,
        what: str,
        question: str,
        cells: dict[str, dict[str, list[int]]],
        named_: Sequence[tuple[str, str, Statistic]],
        command: str,
    ) -> Measured:
        """A payload about one stream and harvest, from the state of its cells."""
        from engine.observe.split import split

        held_out = [int(c) for c in split(self.constants).held_out]
        columns, rows = state(held_out, cells)
        interval = self.constants.interval
        table = Table.from_rows(
            columns, rows, root=self.constants.root, resamples=interval.resamples, level=interval.level
        )
        results, absent = evaluate(named_, table)
        suffix = "" if harvest == "primary" else f"-{harvest}"
        kind: Any = Rehearsal if self.quick else Measured
        document: Measured = kind(
            schema=f"specdec-sidechannels/{'rehearsal' if self.quick else 'payload'}/1",
            name=f"sideband/{what}-{stream}{suffix}",
            question=question,
            regime={
                "target": registry.entry(self.target).title,
                "precision": self.precision,
                "decoding": "at temperature one",
                "stream": TITLES[stream],
                "harvest": harvest,
                "reader": "ridge on one-hot labels",
                "device": self.device,
            },
            config=self.settings() | {"rows": documents[f"harvest/{harvest}"]["rows"]},
            seeds={"root": self.constants.root},
            provenance=gather(
                ["engine", "run", command, *(["--quick"] if self.quick else [])],
                packages=("numpy", "scikit-learn", "torch", "transformers"),
                models=[self.digest],
                inputs=self.inputs(),
                device=self.device,
            ),
            results=results,
            absent=absent or None,
            state=State(columns=columns, rows=rows),
        )
        return document

    def inputs(self) -> list[str]:
        """The committed files that decide what is harvested and read."""
        return [self.constants.harvest.prompts_file, self.constants.label.file, REGISTERED]

    def settings(self) -> dict[str, Any]:
        """The constants as a payload holds them, with level and resamples where a recomputation looks."""
        out: dict[str, Any] = shown(self.constants)
        interval = self.constants.interval
        return out | {"level": lexeme(interval.level), "resamples": interval.resamples}


def tap() -> Existence:
    """S1, from the dense target."""
    return Existence("smollm2", ("s1",), "sideband-tap")


def pages() -> Existence:
    """S2 and its address-only form, from the dense target."""
    return Existence("smollm2", ("s2", "s2a"), "sideband-pages")


def experts() -> Existence:
    """S3, from the target with experts."""
    return Existence("smollm2-moe", ("s3",), "sideband-experts")


def state(
    held_out: Sequence[int], cells: dict[str, dict[str, list[int]]]
) -> tuple[list[str], list[list[int]]]:
    """Columns and rows: the cluster, its positions, then every arm of every cell."""
    named_columns = {"cluster": list(held_out), "n": next(iter(cells.values()))["n"]}
    for baseline, cell in cells.items():
        named_columns |= {f"{baseline}_{name}": column for name, column in cell.items() if name != "n"}
    return list(named_columns), [list(row) for row in zip(*named_columns.values(), strict=True)]


def statements(constants: Sideband) -> Iterator[tuple[str, str, Statistic]]:
    """Name, unit and statistic of every estimate of one stream and harvest."""
    for baseline in BASELINES:
        for space in constants.label.spaces:
            yield from _margins(constants, baseline, space)
            yield from _controls(constants, baseline, space)
        if baseline == "full":
            yield from _curve(constants)


def _margins(constants: Sideband, baseline: str, space: str) -> Iterator[tuple[str, str, Statistic]]:
    at, column = f"{baseline}.{space}", f"{baseline}_{space}"
    twins = [f"{column}_twin{seed}" for seed in range(constants.twin.seeds)]
    yield f"{at}.accuracy_base", "accuracy", ratio([f"{column}_base_hits"])
    yield f"{at}.accuracy_with", "accuracy", ratio([f"{column}_with_hits"])
    yield f"{at}.own", "accuracy", gain([f"{column}_with"], [f"{column}_base"])
    yield f"{at}.over_twin", "accuracy", gain([f"{column}_with"], twins)
    yield f"{at}.own_bits", "millibits", saved([f"{column}_with"], [f"{column}_base"])
    yield f"{at}.over_twin_bits", "millibits", saved([f"{column}_with"], twins)


def _controls(constants: Sideband, baseline: str, space: str) -> Iterator[tuple[str, str, Statistic]]:
    at, column, shuffled = f"{baseline}.{space}", f"{baseline}_{space}", f"{baseline}_{space}_shuffled"
    twins = [f"{shuffled}_twin{seed}" for seed in range(constants.twin.seeds)]
    yield f"{at}.shuffled", "accuracy", gain([f"{shuffled}_with"], twins)
    for index, _ in enumerate(constants.control.answer_shares):
        yield f"{at}.answer_{index}", "accuracy", gain([f"{column}_answer{index}"], [f"{column}_base"])


def _curve(constants: Sideband) -> Iterator[tuple[str, str, Statistic]]:
    for space in constants.label.spaces:
        for clusters in constants.curve.clusters:
            if clusters < constants.split.train:
                column = f"full_{space}"
                made = gain([f"{column}_with_at{clusters}"], [f"{column}_twin0_at{clusters}"])
                yield f"full.{space}.over_twin_at_{clusters}", "accuracy", made


def ratio(hits: list[str]) -> Statistic:
    """Hits over positions."""
    return Statistic(kind="ratio", numerator=hits, denominator=["n"] * len(hits), stream="bootstrap")


def gain(first: list[str], second: list[str], use: str = "hits") -> Statistic:
    """Accuracy of the first arms, on average, minus that of the second."""
    return Statistic(
        kind="difference",
        numerator=[f"{arm}_{use}" for arm in first],
        denominator=["n"] * len(first),
        minus=Statistic(
            kind="ratio",
            numerator=[f"{arm}_{use}" for arm in second],
            denominator=["n"] * len(second),
            stream="bootstrap",
        ),
        stream="bootstrap",
    )


def saved(first: list[str], second: list[str]) -> Statistic:
    """Log loss that the first arms save over the second: positive where the first read better."""
    return gain(second, first, "loss")
