"""Does a stream give the target's final hidden state away, beyond what is free, and is that state free?

A linear map from each stream over each baseline, with a scrambled twin beside it, on prompts held out; then
the same state from the next-token law by least squares through the output head.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from engine.contract.errors import BadData
from engine.contract.payload import Leaf, Measured, Payload, Rehearsal, State, Statistic
from engine.contract.provenance import gather
from engine.contract.seeds import Stream
from engine.decode import registry
from engine.experiments.acceptance import evaluate
from engine.experiments.conversion import CODE, TARGETS, Side, arrays, constants
from engine.experiments.existence import TITLES
from engine.experiments.settings import shown
from engine.observe import conversion_constants as registered
from engine.observe.conversion_constants import Conversion, Reconstruction
from engine.run import Documents, Task, source_digest
from engine.stats.statistic import Table

SMALL = {"fit_clusters": 8, "choose_clusters": 4, "test_clusters": 12, "positions_numeric": 16}
COLUMNS = ("total", "baseline", "stream", "twin", "outside")
NEAR = COLUMNS[:3]
"""Columns that are kept a second time, zero in the prompts farthest from the support."""


@dataclass
class Rebuilding:
    """All cells of reconstruction, and the state that follows from the law."""

    quick: bool = False

    def rehearsal(self) -> Rebuilding:
        """A small one of the same kind."""
        return Rebuilding(quick=True)

    @cached_property
    def settings(self) -> Reconstruction:
        """The registered constants; of a quick run, fewer prompts."""
        found = registered.read(Reconstruction)
        return replace(found, **SMALL) if self.quick else found  # type: ignore[arg-type]

    @cached_property
    def conversion(self) -> Conversion:
        """The constants shared with conversion: root, level, resamples."""
        return constants(self.quick)

    @cached_property
    def sides(self) -> dict[str, Side]:
        """Each target."""
        targets = sorted({TARGETS[stream] for stream in self.settings.streams})
        return {target: Side(target, self.quick, self.conversion) for target in targets}

    @property
    def key(self) -> str:
        """Constants, weights and code."""
        code = source_digest(
            [*CODE, "engine/experiments/reconstruction.py", "engine/experiments/conversion.py"]
        )
        sources = [(asdict(s.source.constants), s.source.digest.sha256) for s in self.sides.values()]
        return f"{asdict(self.settings)} {asdict(self.conversion)} {sources} {code}"

    def tasks(self) -> list[Task]:
        """Every cell, then the numbers of the law."""
        out = [
            Task(
                f"cell/{stream}/{baseline}/{ahead}",
                60.0,
                partial(self.cell, stream=stream, baseline=baseline, ahead=ahead),
            )
            for stream in self.settings.streams
            for baseline in self.settings.baselines
            for ahead in self.settings.aheads
        ]
        return [*out, Task("law", 60.0, self.law)]

    def clusters(self, side: Side) -> tuple[Any, Any, Any]:
        """Clusters to fit on, to choose on and to test on: the last training ones are tested too."""
        from engine.observe.split import split

        parts, settings = split(side.source.constants), self.settings
        fit, rest = parts.train[: settings.fit_clusters], parts.train[settings.fit_clusters :]
        test = np.concatenate([rest, parts.held_out])
        if (len(parts.validation), len(test)) != (settings.choose_clusters, settings.test_clusters):
            raise BadData(
                f"{len(parts.validation)} and {len(test)} clusters",
                f"are not the registered {settings.choose_clusters} and {settings.test_clusters}.",
                "Register sizes that fit the split.",
            )
        return fit, parts.validation, test

    def cell(self, _: Documents, *, stream: str, baseline: str, ahead: int) -> dict[str, Any]:
        """The state of one cell."""
        from engine.observe.baseline import BASELINES
        from engine.observe.reconstruction import by_cluster, parts_of, rebuild, support

        side = self.sides[TARGETS[stream]]
        read = arrays(side.primary())
        now, then = steps(read, ahead)
        clusters = np.asarray(read["prompt"])[now].astype(np.int64)
        fit, choose, test = self.clusters(side)
        parts = parts_of(clusters, fit, choose, test)
        states = np.asarray(read["hidden"])[then].astype(np.float64)
        free = BASELINES[baseline](read, side.source.constants)[now]
        rows = side.features(side.primary(), stream)[now]
        blocks = {
            "baseline": [free],
            "stream": [free, rows],
            "twin": [free, rows[self.twin(clusters, parts, f"{stream}/{baseline}/{ahead}")]],
        }
        made = {arm: rebuild(given, states, parts, self.settings.ridge) for arm, given in blocks.items()}
        squares = ((states - states[parts.fit].mean(axis=0)) ** 2).sum(axis=1)
        unit = float(squares[parts.fit].mean()) / self.settings.scale_of_state
        here, seen = clusters[parts.test], np.concatenate([clusters[parts.choose], clusters[parts.test]])
        judged = support(made["stream"].leverage, seen, choose, test, self.settings.worst)
        total = by_cluster(squares[parts.test], here, test)
        table = [
            np.rint((total - by_cluster(one.error, here, test)) / unit).astype(int) for one in made.values()
        ]
        worst = set(judged.worst.tolist())
        state = [
            [int(c), int(int(c) not in worst), round(total[i] / unit), *(int(t[i]) for t in table), int(out)]
            for i, (c, out) in enumerate(zip(test, judged.outside, strict=True))
        ]
        penalties = {arm: one.penalty for arm, one in made.items()}
        return {"rows": state, "expected": judged.expected, "penalties": penalties}

    def twin(self, clusters: Any, parts: Any, name: str) -> Any:
        """For each row, the row of another prompt of the same part to take in its place."""
        from engine.observe.twin import check_scrambled, twin

        part = np.full(len(clusters), 3)
        for index, rows in enumerate((parts.fit, parts.choose, parts.test)):
            part[rows] = index
        known = np.flatnonzero(part < 3)
        taken = np.arange(len(clusters))
        given = clusters[known].astype(np.int32), part[known]
        order = twin(*given, self.conversion.root, f"reconstruction/twin/{name}")
        check_scrambled(order, *given, known[:, None].astype(np.float32))
        taken[known] = known[order]
        return taken

    # the law

    def law(self, _: Documents) -> dict[str, Any]:
        """The state from the law, at positions drawn from the harvest, by rows of the head and precision."""
        from engine.observe.reconstruction import recover, rounded

        side = self.sides["smollm2"]
        read = arrays(side.primary())
        order = Stream(self.conversion.root, "reconstruction/law").permutation(len(read["prompt"]))
        states = np.asarray(read["hidden"])[np.sort(order[: self.settings.positions_numeric])].astype(
            np.float64
        )
        head = side.pair.target.head.matrix.double().numpy()
        logits = states @ head.T
        top = logits.max(axis=1)
        constant = top + np.log(np.exp(logits - top[:, None]).sum(axis=1))
        laws = logits - constant[:, None]
        out = {}
        for precision in self.settings.roundings:
            for kept in self.settings.kept_rows:
                size = min(kept, len(head))
                found = recover(head[:size], rounded(laws[:, :size], precision))
                error = np.linalg.norm(found.states - states, axis=1) / np.linalg.norm(states, axis=1)
                out[f"{precision}/{kept}"] = {
                    "rank": found.rank,
                    "unknowns": found.unknowns,
                    "error_mean": float(error.mean()),
                    "error_most": float(error.max()),
                    "constant_error_most": float(np.abs(found.constants - constant).max()),
                }
        return out

    # payloads

    def payloads(self, documents: Documents) -> Sequence[Payload]:
        """One payload a stream, and the law's."""
        return [*(self._stream(documents, stream) for stream in self.settings.streams), self._law(documents)]

    def _stream(self, documents: Documents, stream: str) -> Measured:
        state: dict[int, list[int]] = {}
        named: list[tuple[str, str, Statistic]] = []
        columns = ["cluster"]
        extra: dict[str, Any] = {}
        for baseline in self.settings.baselines:
            for ahead in self.settings.aheads:
                found, at = documents[f"cell/{stream}/{baseline}/{ahead}"], f"{baseline}_{ahead}"
                columns += [f"{at}_{name}" for name in (*COLUMNS, *(f"near_{c}" for c in NEAR))]
                for cluster, near, *row in found["rows"]:
                    kept = [value * near for value in row[: len(NEAR)]]
                    state.setdefault(cluster, [cluster]).extend([*row, *kept])
                named += list(statements(at))
                extra[at] = found
        rows = [state[cluster] for cluster in sorted(state)]
        results, absent = evaluate(named, self.table(columns, rows))
        for at, found in extra.items():
            units = "mean feature variances"
            results.setdefault(at, {}).update(
                outside_expected=Leaf(value=found["expected"], unit="prompts"),
                ridge={k: Leaf(value=v, unit=units) for k, v in found["penalties"].items()},
            )
        question = f"How much of the target's final state does {TITLES[stream]}, add to what is free?"
        regime = {"target": registry.entry(TARGETS[stream]).title, "stream": TITLES[stream]}
        return self.document(f"reconstruction-{stream}", question, regime, results, absent, (columns, rows))

    def table(self, columns: list[str], rows: list[list[int]]) -> Table:
        """A table under the record's seed and resamples."""
        shared = self.conversion
        return Table.from_rows(
            columns, rows, root=shared.root, resamples=shared.resamples, level=shared.level
        )

    def _law(self, documents: Documents) -> Measured:
        units = {"rank": "columns", "unknowns": "columns", "constant_error_most": "nats"}
        results: dict[str, Any] = {}
        for name, values in documents["law"].items():
            precision, kept = name.split("/")
            results.setdefault(precision, {})[f"rows_{kept}"] = {
                k: Leaf(value=v, unit=units.get(k, "share of the state's length")) for k, v in values.items()
            }
        question = "Does the final state follow from the next-token law alone?"
        regime = {
            "target": registry.entry("smollm2").title,
            "rows": "the first of the vocabulary, by token id",
            "solved_in": "float64",
        }
        absent = {"injection": self.settings.injection}
        return self.document("state-from-law", question, regime, results, absent, None)

    def document(
        self,
        name: str,
        question: str,
        regime: dict[str, Any],
        results: dict[str, Any],
        absent: dict[str, str],
        state: tuple[list[str], list[list[int]]] | None,
    ) -> Measured:
        """A payload of this experiment."""
        kind, schema = (Rehearsal, "rehearsal") if self.quick else (Measured, "payload")
        return kind.model_validate(
            {
                "schema": f"specdec-sidechannels/{schema}/1",
                "name": f"sideband/{name}",
                "question": question,
                "regime": regime | {"precision": "fp32", "decoding": "at temperature one", "device": "CPU"},
                "config": shown(self.settings),
                "seeds": {"root": self.conversion.root},
                "provenance": gather(
                    ["engine", "run", "sideband-reconstruction", *(["--quick"] if self.quick else [])],
                    packages=("numpy", "torch", "transformers"),
                    models=[side.source.digest for side in self.sides.values()],
                    inputs=["payloads/registered/sideband.json"],
                ),
                "results": results,
                "absent": absent or None,
                "state": State(columns=state[0], rows=state[1]) if state else None,
            }
        )


def steps(read: dict[str, Any], ahead: int) -> tuple[Any, Any]:
    """Rows that have a row `ahead` of them in the same text, and those rows."""
    count = len(read["prompt"]) - ahead
    now = np.arange(count)
    keys = [np.asarray(read[name]) for name in ("prompt", "text")]
    same = np.logical_and.reduce([key[:count] == key[ahead:] for key in keys])
    return now[same], now[same] + ahead


def gain(one: str, other: str) -> Statistic:
    """The share of variance that one arm explains beyond another."""
    minus = Statistic(kind="ratio", numerator=[other], denominator=[total_of(other)], stream="bootstrap")
    return Statistic(
        kind="difference", numerator=[one], denominator=[total_of(one)], minus=minus, stream="bootstrap"
    )


def total_of(column: str) -> str:
    """The column of the whole variance that belongs to one of a part of it."""
    return f"{column.rpartition('_')[0]}_total"


def statements(at: str) -> Iterator[tuple[str, str, Statistic]]:
    """Name, unit and statistic of every estimate of a cell."""
    unit = "share of variance"
    for arm in ("baseline", "stream", "twin"):
        column = f"{at}_{arm}"
        ratio = Statistic(kind="ratio", numerator=[column], denominator=[f"{at}_total"], stream="bootstrap")
        yield f"{at}.explained.{arm}", unit, ratio
    for name, one, other in (
        ("gain", "stream", "baseline"),
        ("over_twin", "stream", "twin"),
        ("twin_gain", "twin", "baseline"),
    ):
        yield f"{at}.{name}", unit, gain(f"{at}_{one}", f"{at}_{other}")
    yield f"{at}.gain_without_worst", unit, gain(f"{at}_near_stream", f"{at}_near_baseline")
    outside = Statistic(kind="sum", numerator=[f"{at}_outside"], stream="bootstrap")
    yield f"{at}.outside", "prompts", outside
