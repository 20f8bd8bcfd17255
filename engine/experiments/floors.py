"""How far do seeds alone move tokens a check, and what do a stream, its width and its sidecar cost?

The noise floor of the two arms that the bar judges; how much of the target's state a reader keeps as the
stream or the reader gets narrower; bits a token of every stream beside the state's; and the wall clock of the
better attempt on S1, live, with its tap, against the draft left alone in the same run.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property, partial
from time import perf_counter
from typing import Any

import numpy as np

from engine.contract.errors import BadData
from engine.contract.payload import Leaf, Measured, Payload, Rehearsal, State, Statistic, lexeme
from engine.contract.provenance import ROOT, gather
from engine.decode import registry
from engine.experiments.acceptance import evaluate, model_digest
from engine.experiments.conversion import (
    CODE,
    DRAFT,
    PROMPTS_FILE,
    Side,
    arrays,
    constants,
    walk,
)
from engine.experiments.existence import TITLES
from engine.experiments.reconstruction import Rebuilding
from engine.experiments.settings import shown
from engine.observe import conversion_constants as registered
from engine.observe.conversion_constants import Conversion, Floors
from engine.run import Documents, Task, source_digest
from engine.stats.statistic import Table

TARGET, STREAM = "smollm2", "s1"
SMALL = {"seeds": 2, "small_study": 10, "subsets": 100, "clock_prompts": 12, "clock_warm": 1}
"""A rehearsal's sizes; a ratio wants ten clusters."""


@dataclass
class Prices:
    """Seed noise, widths, bits and the clock."""

    quick: bool = False

    def rehearsal(self) -> Prices:
        """A small one of the same kind."""
        return Prices(quick=True)

    @cached_property
    def settings(self) -> Floors:
        """The registered constants; of a quick run, fewer of everything."""
        found = registered.read(Floors)
        return replace(found, **SMALL) if self.quick else found  # type: ignore[arg-type]

    @cached_property
    def conversion(self) -> Conversion:
        """The constants shared with conversion."""
        return constants(self.quick)

    @cached_property
    def side(self) -> Side:
        """The dense target with its draft."""
        return Side(TARGET, self.quick, self.conversion)

    @cached_property
    def fitted(self) -> dict[str, Any]:
        """Mechanisms fitted so far, by name."""
        return {}

    @property
    def key(self) -> str:
        """Constants, weights, prompts and code."""
        own = [f"engine/experiments/{name}.py" for name in ("floors", "conversion", "reconstruction")]
        source = asdict(self.side.source.constants), [m.sha256 for m in self.models]
        code = source_digest([*CODE, *own, PROMPTS_FILE, *self.attempts()])
        return f"{asdict(self.settings)} {asdict(self.conversion)} {source} {code}"

    @cached_property
    def models(self) -> list[Any]:
        """The pinned weights."""
        return [model_digest(TARGET), model_digest(DRAFT)]

    def tasks(self) -> list[Task]:
        """What the clock times, so that its lack is told at once; then seeds, widths and the clock."""
        out = [Task("better", 1.0, lambda _: self.better())]
        for seed in range(self.settings.seeds):
            out.append(Task(f"seed/{seed}", 180.0, partial(self.seed, seed=seed)))
        for kind, widths in (("slots", self.settings.widths), ("reader", self.settings.reader_widths)):
            out += [
                Task(f"{kind}/{width}", 20.0, partial(self.width, kind=kind, width=width)) for width in widths
            ]
        return [*out, Task("clock", 300.0, self.clock)]

    def fit(self, mechanism: str) -> Any:
        """A mechanism fitted on S1, once."""
        from engine.experiments.conversion import grid
        from engine.observe.conversion_passages import with_stream

        if mechanism not in self.fitted:
            features = self.side.features(self.side.primary(), STREAM)
            own = list(with_stream(self.side.fitting, features, self.conversion.draft_length))
            parts = self.side.parts(own)
            self.fitted[mechanism] = grid(self.conversion, mechanism).fit(self.side.pair.heads, *parts)
        return self.fitted[mechanism]

    # seeds

    def seed(self, _: Documents, *, seed: int) -> list[list[int]]:
        """Emitted and rounds of both conditions on every prompt, under one seed of text and draws."""
        from engine.observe.conversion_passages import with_stream

        population = self.conversion.populations[0]
        prompts = self.side.population(population)
        harvest = self.side.collect(population, seed)
        read = self.side.texts(harvest, prompts)
        features = self.side.features(harvest, STREAM)
        passages = with_stream(read, features, self.conversion.draft_length)
        out = []
        for span, passage in zip(read.spans, passages, strict=True):
            row = [span.cluster]
            for condition in self.settings.conditions:
                fitted = None if condition == "vanilla" else self.fit(condition)
                row += walk(self.side, passage, fitted, f"floor/{seed}/{prompts[span.cluster].id}")[:2]
            out.append(row)
        return out

    # widths

    def width(self, _: Documents, *, kind: str, width: int) -> dict[str, Any]:
        """What the reader explains of the state over the partial baseline, by prompt, at one width."""
        from engine.observe.baseline import BASELINES
        from engine.observe.reconstruction import by_cluster, parts_of, rebuild

        inner = Rebuilding(self.quick)
        read = arrays(self.side.primary())
        clusters = np.asarray(read["prompt"]).astype(np.int64)
        fit, choose, test = inner.clusters(self.side)
        parts = parts_of(clusters, fit, choose, test)
        states = np.asarray(read["hidden"]).astype(np.float64)
        free = BASELINES["partial"](read, self.side.source.constants)
        rows = self.columns(read, kind, width, parts.fit)
        squares = ((states - states[parts.fit].mean(axis=0)) ** 2).sum(axis=1)
        unit = float(squares[parts.fit].mean()) / inner.settings.scale_of_state
        here = clusters[parts.test]
        total = by_cluster(squares[parts.test], here, test)
        found = [np.rint(total / unit).astype(int)]
        for blocks in ([free], [free, rows]):
            error = rebuild(blocks, states, parts, inner.settings.ridge).error
            found.append(np.rint((total - by_cluster(error, here, test)) / unit).astype(int))
        return {"rows": [[int(c), *(int(f[i]) for f in found)] for i, c in enumerate(test)]}

    def columns(self, read: dict[str, Any], kind: str, width: int, fit: Any) -> Any:
        """S1 in `width` slots, or at full width through its `width` leading directions."""
        from engine.observe.streams.tap import features

        if kind == "slots":
            return features(read, self.side.source.constants, slots=width)
        whole = features(read, self.side.source.constants).astype(np.float64)
        centred = whole - whole[fit].mean(axis=0)
        _, directions = np.linalg.eigh(centred[fit].T @ centred[fit])
        return centred @ directions[:, ::-1][:, :width]

    # the clock

    def attempts(self) -> list[str]:
        """The payloads of the attempts on S1, from the root of the repository; an attempt may be unrun."""
        paths = (f"payloads/sideband/conversion-{STREAM}-{name}.json" for name in self.conversion.attempts)
        return [path for path in paths if (ROOT / path).is_file()]

    def better(self) -> str:
        """The attempt on S1 with the larger gain, the first of equals; `BadData` where none has run."""
        gains = {}
        for path in self.attempts():
            found = json.loads((ROOT / path).read_text(encoding="utf-8"))
            gains[path.removesuffix(".json").rpartition("-")[2]] = float(found["results"]["gain"]["value"])
        if not gains:
            raise BadData(
                f"payloads/sideband/conversion-{STREAM}",
                "is not there, and the clock times the better attempt.",
                "Run: engine run sideband-conversion --out payloads",
            )
        return max(gains, key=lambda name: gains[name])

    def clock(self, documents: Documents) -> dict[str, Any]:
        """Milliseconds and tokens of both arms on every prompt, in turns, greedily, in one run."""
        mechanism = documents["better"]
        fitted, settings = self.fit(mechanism), self.settings
        prompts = self.side.population(self.conversion.populations[1])[: settings.clock_prompts]
        ids = [self.side.chat.prompt(prompt.text) for prompt in prompts]
        for prompt in ids[: settings.clock_warm]:
            self.timed(prompt, fitted)
        return {"mechanism": mechanism, "rows": [[i, *self.timed(p, fitted)] for i, p in enumerate(ids)]}

    def timed(self, prompt: list[int], fitted: Any) -> list[int]:
        """Vanilla: milliseconds, tokens, rounds; steered: the same, tokens as vanilla, and of the sidecar."""
        from engine.decode.drafts.model import ModelDraft
        from engine.decode.live import decode
        from engine.experiments.conversion import common
        from engine.observe.conversion_live import Tap, TappedDraft

        pair, new = self.side.pair, self.settings.clock_new_tokens
        length, capacity = self.conversion.draft_length, len(prompt) + new + self.conversion.draft_length
        tap = Tap(pair.target, self.side.source.constants)
        steered = TappedDraft(
            pair.draft, capacity, fitted=fitted, look=lambda _: None, prompt=len(prompt), named=pair.named
        )
        arms = ((pair.target, ModelDraft(pair.draft, capacity)), (tap.target, steered.follow(tap)))
        out, made = [], []
        for target, draft in arms:
            begun = perf_counter()
            made.append(decode(target, draft, prompt, length=length, new_tokens=new, end=self.side.chat.end))
            out += [round((perf_counter() - begun) * 1e3), len(made[-1].tokens), len(made[-1].rounds)]
        return [*out, common(made[0].tokens, made[1].tokens), round(steered.seconds * 1e3)]

    # payloads

    def payloads(self, documents: Documents) -> Sequence[Payload]:
        """Noise, widths, the clock and the bits."""
        return [
            self._noise(documents),
            self._widths(documents),
            self._clock(documents),
            self._bits(),
        ]

    def _noise(self, documents: Documents) -> Measured:
        settings, found = self.settings, [documents[f"seed/{s}"] for s in range(self.settings.seeds)]
        columns, shared = ["cluster"], set.intersection(*({row[0] for row in one} for one in found))
        rows = {cluster: [cluster] for cluster in sorted(shared)}
        for seed, one in enumerate(found):
            columns += [f"{c}_{what}_{seed}" for c in settings.conditions for what in ("emitted", "rounds")]
            for row in one:
                if row[0] in rows:
                    rows[row[0]] += row[1:]
        named = list(noise(settings, len(rows)))
        question = "How far does a change of seed alone move tokens a check, and how often is it a win?"
        regime = {"stream": TITLES[STREAM], "conditions": ", ".join(settings.conditions)}
        return self.document("seed-floor", question, regime, (columns, list(rows.values())), named, {})

    def _widths(self, documents: Documents) -> Measured:
        columns, rows, named, extra = ["cluster"], dict[int, list[int]](), [], dict[str, Any]()
        settings, kept = self.settings, self.side.source.constants.tap
        for kind, widths in (("slots", settings.widths), ("reader", settings.reader_widths)):
            for width in widths:
                at, found = f"{kind}_{width}", documents[f"{kind}/{width}"]["rows"]
                whole = {row[0]: row for row in documents[f"{kind}/{max(widths)}"]["rows"]}
                columns += [f"{at}_{name}" for name in ("total", "baseline", "stream", "over_half")]
                for cluster, total, baseline, stream in found:
                    full = whole[cluster][3] - whole[cluster][2]
                    half = 2 * (stream - baseline) - full
                    rows.setdefault(cluster, [cluster]).extend([total, baseline, stream, half])
                named += list(width_statements(at))
                if kind == "slots":
                    extra[at] = {"price": price(len(kept.layers) * kept.units, width)}
        question = "How narrow may the stream or its reader be before half of what it tells is lost?"
        regime = {
            "stream": TITLES[STREAM],
            "read": "the final state, beyond the partial baseline",
        }
        state = columns, [rows[cluster] for cluster in sorted(rows)]
        return self.document("width-s1", question, regime, state, named, extra)

    def _clock(self, documents: Documents) -> Measured:
        found = documents["clock"]
        arms = ("vanilla", "steered")
        columns = ["cluster", *(f"{arm}_{what}" for arm in arms for what in ("ms", "tokens", "rounds"))]
        columns += ["same", "sidecar_ms"]
        question = "Does the wall clock eat what conversion wins?"
        regime = {"stream": TITLES[STREAM], "mechanism": found["mechanism"], "live": "greedy, with its tap"}
        return self.document("clock", question, regime, (columns, found["rows"]), list(clocked()), {})

    def _bits(self) -> Measured:
        from engine.observe import economics

        constants, shape = self.side.source.constants, self.side.pair.target.shape
        tap, pages, experts = constants.tap, constants.pages, constants.experts
        layers = len(self.side.pair.target.layers)
        units = self.side.pair.target.layers[0].down.matrix.shape[1]
        oldest = constants.pages.ages
        bits = {
            "s1_listed": economics.listed(len(tap.layers) * tap.units, units),
            "s1_counted": economics.counted(len(tap.layers) * tap.units, tap.slots),
            "s2_listed": layers * economics.listed(pages.kept, oldest),
            "s3_listed": layers * economics.listed(experts.chosen, experts.experts),
            "s3_chosen": layers * economics.chosen(experts.chosen, experts.experts),
            "state_float32": economics.state(shape.width, "float32"),
            "state_float16": economics.state(shape.width, "float16"),
        }
        extra = {name: {"bits": value, "bytes": value / 8} for name, value in bits.items()}
        units_of = {"bits": "bits a token", "bytes": "bytes a token"}
        results = {
            name: {key: Leaf(value=lexeme(value), unit=units_of[key]) for key, value in both.items()}
            for name, both in extra.items()
        }
        question = "How many bytes a token is a stream, and how many is the state it could stand for?"
        return self.document("economics", question, {"counted": "from shapes"}, None, [], results)

    def document(
        self,
        name: str,
        question: str,
        regime: dict[str, Any],
        state: tuple[list[str], list[list[int]]] | None,
        named: list[tuple[str, str, Statistic]],
        extra: dict[str, Any],
    ) -> Measured:
        """A payload of this experiment; `extra` is put beside the estimates."""
        results, absent = dict[str, Any](), dict[str, str]()
        if state is not None:
            shared = self.conversion
            table = Table.from_rows(*state, root=shared.root, resamples=shared.resamples, level=shared.level)
            results, absent = evaluate(named, table)
        if name == "clock":
            results = marked(results)
        for key, value in extra.items():
            results[key] = {**results.get(key, {}), **value}
        kind, schema = (Rehearsal, "rehearsal") if self.quick else (Measured, "payload")
        given = {"target": registry.entry(TARGET).title, "draft": DRAFT, "precision": "fp32", "device": "CPU"}
        return kind.model_validate(
            {
                "schema": f"specdec-sidechannels/{schema}/1",
                "name": f"sideband/{name}",
                "question": question,
                "regime": regime | given,
                "config": shown(self.settings),
                "seeds": {"root": self.conversion.root},
                "provenance": gather(
                    ["engine", "run", "sideband-prices", *(["--quick"] if self.quick else [])],
                    packages=("numpy", "torch", "transformers"),
                    models=self.models,
                    inputs=[
                        *(PROMPTS_FILE, "payloads/registered/sideband.json"),
                        *(self.attempts() if name == "clock" else ()),
                    ],
                ),
                "results": results,
                "absent": absent or None,
                "state": State(columns=state[0], rows=state[1]) if state else None,
            }
        )


def price(kept: int, width: int) -> Leaf:
    """Bits a token of a stream of `kept` addresses in `width` slots."""
    from engine.observe import economics

    return Leaf(value=lexeme(economics.counted(kept, width)), unit="bits a token")


def marked(results: dict[str, Any]) -> dict[str, Any]:
    """The same results, those that are times marked as the machine's."""
    return {
        name: leaf.model_copy(update={"machine": True}) if "seconds" in name else leaf
        for name, leaf in results.items()
    }


def noise(settings: Floors, prompts: int) -> Iterator[tuple[str, str, Statistic]]:
    """Half widths and false wins of each condition, at both sizes."""
    for condition in settings.conditions:
        for name, size in (("all", prompts), ("small", settings.small_study)):
            shared: dict[str, Any] = {
                "numerator": [f"{condition}_emitted_{s}" for s in range(settings.seeds)],
                "denominator": [f"{condition}_rounds_{s}" for s in range(settings.seeds)],
                "prompts": size,
                "subsets": settings.subsets,
                "stream": f"floor/{condition}/{name}",
            }
            at, unit = f"{condition}.{name}", "tokens a check"
            yield f"{at}.half_width", unit, Statistic(kind="seed_spread", **shared)
            yield f"{at}.half_width_of_difference", unit, Statistic(kind="seed_difference", **shared)
            won = Statistic(kind="seed_gain", bar=lexeme(settings.win), **shared)
            yield f"{at}.false_wins", "share of pairs", won


def width_statements(at: str) -> Iterator[tuple[str, str, Statistic]]:
    """What is read at one width beyond the baseline, and how far that is above half of the whole."""
    below, unit = [f"{at}_total"], "share of variance"
    minus = Statistic(kind="ratio", numerator=[f"{at}_baseline"], denominator=below, stream="bootstrap")
    gained = Statistic(
        kind="difference", numerator=[f"{at}_stream"], denominator=below, minus=minus, stream="bootstrap"
    )
    yield f"{at}.gain", unit, gained
    half = Statistic(kind="ratio", numerator=[f"{at}_over_half"], denominator=below, stream="bootstrap")
    yield f"{at}.over_half", unit, half


def clocked() -> Iterator[tuple[str, str, Statistic]]:
    """The clock's estimates; times carry the word seconds in their names."""

    def per(above: str, below: str) -> Statistic:
        return Statistic(kind="ratio", numerator=[above], denominator=[below], stream="bootstrap")

    yield "seconds_ratio", "times vanilla's", per("steered_ms", "vanilla_ms")
    yield "milliseconds_sidecar", "milliseconds a check", per("sidecar_ms", "steered_rounds")
    yield "milliseconds_vanilla", "milliseconds a token", per("vanilla_ms", "vanilla_tokens")
    yield "milliseconds_steered", "milliseconds a token", per("steered_ms", "steered_tokens")
    yield "tokens_per_check_vanilla", "tokens a check", per("vanilla_tokens", "vanilla_rounds")
    yield "tokens_per_check_steered", "tokens a check", per("steered_tokens", "steered_rounds")
    for name, column in (("tokens", "vanilla_tokens"), ("tokens_as_vanilla", "same")):
        yield name, "tokens", Statistic(kind="sum", numerator=[column], stream="bootstrap")
