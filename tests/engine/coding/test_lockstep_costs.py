"""Costs carry their units, break-even is where saved meets paid, and a small run makes valid payloads."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pint
import pytest

from engine import check
from engine.coding.chunks import Tokenizer
from engine.coding.llama_predictor import LlamaPredictor
from engine.contract import store
from engine.contract.payload import ModelDigest
from engine.contract.provenance import ROOT
from engine.experiments import lockstep as experiment
from engine.experiments.costs import UNITS, Case, Prices, Rates
from engine.experiments.lockstep import LockstepCosts, Settings

REGISTERED = json.loads((ROOT / experiment.REGISTERED).read_text(encoding="utf-8"))["results"]["prices"]


def prices(**changed: float) -> Prices:
    """A machine for 3.6 USD an hour, storage for nothing, transfer for 1 USD a gigabyte, read once."""
    made = {
        "machine_hour": (3.6, "USD/hour"),
        "storage_gigabyte_month": (0.0, "USD/gigabyte/month"),
        "transfer_gigabyte": (1.0, "USD/gigabyte"),
        "retention": (1.0, "month"),
        "reads": (1.0, "reads"),
    }
    return Prices.registered(
        {name: {"value": changed.get(name, value), "unit": unit} for name, (value, unit) in made.items()}
    )


FAST = Rates.timed(10**9, 1e-9, 1e-9)
CASE = Case(0.1, 0.6, Rates.timed(10**6, 0.25, 1.0), FAST)
"""Saves half a byte a byte; packs at 4 and unpacks at 1 MB/s, against a rival that costs no time."""


def test_the_break_even_rate_is_the_one_by_hand() -> None:
    rate = CASE.rate(prices(), paid=False)  # 0.001 USD a second over 0.5 USD a gigabyte
    assert rate.units == UNITS("megabyte/second").units
    assert rate.magnitude == pytest.approx(2.0, rel=1e-6)
    dearer = CASE.rate(prices(), paid=True)  # packing takes half of what is saved
    assert dearer.magnitude == pytest.approx(4.0, rel=1e-6)


def test_the_break_even_retention_is_the_one_by_hand() -> None:
    kept = CASE.retention(prices(storage_gigabyte_month=0.05), paid=False)
    assert kept.magnitude == pytest.approx(
        (1.0 - 0.5) / (0.5 * 0.05), rel=1e-6
    )  # USD a gigabyte, and a month
    assert CASE.retention(prices(transfer_gigabyte=9, storage_gigabyte_month=0.05), paid=False).magnitude == 0


def test_at_the_break_even_retention_the_measured_rate_breaks_even() -> None:
    for paid in (False, True):
        given = prices(storage_gigabyte_month=0.05)
        there = replace(given, retention=CASE.retention(given, paid=paid))
        assert CASE.rate(there, paid=paid).to("megabyte/second").magnitude == pytest.approx(1.0, rel=1e-6)


def test_no_rate_breaks_even_where_packing_alone_costs_more_than_is_saved() -> None:
    slow = replace(CASE, our_rates=Rates.timed(10**6, 60.0, 1.0))
    assert slow.rate(prices(), paid=True) is None and slow.rate(prices(), paid=False) is not None


def test_an_archive_that_is_no_smaller_never_pays() -> None:
    assert replace(CASE, ours=0.6).retention(prices(), paid=False) is None
    assert replace(CASE, ours=0.7).rate(prices(), paid=False) is None


def test_a_price_in_a_wrong_unit_is_refused_by_the_library() -> None:
    wrong = replace(prices(), machine=UNITS.Quantity(3.6, "USD/gigabyte"))
    with pytest.raises(pint.DimensionalityError):
        CASE.rate(wrong, paid=False)


def test_megabytes_are_not_megabits_and_gigabytes_are_decimal() -> None:
    rate = Rates.timed(10**6, 1.0, 1.0).pack
    assert rate.to("megabit/second").magnitude == pytest.approx(8.0)
    assert UNITS.Quantity(1, "gigabyte").to("byte").magnitude == pytest.approx(10**9)


def test_the_registered_prices_have_the_units_that_the_costs_need() -> None:
    assert CASE.rate(Prices.registered(REGISTERED), paid=False) is not None


class Latin:
    """A tokenizer of single bytes below 128."""

    sha256 = bytes(32)

    def tokens(self, text: str) -> list[int]:
        return [ord(letter) for letter in text]

    def text(self, tokens: list[int]) -> str:
        return "".join(map(chr, tokens))


@pytest.fixture
def small(tiny: Callable[..., tuple[Any, Any]], monkeypatch: pytest.MonkeyPatch) -> LockstepCosts:
    """The experiment with a tiny random model and few symbols."""
    predictor = LlamaPredictor(tiny(5, vocabulary=257)[1], 0, bytes(32))
    tokenizer: Tokenizer = Latin()
    monkeypatch.setattr(experiment, "fetched", lambda name: (predictor, tokenizer))
    monkeypatch.setattr(experiment, "model_digest", lambda name: ModelDigest(name=name, sha256="0" * 64))
    settings = Settings(
        timed_symbols=200, pairs=2, messages=10, symbols=400, batch=1, one_row_bytes=40, zstd_runs=1
    )
    made = LockstepCosts(replace(settings, resamples=200))
    made.__dict__["text"] = made.text[:300]
    return made


def test_a_small_run_makes_payloads_that_follow_from_their_state(
    small: LockstepCosts, tmp_path: Path
) -> None:
    documents: dict[str, Any] = {}
    for task in small.tasks():
        documents[task.name] = json.loads(json.dumps(task.work(documents)))
    coder, archives = small.payloads(documents)
    store.write(tmp_path / "coder.json", coder)
    store.write(tmp_path / "archives.json", archives)
    assert check.main([str(tmp_path / "coder.json")]) == 0
    document = json.loads((tmp_path / "archives.json").read_text(encoding="utf-8"))
    assert set(document["results"]) == {"static", "adaptive", "model", "model_one_row"}
    assert document["results"]["model"]["size"]["value"] == 300
    assert document["results"]["model"]["pack_rate"]["machine"] is True
    assert "model.packing_free.break_even_rate" in document["absent"]  # a random model saves nothing
