"""Whatever bytes a parser gets, it accepts them or refuses them; what once broke one is tried first."""

from __future__ import annotations

from pathlib import Path

import pytest
import targets
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from targets import CRASHERS, TARGETS, Target, spoiled

from generator.report.refusal import Refused

STORED = sorted(CRASHERS.glob("*/*.bin"))


def test_what_once_broke_a_parser_breaks_it_no_more() -> None:
    for file in STORED:
        TARGETS[file.parent.name].survives(file.read_bytes())


@pytest.mark.parametrize("name", TARGETS)
def test_a_spoiled_text_is_accepted_or_refused(name: str) -> None:
    target = TARGETS[name]

    @settings(
        max_examples=60,
        derandomize=True,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(spoiled(target.seeds))
    def tried(data: bytes) -> None:
        target.survives(data)

    tried()


@pytest.mark.parametrize("name", TARGETS)
def test_each_seed_is_accepted(name: str) -> None:
    assert all(TARGETS[name].survives(data) for data in TARGETS[name].seeds)


def test_a_parser_that_breaks_is_caught() -> None:
    def broken(data: bytes) -> object:
        return data[10_000]

    @settings(max_examples=5, derandomize=True, database=None)
    @given(st.binary(max_size=8))
    def tried(data: bytes) -> None:
        Target(broken, Refused, (b"",)).survives(data)

    with pytest.raises(IndexError):
        tried()


def test_a_crasher_is_stored_under_its_parser_and_found_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(targets, "CRASHERS", tmp_path)
    file = targets.keep("payload", b"{")
    assert file == tmp_path / "payload" / file.name and file.read_bytes() == b"{"
