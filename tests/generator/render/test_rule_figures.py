"""A rule is drawn as it is written: no estimate beside a bar that nothing holds it against."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import sample_record

from generator.render import site as sites
from generator.render.figure import rule

PATH = "payloads/acceptance/several.json"


def estimate(value: float) -> dict[str, object]:
    return {
        **{"value": value, "low": value - 0.1, "high": value + 0.1, "unit": "accuracy", "level": 0.95},
        **{"method": "percentile", "resamples": 100, "clusters": 9, "observations": 90},
    }


@pytest.fixture
def against(tmp_path: Path):
    payload = json.loads(sample_record.PAYLOAD)
    payload["name"] = "acceptance/several"
    payload["results"] = {
        **{name: estimate(value) for name, value in (("one", 0.5), ("two", 0.7), ("excess", 0.05))},
        **{bar: {"value": value, "unit": "accuracy"} for bar, value in (("chance", 0.1), ("most", 0.9))},
        "share": {**estimate(0.4), "unit": "rounds"},
    }

    def drawn(holds_when: str) -> list[tuple[list[str], list[str], list[str]]]:
        finding = (
            f'---\nid: F-03\ntitle: "Several"\nrecord: acceptance\nstatus: holds\nholds_when: {holds_when}\n'
            f'regime: "here"\npayloads:\n  a: {PATH}\n---\nText.\n'
        )
        root = sample_record.write(tmp_path, {PATH: json.dumps(payload), "findings/F-03.md": finding})
        _, evaluations = sites.gather(root)
        judged = evaluations["findings/F-03.md"].status
        assert judged is not None
        return [
            (
                [each.value.leaf.pointer.split("/")[2] for each in found.estimates],
                [bar.leaf.pointer.split("/")[2] for bar in found.bars],
                found.asked,
            )
            for found in rule.against(judged.rules, judged.leaves)
        ]

    return drawn


def test_an_estimate_is_drawn_beside_its_own_bars_alone(against) -> None:
    found = against(
        "a.results.one.low > a.results.chance and a.results.two.low > a.results.chance"
        " and a.results.one.low > 0 and a.results.excess.low <= 0 and a.results.one.high < a.results.most"
    )
    assert found == [
        (["one"], ["chance", "most"], ["lower end above", "upper end below"]),
        (["two"], ["chance"], ["lower end above"]),
        (["excess"], [], []),
    ]


def test_estimates_that_share_their_bars_share_a_figure_and_say_what_is_asked_of_them(against) -> None:
    both = "a.results.one.low > a.results.chance and a.results.chance < a.results.two.low"
    assert against(both) == [(["one", "two"], ["chance"], ["lower end above"])]
    differ = "a.results.one.low > a.results.chance and a.results.two.value >= a.results.chance"
    assert against(differ) == [(["one", "two"], ["chance"], [""])]


def test_estimates_that_are_compared_with_each_other_stand_without_a_bar(against) -> None:
    found = against(
        "a.results.one.low > a.results.chance and a.results.two.low > a.results.one.value"
        " and a.results.share.low > 0"
    )
    assert found == [
        (["one"], ["chance"], ["lower end above"]),
        (["one", "two"], [], []),
        (["share"], [], []),
    ]
