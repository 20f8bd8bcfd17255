"""Mitigations on synthetic traces, and captures of written-down rounds, end to end as a run does them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from loopback_site import CHAT, Written
from test_spill_attack_experiment import PROMPTS, Synthetic, value

from engine.address import Wanted
from engine.check import check
from engine.contract import store
from engine.contract.payload import ModelDigest
from engine.experiments import spill_wire
from engine.experiments.spill_mitigations import Settings as Defended
from engine.experiments.spill_mitigations import SpillMitigations
from engine.experiments.spill_wire import QUICK, SpillWire
from engine.run import run
from engine.spill.attack import Forest

SMALL = Forest(trees=12, split=2)
DEFENDED = Defended(
    prompts=PROMPTS,
    schemes=("plain", "lookup"),
    temperatures=(0.3,),
    mitigations=("none", "token", "fixed:tight", "random:48", "aggregate:3", "constant:8"),
    test=2,
    first_test=6,
    bursts=20,
    resamples=200,
)


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for the run's documents."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path


def test_filling_hides_a_planted_leak_and_costs_bytes_and_gathering_costs_waiting(cache: Path) -> None:
    experiment = SpillMitigations(DEFENDED, SMALL, traces=Synthetic(0.9, "mitigations"))
    experiment.__dict__["chat"] = CHAT
    paths = {path.stem: path for path in run("spill-mitigations", experiment, cache / "out")}
    made = paths["mitigations-lookup-t-0-3"]
    assert value(made, "none", "equal") > 0.5 > 0.3 > value(made, "fixed_tight", "equal")
    assert value(made, "token", "equal") > 0.5
    assert value(made, "constant_8", "equal") < 0.3
    assert value(made, "fixed_tight", "overhead") > 1 > value(made, "aggregate_3", "overhead")
    assert 0 < value(made, "aggregate_3", "delay") < 2
    assert value(made, "fixed_tight", "size") == 16
    for path in paths.values():
        assert all(line.agrees for line in check(Wanted(path)))


@pytest.mark.parametrize("honest", [True, False])
def test_captures_are_held_against_the_rounds_and_a_changed_length_is_noticed(
    cache: Path, monkeypatch: pytest.MonkeyPatch, honest: bool
) -> None:
    digest = ModelDigest(name="tiny", sha256="0" * 64)
    monkeypatch.setattr(spill_wire, "model_digest", lambda _: digest)
    if not honest:
        counted = spill_wire.by_record
        monkeypatch.setattr(
            spill_wire,
            "by_record",
            lambda records: [replace(g, length=g.length + 1) for g in counted(records)],
        )
    experiment = SpillWire(replace(QUICK, gap_milliseconds=20, period=0.005), SMALL, quick=True)
    experiment.__dict__["chat"] = CHAT
    experiment.__dict__["schemes"] = {
        "plain": Written((1,), pause=0.05, name="plain"),
        "lookup": Written((1, 3, 2), pause=0.05, name="lookup"),
    }
    (path,) = run("spill-wire", experiment, cache / "out")
    assert store.read(path).schema_ == "specdec-sidechannels/rehearsal/1"
    mismatched = [value(path, scheme, "by_record", "mismatched") for scheme in ("plain", "lookup")]
    names: Any = [name.replace(":", "_") for name in experiment.settings.mitigations]
    mismatched += [value(path, "mitigations", name, "mismatched") for name in names]
    assert all(found == 0 for found in mismatched) == honest
    assert value(path, "lookup", "by_record", "wrong") == 0
    assert value(path, "lookup", "by_gap", "wrong") <= 4  # a busy machine may stretch a few
    assert value(path, "lookup", "by_gap", "rounds") == 3 * 6
