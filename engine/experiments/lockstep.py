"""How fast is the coder, how long are its codes, and when does a model-backed archive pay?

The coder is timed and measured against three from PyPI on the same static models in one run. Then two
committed files of prompts are packed and unpacked with the target's probabilities, batched and a part of them
one row at a time, beside the static and adaptive profiles and zstd at its level 19; rates and sizes meet
registered prices.
"""

from __future__ import annotations

import io
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property, partial
from statistics import median
from typing import Any

from engine.coding import container
from engine.coding.language import LanguageModel, Shape, matching
from engine.coding.llama_predictor import fetched
from engine.coding.profiles import AdaptiveBytes, StaticBytes, profile_of
from engine.contract.errors import BadData
from engine.contract.payload import Leaf, Measured, Payload, Results, State, Statistic, lexeme
from engine.contract.provenance import ROOT, gather
from engine.experiments.acceptance import model_digest
from engine.experiments.coders import MODELS, PEERS, Coder, Lockstep, built, drawn, ideal
from engine.experiments.costs import Case, Prices, Rates
from engine.run import Documents, Task, source_digest
from engine.stats.statistic import Table, compute

REGISTERED = "payloads/registered/tools.json"
TEXTS = ("engine/experiments/prompts/acceptance.toml", "engine/experiments/prompts/distillation.toml")
"""Packed one after another, as they are, up to as many bytes as fill the batch."""
CODERS: dict[str, type[Coder]] = {"lockstep": Lockstep} | {
    name.split(",")[0].replace("-", "_"): kind for name, kind in PEERS.items()
}
PARTS = 4
"""Parts of a bit that sizes are counted in: fine enough, and small enough to be summed exactly."""


@dataclass(frozen=True)
class Settings:
    """The frozen configuration."""

    model: str = "smollm2"
    root: int = 20261130
    timed_symbols: int = 20_000
    pairs: int = 7
    messages: int = 12
    symbols: int = 200_000
    batch: int = 16
    one_row_bytes: int = 1_024
    zstd_level: int = 19
    zstd_runs: int = 21
    resamples: int = 10_000
    level: float = 0.95


@dataclass
class LockstepCosts:
    """Tasks: times, sizes, archives. Two payloads: the coder, and the archives with their prices."""

    settings: Settings = Settings()

    @property
    def key(self) -> str:
        """Settings, weights, prompts and code."""
        code = source_digest(
            [
                "engine/coding/*.py",
                "engine/experiments/coders.py",
                "engine/experiments/lockstep.py",
                *TEXTS,
            ]
        )
        return f"{asdict(self.settings)} {model_digest(self.settings.model).sha256} {code}"

    @cached_property
    def text(self) -> bytes:
        """What is packed."""
        whole = b"".join((ROOT / path).read_bytes() for path in TEXTS)
        return whole[: Shape(self.settings.batch).chunk]

    def tasks(self) -> list[Task]:
        """Times and sizes of each model, then archives."""
        s = self.settings
        timed = [Task(f"times-{slug(name)}", 40.0, partial(self._times, name)) for name in MODELS]
        sized = [Task(f"sizes-{slug(name)}", 60.0, partial(self._sizes, name)) for name in MODELS]
        archives = [
            Task("archive-static", 1.0, lambda _: self._bytewise("static")),
            Task("archive-adaptive", 1.0, lambda _: self._bytewise("adaptive")),
            Task("archive-zstd", 2.0, lambda _: self._zstd(self.text)),
            Task("archive-zstd-one-row", 2.0, lambda _: self._zstd(self.text[: s.one_row_bytes])),
            Task("archive-model", 180.0, lambda _: self._model(self.text, s.batch)),
            Task("archive-model-one-row", 120.0, lambda _: self._model(self.text[: s.one_row_bytes], 1)),
        ]
        return timed + sized + archives

    def _times(self, name: str, _: Documents) -> dict[str, Any]:
        """Seconds of each run, ours and theirs by turns."""
        counts, s = MODELS[name], self.settings
        message = drawn(counts, s.timed_symbols, s.root)
        sides = {coder: built(kind, counts, message) for coder, kind in CODERS.items()}
        return {
            peer: {
                way: by_turns(getattr(sides["lockstep"], way), getattr(sides[peer], way), s.pairs)
                for way in ("pack", "unpack")
            }
            for peer in CODERS
            if peer != "lockstep"
        }

    def _sizes(self, name: str, _: Documents) -> list[dict[str, int]]:
        """For each message its ideal length and what each coder takes beyond it, in quarter bits."""
        counts, s, rows = MODELS[name], self.settings, []
        for index in range(s.messages):
            message = drawn(counts, s.symbols, s.root + index)
            least = ideal(counts, message)
            row = {"ideal": round(least * PARTS)}
            for coder, kind in CODERS.items():
                made = kind(counts, message)
                made.pack()
                row[coder] = round((made.bits() - least) * PARTS)
            rows.append(row)
        return rows

    def _bytewise(self, name: str) -> dict[str, Any]:
        profile = StaticBytes.of(io.BytesIO(self.text)) if name == "static" else AdaptiveBytes()
        return archived(self.text, profile, profile_of)

    def _zstd(self, data: bytes) -> dict[str, Any]:
        import zstandard

        level, runs = self.settings.zstd_level, self.settings.zstd_runs
        packed = zstandard.ZstdCompressor(level=level).compress(data)
        if zstandard.ZstdDecompressor().decompress(packed) != data:
            raise BadData("zstandard", "does not give its bytes back.", "Nothing can be compared with it.")
        return {
            "size": len(data),
            "packed": len(packed),
            "pack": median(seconds(lambda: zstandard.ZstdCompressor(level=level).compress(data), runs)),
            "unpack": median(seconds(lambda: zstandard.ZstdDecompressor().decompress(packed), runs)),
        }

    def _model(self, data: bytes, batch: int) -> dict[str, Any]:
        predictor, tokenizer = fetched(self.settings.model)
        profile = LanguageModel(self.settings.model, predictor, tokenizer, Shape.of(len(data), batch))
        return archived(data, profile, lambda header: matching(header, predictor, tokenizer))

    # payloads

    def payloads(self, documents: Documents) -> Sequence[Payload]:
        """The coder beside others; the archives and their prices."""
        return [self._coder(documents), self._archives(documents)]

    def _measured(self, name: str, question: str, regime: Any, **fields: Any) -> Measured:
        s = self.settings
        return Measured(
            schema="specdec-sidechannels/payload/1",
            name=name,
            question=question,
            regime=regime,
            config={k: lexeme(v) if isinstance(v, float) else v for k, v in asdict(s).items() if k != "root"},
            seeds={"root": s.root},
            **fields,
        )

    def _coder(self, documents: Documents) -> Payload:
        names, rows = self._size_state(documents)
        s = self.settings
        table = Table.from_rows(names, rows, root=s.root, resamples=s.resamples, level=s.level)
        results: Results = {
            slug(name): {
                "overhead": {coder: overhead(slug(name), coder, table) for coder in CODERS},
                **{
                    peer: speeds(documents[f"times-{slug(name)}"][peer], s.timed_symbols)
                    for peer in CODERS
                    if peer != "lockstep"
                },
            }
            for name in MODELS
        }
        packages = ("arithmetic-compressor", "constriction", "range-coder")
        return self._measured(
            "tools/lockstep-coder",
            "How fast is the coder beside others on the same model, and how far above the ideal length?",
            {"models": [*MODELS], "coders": [*CODERS], "machine": "one process, one thread"},
            provenance=gather(["engine", "run", "lockstep"], packages=packages, models=[], inputs=[]),
            results=results,
            state=State(columns=names, rows=rows),
        )

    def _size_state(self, documents: Documents) -> tuple[list[str], list[list[int]]]:
        keys = [(slug(name), column) for name in MODELS for column in ("ideal", *CODERS)]
        rows = [
            [index, *(documents[f"sizes-{name}"][index][column] for name, column in keys)]
            for index in range(self.settings.messages)
        ]
        return ["cluster", *(f"{name}_{column}" for name, column in keys)], rows

    def _archives(self, documents: Documents) -> Payload:
        prices = Prices.registered(
            json.loads((ROOT / REGISTERED).read_text(encoding="utf-8"))["results"]["prices"]
        )
        found = {
            name: documents[f"archive-{name}"] for name in ("static", "adaptive", "model", "model-one-row")
        }
        rivals = {
            name: documents["archive-zstd-one-row" if "row" in name else "archive-zstd"] for name in found
        }
        results: Results = {}
        absent: dict[str, str] = {}
        for name, made in found.items():
            key = name.replace("-", "_")
            results[key] = archive(made, rivals[name]) | broken_even(key, made, rivals[name], prices, absent)
        return self._measured(
            "tools/lockstep-archives",
            "What does a model-backed archive save against zstd, and at which decode rate does it pay?",
            {"model": self.settings.model, "precision": "fp32", "texts": list(TEXTS), "rival": "zstd"},
            provenance=gather(
                ["engine", "run", "lockstep"],
                packages=("torch", "zstandard", "pint"),
                models=[model_digest(self.settings.model)],
                inputs=[*TEXTS, REGISTERED],
            ),
            results=results,
            absent=absent or None,
        )


def slug(name: str) -> str:
    """A model's name as part of a key."""
    return {"6 symbols": "few_symbols", "256 symbols": "many_symbols"}[name]


def seconds(work: Callable[[], object], runs: int) -> list[float]:
    """Wall-clock seconds of each of so many calls."""
    out = []
    for _ in range(runs):
        started = time.perf_counter()
        work()
        out.append(time.perf_counter() - started)
    return out


def by_turns(ours: Callable[[], object], theirs: Callable[[], object], pairs: int) -> dict[str, list[float]]:
    """Seconds of both, the order changing from pair to pair."""
    took: dict[str, list[float]] = {"ours": [], "theirs": []}
    for index in range(pairs):
        for side in ("ours", "theirs") if index % 2 == 0 else ("theirs", "ours"):
            took[side] += seconds(ours if side == "ours" else theirs, 1)
    return took


def archived(
    data: bytes, profile: container.Profile, profile_for: Callable[[container.Header], container.Profile]
) -> dict[str, Any]:
    """Sizes, and seconds of packing and unpacking; `BadData` unless the same bytes come out."""
    packed, back = io.BytesIO(), io.BytesIO()
    (pack,) = seconds(lambda: container.pack(io.BytesIO(data), packed, profile), 1)
    (unpack,) = seconds(lambda: container.unpack(io.BytesIO(packed.getvalue()), back, profile_for), 1)
    if back.getvalue() != data:
        raise BadData(profile.header.name, "does not give its bytes back.", "The profile is broken.")
    return {"size": len(data), "packed": len(packed.getvalue()), "pack": pack, "unpack": unpack}


def overhead(name: str, coder: str, table: Table) -> Leaf:
    """Bits beyond the ideal over the ideal, from the state."""
    said = Statistic(
        kind="ratio", numerator=[f"{name}_{coder}"], denominator=[f"{name}_ideal"], stream=f"{name}-{coder}"
    )
    return Leaf(**compute(said.model_dump(exclude_none=True), table), unit="ratio", statistic=said)


def speeds(took: dict[str, dict[str, list[float]]], symbols: int) -> Results:
    """Symbols a second of ours and the peer's, and the median of the ratios of pairs."""
    out: Results = {}
    for way, sides in took.items():
        ratios = [theirs / ours for ours, theirs in zip(sides["ours"], sides["theirs"], strict=True)]
        out[way] = {
            "ours": machine(symbols / median(sides["ours"]), "symbols a second"),
            "theirs": machine(symbols / median(sides["theirs"]), "symbols a second"),
            "ratio": machine(median(ratios), "ratio"),
            "ratio_least": machine(min(ratios), "ratio"),
        }
    return out


def machine(value: float, unit: str) -> Leaf:
    """A number that depends on the machine, to four significant digits."""
    return Leaf(value=lexeme(float(f"{value:.4g}")), unit=unit, machine=True)


def archive(made: dict[str, Any], rival: dict[str, Any]) -> dict[str, Leaf | Results]:
    """Sizes and rates of ours and the rival on the same bytes."""
    return {
        "size": Leaf(value=made["size"], unit="bytes"),
        "packed": Leaf(value=made["packed"], unit="bytes"),
        "zstd": Leaf(value=rival["packed"], unit="bytes"),
        **{f"{way}_rate": machine(made["size"] / made[way] / 1e6, "MB/s") for way in ("pack", "unpack")},
        **{f"{way}_rate_over_zstd": machine(rival[way] / made[way], "ratio") for way in ("pack", "unpack")},
    }


def broken_even(
    name: str, made: dict[str, Any], rival: dict[str, Any], prices: Prices, absent: dict[str, str]
) -> dict[str, Leaf | Results]:
    """Decode rates and retentions at which packing breaks even, or, in `absent`, why there are none."""
    size = made["size"]
    case = Case(
        made["packed"] / size,
        rival["packed"] / size,
        Rates.timed(size, made["pack"], made["unpack"]),
        Rates.timed(size, rival["pack"], rival["unpack"]),
    )
    out: dict[str, Leaf | Results] = {}
    for paid, key in ((False, "packing_free"), (True, "packing_paid")):
        found: Results = {}
        rate, kept = case.rate(prices, paid=paid), case.retention(prices, paid=paid)
        if rate is None:
            absent[f"{name}.{key}.break_even_rate"] = "no decode rate breaks even at the registered prices"
        else:
            found["break_even_rate"] = machine(rate.magnitude, "MB/s")
            found["rate_over_break_even"] = machine((case.our_rates.unpack / rate).to("").magnitude, "ratio")
        if kept is None:
            absent[f"{name}.{key}.break_even_retention"] = (
                "it is no smaller than zstd's, so time saves nothing"
            )
        else:
            found["break_even_retention"] = machine(kept.magnitude, "months")
        if found:
            out[key] = found
    return out
