"""Student's t without scipy agrees with scipy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats  # type: ignore[import-untyped]

from engine.contract.errors import BadData
from engine.stats.student import central_probability, quantile

FREEDOM = [1, 2, 3, 4, 5, 9, 10, 11, 29, 30, 83, 200, 999]


@pytest.mark.parametrize("freedom", FREEDOM)
def test_the_central_probability_is_scipys(freedom: int) -> None:
    for t in (0.0, 0.3, 1.0, 2.04, 7.0, 60.0, 1e6):
        expected = 1.0 - 2.0 * stats.t.sf(t, freedom)
        assert central_probability(t, freedom) == pytest.approx(expected, abs=2e-14)


@pytest.mark.parametrize("t", [1e-9, 1e-6, 0.5, 3.0, 1e5])
def test_the_central_probability_is_the_closed_form_of_one_and_two_degrees(t: float) -> None:
    assert central_probability(t, 1) == pytest.approx(2 / np.pi * np.arctan(t), rel=1e-14)
    assert central_probability(t, 2) == pytest.approx(t / np.sqrt(2 + t * t), rel=1e-14)


@pytest.mark.parametrize("freedom", FREEDOM)
@pytest.mark.parametrize("level", [0.01, 0.5, 0.68, 0.9, 0.95, 0.99, 0.999])
def test_quantiles_are_scipys_to_six_decimals(freedom: int, level: float) -> None:
    assert quantile(level, freedom) == pytest.approx(stats.t.ppf((1 + level) / 2, freedom), abs=5.1e-7)


def test_quantiles_have_six_decimals_and_no_more() -> None:
    made = [quantile(0.95, freedom) for freedom in FREEDOM]
    assert made == [round(value, 6) for value in made]
    assert (quantile(0.95, 1), quantile(0.95, 29)) == (12.706205, 2.04523)


def test_quantiles_fall_towards_the_normal_law_as_clusters_are_added() -> None:
    made = [quantile(0.95, freedom) for freedom in range(1, 400)]
    assert np.all(np.diff(made) < 0)
    assert made[-1] == pytest.approx(1.959964, abs=0.01)


@pytest.mark.parametrize(
    ("level", "freedom"), [(0.0, 9), (1.0, 9), (1.5, 9), (-0.1, 9), (float("nan"), 9), (0.95, 0), (0.95, -3)]
)
def test_a_level_or_freedom_that_is_none_is_refused(level: float, freedom: int) -> None:
    with pytest.raises(BadData, match="degrees of freedom"):
        quantile(level, freedom)
