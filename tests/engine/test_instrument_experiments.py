"""The experiments on the instruments, in small: their payloads follow from state, and faults show."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import ncx2

from engine.address import resolve
from engine.check import check
from engine.contract import store
from engine.contract.payload import Measured, Payload
from engine.experiments import assisted, coverage, seed_noise, testbed
from engine.stats.chi_square import critical

SMALL: dict[str, Any] = {
    "coverage": coverage.Coverage(coverage.Settings(clusters=(10, 30), studies=200, study_resamples=300)),
    "seed noise": seed_noise.SeedNoise(seed_noise.Settings(studied_prompts=(10, 42), studies=500)),
    "testbed": testbed.Testbed(
        testbed.Settings(
            margins=(0, 300),
            train=60,
            clusters=(12, 30),
            studies=20,
            block=10,
            study_resamples=200,
            rounds=10,
        )
    ),
}


def ran(experiment: Any) -> Sequence[Payload]:
    """All tasks, one after another, then the payloads."""
    documents: dict[str, Any] = {}
    for task in experiment.tasks():
        documents[task.name] = task.work(documents)
    return list(experiment.payloads(documents))


@pytest.mark.parametrize("name", SMALL)
def test_every_number_that_states_how_it_follows_is_made_again_from_state(name: str, tmp_path: Path) -> None:
    for payload in ran(SMALL[name]):
        path = tmp_path / f"{payload.name.split('/')[1]}.json"
        store.write(path, payload)
        lines = [line for each in resolve(tmp_path, str(path)) for line in check(each)]
        assert all(line.agrees for line in lines)
        assert sum(line.recomputed is not None for line in lines) >= len(lines) / 2


def test_a_planted_stream_is_found_and_none_is_found_without_one() -> None:
    power, study = ran(SMALL["testbed"])
    assert isinstance(power, Measured) and isinstance(study, Measured)
    loud, quiet = (float(_at(power, f"margin_{m}.clusters_30.margin_passed")) for m in (300, 0))
    assert loud > 0.9 and quiet < 0.3
    assert float(_at(study, "margin_300.planted_margin")) == pytest.approx(0.03)


def test_all_four_intervals_are_judged_and_more_clusters_cover_better() -> None:
    (payload,) = ran(SMALL["coverage"])
    assert isinstance(payload, Measured) and payload.absent is None
    assert {float(_at(payload, f"skewed.clusters_30.{m}.given")) for m in coverage.METHODS} == {1.0}
    assert 0.6 < float(_at(payload, "skewed.clusters_10.percentile.coverage")) < 0.99


def test_an_interval_that_does_not_hold_the_truth_is_not_counted() -> None:
    from engine.stats.bootstrap import Interval

    assert coverage.judged(Interval(0.0, 0.5), 1.0) == [1, 0, 1, 5000]
    assert coverage.judged(Interval(2.0, 2.5), 1.0) == [1, 0, 0, 5000]
    assert coverage.judged(Interval(0.5, 1.5), 1.0) == [1, 1, 0, 10000]
    assert coverage.judged(None, 1.0) == [0, 0, 0, 0]


def test_more_prompts_show_less_by_seeds_alone() -> None:
    (payload,) = ran(SMALL["seed noise"])
    assert isinstance(payload, Measured)
    few, many = (float(_at(payload, f"draft.prompts_{n}.half_width")) for n in (10, 42))
    assert many < 0.7 * few


def test_the_fault_planted_in_transformers_rule_is_seen_all_but_surely() -> None:
    settings = assisted.Settings()
    target, draft = assisted.laws(settings)
    told = (1.0 - settings.flatter) * draft + settings.flatter / settings.vocabulary
    stands, rest = draft * np.minimum(1.0, target / told), np.maximum(target - told, 0.0)
    wrong = stands + (1.0 - stands.sum()) * rest / rest.sum()
    shift = settings.rounds * float(((wrong - target) ** 2 / target).sum())
    freedom = settings.vocabulary - 1
    assert ncx2.cdf(critical(settings.false_alarm, freedom), freedom, shift) < 1e-6
    assert settings.rounds * target.min() > 5.0


def _at(payload: Measured, name: str) -> Any:
    place: Any = payload.results
    for key in name.split("."):
        place = place[key]
    return place.value
