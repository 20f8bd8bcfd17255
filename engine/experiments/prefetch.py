"""Which experts does the next forward need, and does watching the routers help to have them ready?

On both harvests of the target with experts: caches, a predictor from routing history and the current
token, and the same predictor with the target's own stored state on the free side.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from engine.contract.payload import Leaf, Measured, Payload, Rehearsal, State, Statistic
from engine.contract.provenance import gather
from engine.contract.seeds import Stream
from engine.decode import registry
from engine.experiments.acceptance import evaluate
from engine.experiments.conversion import CODE, Side, arrays, constants
from engine.experiments.settings import shown
from engine.observe import conversion_constants as registered
from engine.observe.conversion_constants import Conversion, Prefetching
from engine.run import Documents, Task, source_digest
from engine.stats.statistic import Table

TARGET = "smollm2-moe"
FIELDS = ("needed", "hits", "issued", "useful", "evicted", "moved")
PREDICTORS = ("history", "token", "shuffled", "state", "state_history")
"""What a predictor reads beside the token: routing, nothing, routing in shuffled time, the state, both."""
POLICIES = (
    "recent",
    "frequent",
    "belady",
    "recent_extra",
    *PREDICTORS,
    "answer",
    "recent_and_prefetch",
    "overlap",
)
MARGIN = "share"
"""The unit of the registered margin; the hit rates are shares of needed experts."""


@dataclass
class Prefetch:
    """Both harvests."""

    quick: bool = False

    def rehearsal(self) -> Prefetch:
        """A small one of the same kind."""
        return Prefetch(quick=True)

    @cached_property
    def settings(self) -> Prefetching:
        """The registered constants."""
        return registered.read(Prefetching)

    @cached_property
    def conversion(self) -> Conversion:
        """The constants shared with conversion: root, level, resamples."""
        return constants(self.quick)

    @cached_property
    def side(self) -> Side:
        """The target with experts."""
        return Side(TARGET, self.quick, self.conversion)

    @property
    def key(self) -> str:
        """Constants, weights and code."""
        own = [f"engine/experiments/{name}.py" for name in ("prefetch", "conversion")]
        source = asdict(self.side.source.constants), self.side.source.digest.sha256
        return f"{asdict(self.settings)} {asdict(self.conversion)} {source} {source_digest([*CODE, *own])}"

    def tasks(self) -> list[Task]:
        """One reading a harvest."""
        return [
            Task(f"read/{harvest}", 240.0, partial(self.read, harvest=harvest))
            for harvest in self.settings.harvests
        ]

    def texts(self, harvest: str) -> list[Any]:
        """Every text of a harvest as a trace, those too short to predict anything left out."""
        from engine.observe.conversion_passages import spans
        from engine.observe.harvest import Harvest
        from engine.observe.prefetch import Text

        source = self.side.source
        source.collect({}, harvest=harvest)
        read = arrays(Harvest.open(source.harvest_name(harvest), model=source.digest.sha256))
        out = []
        for span in spans(read):
            chosen = np.asarray(read["experts"][span.rows]).astype(np.int64)
            needed = np.zeros((*chosen.shape[:2], source.constants.experts.experts), dtype=bool)
            np.put_along_axis(needed, chosen, True, axis=2)
            tokens = np.asarray(read["token"][span.rows]).astype(np.int64)
            if len(needed) > 1:
                out.append(Text(span.cluster, needed, tokens, np.asarray(read["hidden"][span.rows])))
        return out

    def read(self, _: Documents, *, harvest: str) -> dict[str, list[list[int]]]:
        """Counts of every policy on every held-out prompt."""
        from engine.observe.prefetch import TokenTable, predictor
        from engine.observe.split import split

        texts, parts = self.texts(harvest), split(self.side.source.constants)
        fit, choose, test = ([t for t in texts if t.cluster in set(part.tolist())] for part in parts.parts)
        table, settings = TokenTable(fit, self.settings.token_smoothing), self.settings
        shuffled = {id(text): self.shuffled(text, f"{harvest}/{index}") for index, text in enumerate(texts)}
        maps = {}
        for name in PREDICTORS:
            columns = partial(self.columns, name=name, table=table, shuffled=shuffled)
            grid = settings.state_ridge if name.startswith("state") else settings.ridge
            maps[name] = predictor(fit, choose, columns, grid, settings.kept), columns
        state: dict[int, Any] = {}
        for text in test:
            counts = np.array(self.counts(text, maps))
            state[text.cluster] = state.get(text.cluster, 0) + counts
        return {"rows": [[cluster, *map(int, state[cluster])] for cluster in sorted(state)]}

    def shuffled(self, text: Any, name: str) -> Any:
        """The text with its routing in another order of time."""
        order = Stream(self.conversion.root, f"prefetch/shuffled/{name}").permutation(len(text.needed))
        return replace(text, needed=text.needed[order])

    def columns(self, text: Any, layer: int, *, name: str, table: Any, shuffled: dict[int, Any]) -> Any:
        """What a predictor reads before each forward of a text."""
        from engine.observe.prefetch import before, history

        parts = [table(text.tokens)[:, layer]]
        if name in ("history", "state_history"):
            parts.append(history(text, layer, self.settings.decays))
        if name == "shuffled":
            parts.append(history(shuffled[id(text)], layer, self.settings.decays))
        if name.startswith("state"):
            parts.append(before(text.states))
        return np.concatenate(parts, axis=1)

    def counts(self, text: Any, maps: dict[str, Any]) -> list[int]:
        """Six numbers a policy, in the order of `POLICIES`."""
        from engine.observe import prefetch

        needed, kept, extra = text.needed, self.settings.kept, self.settings.extra
        predicted = {name: prefetch.scores(text, *made) for name, made in maps.items()}
        made = {
            "recent": prefetch.recent(needed, kept),
            "frequent": prefetch.frequent(needed, kept),
            "belady": prefetch.belady(needed, kept),
            "recent_extra": prefetch.recent(needed, kept + extra),
            "answer": prefetch.ready(needed, needed.astype(float), kept),
            "recent_and_prefetch": prefetch.recent_and_ready(needed, predicted["history"], kept, extra),
            "overlap": prefetch.ready(needed, predicted["history"], int(needed[0, 0].sum())),
        } | {name: prefetch.ready(needed, values, kept) for name, values in predicted.items()}
        return [getattr(made[policy], field) for policy in POLICIES for field in FIELDS]

    # payloads

    def payloads(self, documents: Documents) -> Sequence[Payload]:
        """One payload a harvest."""
        return [self._reading(documents, harvest) for harvest in self.settings.harvests]

    def _reading(self, documents: Documents, harvest: str) -> Measured:
        rows, shared = documents[f"read/{harvest}"]["rows"], self.conversion
        columns = ["cluster", *(f"{policy}_{field}" for policy in POLICIES for field in FIELDS)]
        table = Table.from_rows(
            columns, rows, root=shared.root, resamples=shared.resamples, level=shared.level
        )
        results, absent = evaluate(list(statements()), table)
        size = expert_bytes(self.side.pair.target)
        results["expert"] = {"bytes": Leaf(value=size, unit="bytes")}
        kind, schema = (Rehearsal, "rehearsal") if self.quick else (Measured, "payload")
        return kind.model_validate(
            {
                "schema": f"specdec-sidechannels/{schema}/1",
                "name": f"sideband/prefetch-{harvest}",
                "question": "Which experts does the next forward need, and does watching the routers help?",
                "regime": {
                    "target": registry.entry(TARGET).title,
                    "precision": "fp32",
                    "decoding": "at temperature one",
                    "harvest": harvest,
                    "device": "CPU",
                },
                "config": shown(self.settings),
                "seeds": {"root": shared.root},
                "provenance": gather(
                    ["engine", "run", "sideband-prefetch", *(["--quick"] if self.quick else [])],
                    packages=("numpy", "torch"),
                    models=[self.side.source.digest],
                    inputs=["payloads/registered/sideband.json"],
                ),
                "results": results,
                "absent": absent or None,
                "state": State(columns=columns, rows=rows),
            }
        )


def expert_bytes(target: Any) -> int:
    """Bytes of one expert of one layer: its share of the gate, up and down projections."""
    layer = target.layers[0]
    whole = sum(m.numel() * m.element_size() for m in (layer.gate_up.matrix, layer.down.matrix))
    return int(whole // len(layer.router))


def share(policy: str, above: str, below: str) -> Statistic:
    """A ratio of two counts of one policy."""
    return Statistic(
        kind="ratio", numerator=[f"{policy}_{above}"], denominator=[f"{policy}_{below}"], stream="bootstrap"
    )


def margin(one: str, other: str) -> Statistic:
    """The hit rate of one policy less another's."""
    first = share(one, "hits", "needed")
    return Statistic(
        kind="difference",
        numerator=first.numerator,
        denominator=first.denominator,
        minus=share(other, "hits", "needed"),
        stream="bootstrap",
    )


def statements() -> Iterator[tuple[str, str, Statistic]]:
    """Name, unit and statistic of every estimate of a harvest."""
    unit = "share of needed experts"
    for policy in POLICIES:
        if policy in ("answer",):
            for field in ("needed", "hits"):
                counted = Statistic(kind="sum", numerator=[f"answer_{field}"], stream="bootstrap")
                yield f"answer.{field}", "experts", counted
            continue
        yield f"{policy}.hits", unit, share(policy, "hits", "needed")
        yield f"{policy}.moved", "experts moved an expert needed", share(policy, "moved", "needed")
    for policy in (*PREDICTORS, "recent_and_prefetch"):
        yield f"{policy}.useful", "share of issued", share(policy, "useful", "issued")
        if policy != "recent_and_prefetch":
            yield f"{policy}.evicted", unit, share(policy, "evicted", "needed")
    for name, one, other in (
        ("over_recent", "history", "recent"),
        ("over_frequent", "history", "frequent"),
        ("over_token", "history", "token"),
        ("over_shuffled", "history", "shuffled"),
        ("prefetch_over_extra", "recent_and_prefetch", "recent_extra"),
        ("beside_state.margin", "state_history", "state"),
        ("beside_state.over_history", "state", "history"),
    ):
        yield name, MARGIN, margin(one, other)
