"""The experiments on files of traces, end to end, on synthetic traces: a planted leak, and none."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.check import check
from engine.contract import store
from engine.contract.payload import Leaf
from engine.contract.seeds import Stream
from engine.experiments.spill_attack import Settings, SpillAttack
from engine.experiments.spill_planted import Study
from engine.run import Task, run
from engine.spill.attack import Forest
from engine.spill.traces import Trace, TraceSet

PROMPTS, TOKENS = 12, 20
SCHEMES = ("plain", "lookup", "lade")
SETTINGS = Settings(
    prompts=PROMPTS,
    schemes=("plain", "lookup"),
    short_schemes=("lade",),
    test=2,
    folds=2,
    short_folds=1,
    short_tokens=16,
    short_train=4,
    first_test=6,
    fewest_rounds=4,
    shuffles=2,
    curve_traces=(2, 6),
    curve_classes=(6, 12),
    resamples=200,
)
STUDY = Study(studies=10, prompts=10, runs=6, test=2, folds=1, rounds=12, shares=(0.9,), resamples=100)


@dataclass
class Synthetic:
    """Stands in for `SpillTraces`. `leak`: share of rounds that follow the prompt's pattern."""

    leak: float
    key: str = "synthetic"

    def cells(self) -> Iterator[tuple[str, str, float]]:
        """Every scheme, set, and one temperature."""
        yield from ((s, p, 0.3) for s in SCHEMES for p in ("questions", "template", "rephrased"))

    def tasks(self) -> list[Task]:
        """Nothing is to be decoded."""
        return []

    def trace_set(self, _: Any, scheme: str, prompts: str, temperature: float) -> TraceSet:
        """Rounds of one token for plain; elsewhere of one to three, by a pattern or at random."""
        stream = Stream(5, f"{scheme}/{prompts}")
        pattern = Stream(5, scheme).below(3, PROMPTS * TOKENS).reshape(PROMPTS, TOKENS) + 1
        runs = [6, 7] if prompts == "rephrased" else [*range(4 if scheme == "lade" else 6), 6, 7]
        rows = []
        for prompt in range(PROMPTS):
            for one in runs:
                own = stream.uniform(TOKENS) < self.leak
                counts = np.where(own, pattern[prompt], stream.below(3, TOKENS) + 1)[:12]
                counts = np.ones(TOKENS, np.int64) if scheme == "plain" else counts
                sizes = tuple(int(3 * c) for c in counts)
                tokens = tuple(range(int(counts.sum())))
                rows.append(Trace(prompt, one, tokens, tuple(counts.tolist()), sizes))
        return TraceSet(scheme, prompts, temperature, TOKENS, 4, tuple(rows))


def experiment(leak: float) -> SpillAttack:
    """A small study of synthetic traces."""
    return SpillAttack(SETTINGS, Forest(trees=12, split=2), STUDY, traces=Synthetic(leak, f"leak {leak}"))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[float, dict[str, Path]]:
    """The payloads with a planted leak and with none, written as a run writes them."""
    out = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        for leak in (0.0, 0.9):
            paths = run("spill-attack", experiment(leak), tmp_path_factory.mktemp("out"))
            out[leak] = {path.stem: path for path in paths}
    return out


def leaf(path: Path, *keys: str) -> Leaf:
    """One number of a payload."""
    found: Any = store.read(path)
    found = found.results
    for key in keys:
        found = found[key]
    assert isinstance(found, Leaf)
    return found


def value(path: Path, *keys: str) -> float:
    """Its value."""
    return float(leaf(path, *keys).value)


def test_a_planted_leak_is_told_in_every_experiment_that_asks_the_same_prompts(
    made: dict[float, dict[str, Path]],
) -> None:
    for name in ("attack-exp1-bytes", "attack-exp1-counts", "attack-exp2-bytes"):
        at = ("lookup", "t_0_3")
        assert value(made[0.9][name], *at, "whole") > 0.5
        assert value(made[0.9][name], *at, "equal") > 0.5
        excess = leaf(made[0.9][name], *at, "excess")
        assert excess.low is not None and float(excess.low) > 0.2
        assert value(made[0.9][name], *at, "order") < value(made[0.9][name], *at, "whole")


def test_no_leak_reads_chance_and_shows_no_excess(made: dict[float, dict[str, Path]]) -> None:
    for scheme in ("lookup", "lade"):
        assert value(made[0.0]["attack-exp1-bytes"], scheme, "t_0_3", "whole") < 0.35
        excess = leaf(made[0.0]["attack-exp1-bytes"], scheme, "t_0_3", "excess")
        assert excess.low is None or float(excess.low) <= 0.15


def test_the_harness_itself_reads_nothing_from_nothing_and_all_from_all(
    made: dict[float, dict[str, Path]],
) -> None:
    controls = made[0.9]["attack-controls"]
    assert value(controls, "planted", "none") < 0.35 < 0.9 < value(controls, "planted", "full")
    assert value(controls, "labels", "lookup") < 0.35


def test_planted_studies_are_seen_and_none_is_rarely(made: dict[float, dict[str, Path]]) -> None:
    power = made[0.0]["attack-power"]
    assert value(power, "share_0_90", "seen") > 0.7 > 0.3 >= value(power, "share_0_00", "seen")
    assert value(power, "share_0_90", "excess") > 0.3


def test_curves_hold_every_prompt_at_every_count(made: dict[float, dict[str, Path]]) -> None:
    curves = made[0.9]["attack-curves"]
    for count in ("classes_6", "classes_12", "traces_2", "traces_6"):
        found = leaf(curves, "lookup", count)
        assert found.observations == PROMPTS * SETTINGS.test
    assert value(curves, "lookup", "traces_6") > 0.5


def test_every_estimate_is_made_again_from_the_state_beside_it(made: dict[float, dict[str, Path]]) -> None:
    from engine.address import Wanted

    for path in made[0.9].values():
        lines = list(check(Wanted(path)))
        assert lines and all(line.agrees for line in lines)
        assert sum(line.recomputed is not None for line in lines) > 3


def test_a_changed_hit_is_noticed_by_the_check(made: dict[float, dict[str, Path]], tmp_path: Path) -> None:
    from engine.address import Wanted

    text = made[0.9]["attack-controls"].read_text()
    first = text.index("[0, ")
    end = text.index(",", first + 4)
    spoiled = tmp_path / "spoiled.json"
    spoiled.write_text(f"{text[: first + 4]}{int(text[first + 4 : end]) + 1}{text[end:]}")
    assert any(not line.agrees for line in check(Wanted(spoiled)))


def test_a_run_that_goes_on_ends_with_the_same_bytes(
    made: dict[float, dict[str, Path]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    again = experiment(0.0)
    tasks = [task for task in again.tasks() if task.name.startswith("planted")]
    documents = {"planted": tasks[0].work({})}
    first = store.read(made[0.0]["attack-controls"])
    at = first.state.columns.index("planted_none_hits")  # type: ignore[union-attr]
    assert documents["planted"]["none"]["hits"] == [row[at] for row in first.state.rows]  # type: ignore[union-attr]
