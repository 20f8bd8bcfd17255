"""Stronger readers find a planted stream, and both experiments make whole payloads from a rehearsal."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from engine.contract.payload import ModelDigest, Rehearsal
from engine.experiments import existence, retests
from engine.experiments.acceptance import evaluate
from engine.experiments.existence import Existence
from engine.observe.constants import Sideband
from engine.observe.harvest import Harvest
from engine.observe.probe import stronger
from engine.observe.probe.linear import Labels, Rows, standardise
from engine.observe.verdict import overturned
from engine.stats.statistic import Table


class Small(Existence):
    """Existence on a planted harvest in place of a target's."""

    def __init__(self, constants: Sideband, harvest: str) -> None:
        super().__init__("smollm2", ("s3",), "sideband-experts", quick=True)
        self.__dict__["constants"] = constants
        self.__dict__["digest"] = ModelDigest(name="smollm2", sha256="a" * 64)
        self.place = harvest

    def harvest_name(self, harvest: str) -> str:
        """The planted one."""
        return self.place


@pytest.fixture
def small(spaces: Callable[[], Sideband], planted: Callable[..., Harvest], draft: dict[str, Any]) -> Small:
    """A planted harvest whose experts tell the answer in most rows."""
    draft["retests"] |= {"logistic_ridge": [0.01], "mlp_width": [16], "mlp_decay": [0.1], "projection": 12}
    draft["retests"] |= {"tree_leaves": [7], "tree_rounds": 5, "twin_seeds": 1, "mlp_epochs": 150}
    draft["harvest"] |= {"harvests": ["primary"]}
    constants = spaces()
    planted(constants, told=0.9)
    return Small(constants, "planted")


@pytest.mark.parametrize("reader", retests.READERS)
def test_a_stronger_reader_overturns_where_the_stream_tells(reader: str, small: Small) -> None:
    made = retests.Retests(small, "sideband-experts-retests")
    cells = {reader: made.read({}, harvest="primary", stream="s3", reader=reader)}
    names, rows = existence.state([int(c) for c in small.ground("primary").order], cells)
    table = Table.from_rows(names, rows, root=1, resamples=500, level=0.95)
    stated = [each for each in retests.statements(small.constants) if each[0].startswith(reader)]
    results = evaluate(stated, table)[0]
    assert overturned(results[reader]["l1"]["over_twin"], 0.005)
    assert float(results[reader]["l1"]["accuracy_base"].high) < 0.3


def test_a_payload_of_a_quick_run_is_a_rehearsal_with_every_cell(small: Small) -> None:
    documents: dict[str, Any] = {"harvest/primary": {"rows": 960}}
    for baseline in existence.BASELINES:
        documents[f"cell/primary/s3/{baseline}"] = small.read(
            {}, harvest="primary", stream="s3", baseline=baseline
        )
    (made,) = small.payloads(documents)
    assert isinstance(made, Rehearsal) and made.name == "sideband/existence-s3"
    for baseline in existence.BASELINES:
        cells = made.results[baseline]
        assert isinstance(cells, dict) and set(cells) == {"l1", "l2", "l3"}


def test_the_two_experiments_share_their_harvests(small: Small) -> None:
    made = retests.Retests(small, "sideband-experts-retests")
    shared = [task for task in made.tasks() if task.name.startswith("harvest/")]
    assert [task.owner for task in shared] == [("sideband-experts", small.key)]


def test_settings_are_chosen_on_validation_rows_alone() -> None:
    draws = np.random.default_rng(1)
    rows = Rows(np.arange(200), np.arange(200, 260), np.arange(260, 300))
    columns = standardise(draws.normal(size=(300, 4)).astype(np.float32), rows.train)
    label = (columns[:, 0] > 0).astype(np.int64)
    spoiled = label.copy()
    spoiled[rows.held_out] = 1 - spoiled[rows.held_out]

    def candidates(*_: Any) -> Any:
        yield {"l1": np.zeros((100, 2))}
        yield {"l1": np.eye(2)[label[200:]] * 5.0}

    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(stronger.READERS, "logistic", candidates)
        for truth in (label, spoiled):
            made = stronger.read("logistic", columns, Labels({"l1": truth}, {"l1": 2}), rows, None)  # type: ignore[arg-type]
            assert (made["l1"].max(axis=1) == 5.0).all()


def test_a_projection_is_fixed_by_its_name_and_keeps_few_columns_as_they_are() -> None:
    columns = np.random.default_rng(2).normal(size=(50, 9)).astype(np.float32)
    train = np.arange(30)
    first = stronger.project(columns, 4, train, 1, "one")
    assert first.shape == (50, 4) and (stronger.project(columns, 4, train, 1, "one") == first).all()
    assert (stronger.project(columns, 4, train, 1, "two") != first).any()
    assert stronger.project(columns, 9, train, 1, "one") is columns
