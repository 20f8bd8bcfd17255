"""Does a signal in a stream become accepted tokens?

Two mechanisms in a registered order, each judged on its own fresh prompts, on every stream: a win ends
the stream's lane, and so does the second attempt. Rounds are replayed from texts that the target
sampled, so the output is the target's in every arm; all arms share texts and uniform draws and are paired
by prompt.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from engine.contract.errors import BadData
from engine.contract.payload import Leaf, Measured, ModelDigest, Payload, Rehearsal, State, Statistic
from engine.contract.provenance import gather
from engine.contract.seeds import Stream
from engine.decode import registry
from engine.experiments.acceptance import evaluate, model_digest
from engine.experiments.existence import RECORDED, TITLES, Existence
from engine.experiments.prompts import Prompt, named
from engine.experiments.settings import shown
from engine.observe import conversion_constants as registered
from engine.observe.conversion_constants import Conversion
from engine.run import Documents, Task, source_digest
from engine.stats.statistic import Table

CODE = ("engine/observe/**/*.py", "engine/stats/ridge.py", "engine/decode/**/*.py")
PROMPTS_FILE = "engine/experiments/prompts/conversion.toml"
DRAFT = "smollm2-draft"
TARGETS = {"s1": "smollm2", "s2": "smollm2", "s3": "smollm2-moe"}
ARMS = ("vanilla", "stream", "twin", "oracle")
MECHANISMS = {
    "bias": "a linear map from the stream shifts the draft's logits",
    "retrieval": "recorded positions with the nearest streams propose what followed them",
}
QUICK = {"prompts_each": 24, "new_tokens": 32, "fit_clusters": 10, "choose_clusters": 4, "live_prompts": 2}


def constants(quick: bool) -> Conversion:
    """The registered constants; of a quick run, fewer of everything under another root."""
    found = registered.read(Conversion)
    return replace(found, root=found.root + 1, **QUICK) if quick else found  # type: ignore[arg-type]


@dataclass
class Side:
    """A target with its draft, and the harvests that conversion and its neighbours read."""

    target: str
    quick: bool
    settings: Conversion

    @cached_property
    def source(self) -> Existence:
        """The experiment whose harvests are fitted on."""
        streams = tuple(name for name, target in TARGETS.items() if target == self.target)
        return Existence(self.target, streams, "sideband-conversion", self.quick)

    @cached_property
    def pair(self) -> Any:
        """Target and draft, loaded."""
        from engine.decode import models
        from engine.observe.conversion_passages import Pair

        return Pair(models.load(self.target), models.load(DRAFT))

    @cached_property
    def chat(self) -> Any:
        """The tokenizer."""
        from engine.decode import models

        return models.load_chat(self.target)

    def population(self, name: str) -> list[Prompt]:
        """The fresh prompts of one attempt; a quick run leaves them so and takes other prompts."""
        fresh = [prompt for prompt in named("conversion") if prompt.id.startswith(f"{name}-")]
        found = named("acceptance") if self.quick else fresh
        return found[:: len(found) // self.settings.prompts_each][: self.settings.prompts_each]

    def collect(self, population: str, seed: int = 0) -> Any:
        """The harvest of a population under a seed, one text a prompt; made if it is not there."""
        from engine.observe.collect import Wanted, collect

        constants, settings = self.source.constants, self.settings
        harvest = replace(
            constants.harvest,
            prompts=settings.prompts_each,
            texts=1,
            new_tokens=settings.new_tokens,
            batch=settings.batch,
            temperature=settings.temperature,
            prompts_file=PROMPTS_FILE,
        )
        ending = f"{population}-{seed}{'-quick' if self.quick else ''}"
        wanted = Wanted(
            name=f"{self.target}-conversion-{ending}",
            seeds=f"conversion/{population}/{seed}",
            model=self.target,
            model_sha256=self.source.digest.sha256,
            prompts=[(prompt.id, prompt.text) for prompt in self.population(population)],
            streams=RECORDED[self.target],
            constants=replace(constants, harvest=harvest),
        )
        return collect(wanted, self.source.load)

    def primary(self) -> Any:
        """The harvest that is fitted on."""
        from engine.observe.harvest import Harvest

        self.source.collect({}, harvest="primary")
        return Harvest.open(self.source.harvest_name("primary"), model=self.source.digest.sha256)

    def texts(self, harvest: Any, prompts: Sequence[Prompt]) -> Any:
        """What every arm reads of a harvest, without a stream."""
        from engine.observe.conversion_passages import texts

        ids = [self.chat.prompt(prompt.text) for prompt in prompts]
        return texts(arrays(harvest), self.pair, ids, self.settings.oracle_slots)

    @cached_property
    def fitting(self) -> Any:
        """The texts of the harvest that is fitted on."""
        return self.texts(self.primary(), self.source.prompts)

    def features(self, harvest: Any, stream: str) -> Any:
        """The columns of a stream over a whole harvest."""
        from engine.observe.streams import STREAMS

        return STREAMS[stream].features(arrays(harvest), self.source.constants)

    def parts(self, passages: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        """Passages to fit on, and the first text of each prompt to choose on."""
        from engine.observe.split import split

        parts, given = split(self.source.constants), self.settings
        sizes, wanted = (
            (len(parts.train), len(parts.validation)),
            (given.fit_clusters, given.choose_clusters),
        )
        if sizes != wanted:
            raise BadData(
                f"a split of {sizes}", f"is not the registered {wanted}.", "Register sizes that fit."
            )
        pairs = list(zip(self.fitting.spans, passages, strict=True))
        fit, choose = set(parts.train.tolist()), set(parts.validation.tolist())
        return (
            [passage for span, passage in pairs if span.cluster in fit],
            [passage for span, passage in pairs if span.cluster in choose and span.text == 0],
        )


def arrays(harvest: Any) -> dict[str, Any]:
    """All arrays of a harvest, memory-mapped."""
    return {name: harvest.array(name) for name in harvest.index["arrays"]}


def grid(settings: Conversion, mechanism: str) -> Any:
    """The registered grid of a mechanism."""
    from engine.observe.conversion_bias import BiasGrid
    from engine.observe.conversion_retrieval import RetrievalGrid

    if mechanism == "bias":
        return BiasGrid(settings.rank, settings.ridge, settings.scale)
    return RetrievalGrid(settings.neighbours, settings.weight)


def fit_arms(side: Side, stream: str, mechanism: str) -> dict[str, Any]:
    """The mechanism fitted on the stream, on its scrambled twin and on the oracle's stream."""
    from engine.observe.conversion import scrambled
    from engine.observe.conversion_passages import with_answers, with_stream

    settings, harvest = side.settings, side.primary()
    offsets, heads, out = settings.draft_length, side.pair.heads, {}
    own = list(with_stream(side.fitting, side.features(harvest, stream), offsets))
    for arm in ("stream", "twin", "oracle"):
        passages = own if arm != "oracle" else list(with_answers(side.fitting, offsets))
        fit, choose = side.parts(passages)
        if arm == "twin":
            fit = scrambled(fit, settings.root, f"conversion/twin/{stream}/{mechanism}/fit")
            choose = scrambled(choose, settings.root, f"conversion/twin/{stream}/{mechanism}/choose")
        out[arm] = grid(settings, mechanism).fit(heads, fit, choose)
    return out


def judged(side: Side, stream: str, mechanism: str, harvest: Any, population: str) -> dict[str, list[Any]]:
    """The passages of a population as each arm sees them."""
    from engine.observe.conversion import scrambled
    from engine.observe.conversion_passages import with_answers, with_stream

    offsets = side.settings.draft_length
    read = side.texts(harvest, side.population(population))
    own = list(with_stream(read, side.features(harvest, stream), offsets))
    twin = scrambled(own, side.settings.root, f"conversion/twin/{stream}/{mechanism}/judge")
    return {"vanilla": own, "stream": own, "twin": twin, "oracle": list(with_answers(read, offsets))}


def walk(side: Side, passage: Any, fitted: Any, name: str) -> list[int]:
    """Emitted, rounds and proposed of one replayed passage; `name` names its uniform draws."""
    from engine.decode.replay import rounds
    from engine.observe.conversion import by_offset, chances

    settings = side.settings
    uniform = Stream(settings.root, f"conversion/accept/{name}").uniform(len(passage))[:, None]
    stands = uniform < chances(passage, side.pair.heads, fitted)
    limit = settings.new_tokens - 1
    done = rounds(by_offset(stands), text=len(passage), length=settings.draft_length, new_tokens=limit)
    return [sum(r.emitted for r in done), len(done), sum(r.proposed for r in done)]


@dataclass
class ConversionLane:
    """All attempts on all streams."""

    quick: bool = False

    def rehearsal(self) -> ConversionLane:
        """A small one of the same kind."""
        return ConversionLane(quick=True)

    @cached_property
    def settings(self) -> Conversion:
        """The registered constants; of a quick run, fewer of everything under another root."""
        return constants(self.quick)

    @cached_property
    def sides(self) -> dict[str, Side]:
        """Each target with its draft."""
        targets = {TARGETS[stream] for stream in self.settings.streams}
        return {target: Side(target, self.quick, self.settings) for target in sorted(targets)}

    @cached_property
    def models(self) -> list[ModelDigest]:
        """The pinned weights."""
        return [model_digest(name) for name in (*self.sides, DRAFT)]

    @property
    def key(self) -> str:
        """Constants, weights, prompts and code."""
        code = source_digest([*CODE, "engine/experiments/conversion.py", PROMPTS_FILE])
        sources = [asdict(side.source.constants) for side in self.sides.values()]
        return f"{asdict(self.settings)} {sources} {[m.sha256 for m in self.models]} {code}"

    def order(self) -> list[tuple[str, str, str]]:
        """(stream, mechanism, population) of every attempt there may be, in order."""
        pairs = list(zip(self.settings.attempts, self.settings.populations, strict=True))
        lane = pairs[: self.settings.attempts_most]
        return [(stream, *pair) for stream in self.settings.streams for pair in lane]

    def tasks(self) -> list[Task]:
        """Harvests first, then the attempts in their order."""
        out = []
        for target in self.sides:
            out.append(Task(f"primary/{target}", 5.0, partial(self._primary, target=target)))
            for population in self.settings.populations:
                work = partial(self._harvest, target=target, population=population)
                out.append(Task(f"harvest/{target}/{population}", 240.0, work))
        for stream, mechanism, population in self.order():
            work = partial(self.attempt, stream=stream, mechanism=mechanism, population=population)
            out.append(Task(f"attempt/{stream}/{mechanism}", 300.0, work))
        return out

    def _primary(self, _: Documents, *, target: str) -> dict[str, Any]:
        return {"rows": self.sides[target].primary().rows}

    def _harvest(self, _: Documents, *, target: str, population: str) -> dict[str, Any]:
        index = self.sides[target].collect(population).index
        return {"rows": index["rows"], "arrays": {k: v["sha256"] for k, v in index["arrays"].items()}}

    def attempt(
        self, documents: Documents, *, stream: str, mechanism: str, population: str
    ) -> dict[str, Any]:
        """One attempt, unless the lane has stopped: its state, what was chosen, and the live check."""
        won = self.winner(documents, stream, before=mechanism)
        if won is not None:
            return {"unrun": f"The lane of {stream} ended at its first win, with the mechanism {won}."}
        side = self.sides[TARGETS[stream]]
        arms = fit_arms(side, stream, mechanism)
        harvest = side.collect(population)
        passages = judged(side, stream, mechanism, harvest, population)
        ids = [prompt.id for prompt in side.population(population)]
        clusters = [int(c) for c in dict.fromkeys(np.asarray(harvest.array("prompt")).tolist())]
        rows = []
        for index, cluster in enumerate(clusters):
            row = [cluster]
            for arm in ARMS:
                row += walk(side, passages[arm][index], arms.get(arm), ids[cluster])
            rows.append(row)
        chosen = {arm: chosen_of(fitted) for arm, fitted in arms.items()}
        return {"rows": rows, "chosen": chosen, "live": live_check(side, passages, arms, population, harvest)}

    # verdicts

    def winner(self, documents: Documents, stream: str, *, before: str | None = None) -> str | None:
        """The mechanism of this stream that won, among those before one."""
        for mechanism in self.settings.attempts:
            if mechanism == before:
                return None
            found = documents.get(f"attempt/{stream}/{mechanism}", {"unrun": ""})
            if "unrun" not in found and self.wins(self.results(found)[0]):
                return mechanism
        return None

    def wins(self, results: dict[str, Any]) -> bool:
        """The registered rule: interval above zero, value at the bar, and more than the scrambled twin."""
        gain, over = results.get("gain"), results.get("over_twin")
        if gain is None or over is None:
            return False
        return float(gain.low) > 0.0 and float(gain.value) >= self.settings.bar and float(over.low) > 0.0

    def results(self, found: dict[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
        """The estimates of one attempt's state."""
        settings = self.settings
        table = Table.from_rows(
            columns(), found["rows"], root=settings.root, resamples=settings.resamples, level=settings.level
        )
        return evaluate(list(statements()), table)

    # payloads

    def payloads(self, documents: Documents) -> Sequence[Payload]:
        """One payload an attempt that ran, and the lane's count."""
        run = [each for each in self.order() if "unrun" not in documents[f"attempt/{each[0]}/{each[1]}"]]
        return [*(self._attempt(documents, *each) for each in run), self._lane(documents)]

    def _attempt(self, documents: Documents, stream: str, mechanism: str, population: str) -> Measured:
        found = documents[f"attempt/{stream}/{mechanism}"]
        results, absent = self.results(found)
        results["chosen"] = {arm: leaves(values) for arm, values in found["chosen"].items()}
        results["live"] = leaves({k: (v, "tokens") for k, v in found["live"].items()})
        question = f"Does {TITLES[stream]}, become accepted tokens where {MECHANISMS[mechanism]}?"
        return self.document(
            f"conversion-{stream}-{mechanism}",
            question,
            {
                "target": registry.entry(TARGETS[stream]).title,
                "stream": TITLES[stream],
                "mechanism": MECHANISMS[mechanism],
                "population": population,
            },
            results,
            absent,
            State(columns=columns(), rows=found["rows"]),
        )

    def _lane(self, documents: Documents) -> Measured:
        counts: dict[str, Any] = {}
        absent = {}
        for stream, mechanism, _ in self.order():
            found = documents[f"attempt/{stream}/{mechanism}"]
            one = counts.setdefault(stream, {"attempts": 0, "wins": 0, "oracle_wins": 0})
            if "unrun" in found:
                absent[f"{stream}.{mechanism}"] = found["unrun"]
                continue
            results = self.results(found)[0]
            oracle = results.get("oracle_gain")
            one["attempts"] += 1
            one["wins"] += self.wins(results)
            one["oracle_wins"] += (
                oracle is not None and float(oracle.low) > 0.0 and float(oracle.value) >= self.settings.bar
            )
        whole = {key: sum(one[key] for one in counts.values()) for key in ("attempts", "wins", "oracle_wins")}
        results = {name: leaves({k: (v, "attempts") for k, v in one.items()}) for name, one in counts.items()}
        results |= leaves({key: (value, "attempts") for key, value in whole.items()})
        question = "How many attempts at conversion were made, and how many won by the registered rule?"
        return self.document("conversion", question, {"streams": ", ".join(counts)}, results, absent, None)

    def document(
        self,
        name: str,
        question: str,
        regime: dict[str, Any],
        results: dict[str, Any],
        absent: dict[str, str],
        state: State | None,
    ) -> Measured:
        """A payload of this experiment."""
        kind, schema = (Rehearsal, "rehearsal") if self.quick else (Measured, "payload")
        shared = {"draft": DRAFT, "precision": "fp32", "decoding": "at temperature one", "device": "CPU"}
        return kind.model_validate(
            {
                "schema": f"specdec-sidechannels/{schema}/1",
                "name": f"sideband/{name}",
                "question": question,
                "regime": regime | shared,
                "config": shown(self.settings),
                "seeds": {"root": self.settings.root},
                "provenance": gather(
                    ["engine", "run", "sideband-conversion", *(["--quick"] if self.quick else [])],
                    packages=("numpy", "torch", "transformers"),
                    models=self.models,
                    inputs=[PROMPTS_FILE, "payloads/registered/sideband.json"],
                ),
                "results": results,
                "absent": absent or None,
                "state": state,
            }
        )


def live_check(
    side: Side, passages: dict[str, list[Any]], arms: dict[str, Any], population: str, harvest: Any
) -> dict[str, int]:
    """Greedy live decoding with every arm's draft and the exact verifier, against plain greedy decoding.

    The arm's stream is that of the recorded text of the same prompt, whatever is decoded: a steered draft
    may be as wrong as it likes, and the output must stay the target's.
    """
    from engine.decode.live import decode
    from engine.decode.sample import Row, generate
    from engine.observe.conversion_live import SteeredDraft, recorded

    settings = side.settings
    prompts = side.population(population)[: settings.live_prompts]
    ids = [side.chat.prompt(prompt.text) for prompt in prompts]
    end, new = side.chat.end, settings.new_tokens
    own = [generate(side.pair.target, [Row(tuple(each))], new_tokens=new, end=end).texts[0] for each in ids]
    out = {"plain": sum(len(text) for text in own)}
    for arm, fitted in arms.items():
        same = 0
        for index, prompt in enumerate(ids):
            look = recorded(passages[arm][index].rows[0])
            capacity = len(prompt) + new + settings.draft_length
            draft = SteeredDraft(
                side.pair.draft, capacity, fitted=fitted, look=look, prompt=len(prompt), named=side.pair.named
            )
            made = decode(
                side.pair.target, draft, prompt, length=settings.draft_length, new_tokens=new, end=end
            )
            same += common(made.tokens, own[index])
        out[f"{arm}_as_plain"] = same
    return out


def common(first: Sequence[int], second: Sequence[int]) -> int:
    """How many tokens agree before the first that differs."""
    differing = (i for i, (a, b) in enumerate(zip(first, second, strict=False)) if a != b)
    return next(differing, min(len(first), len(second)))


def chosen_of(fitted: Any) -> dict[str, tuple[float, str]]:
    """What was chosen on the validation prompts, each with its unit."""
    from engine.observe.conversion_bias import Bias

    if isinstance(fitted, Bias):
        return {"ridge": (fitted.penalty, "mean feature variances"), "scale": (fitted.scale, "share")}
    return {"neighbours": (fitted.neighbours, "positions"), "weight": (fitted.weight, "share")}


def leaves(values: dict[str, Any]) -> dict[str, Any]:
    """Quantities from (value, unit)."""
    return {name: Leaf(value=value, unit=unit) for name, (value, unit) in values.items()}


def columns() -> list[str]:
    """State columns of an attempt."""
    return ["cluster", *(f"{arm}_{what}" for arm in ARMS for what in ("emitted", "rounds", "proposed"))]


def statements() -> Iterator[tuple[str, str, Statistic]]:
    """Name, unit and statistic of every estimate of an attempt."""
    for arm in ARMS:
        yield f"tokens_per_check.{arm}", "tokens a check", rate(arm)
        yield f"proposed_per_check.{arm}", "tokens a check", rate(arm, "proposed")
    for name, arm, other in (
        ("gain", "stream", "vanilla"),
        ("over_twin", "stream", "twin"),
        ("twin_gain", "twin", "vanilla"),
        ("oracle_gain", "oracle", "vanilla"),
    ):
        one = rate(arm)
        yield (
            name,
            "tokens a check",
            Statistic(
                kind="difference",
                numerator=one.numerator,
                denominator=one.denominator,
                minus=rate(other),
                stream="bootstrap",
            ),
        )


def rate(arm: str, what: str = "emitted") -> Statistic:
    """Tokens a check of one arm."""
    above, below = [f"{arm}_{what}"], [f"{arm}_rounds"]
    return Statistic(kind="ratio", numerator=above, denominator=below, stream="bootstrap")
