"""A second process gives what this one would have given, or this one does."""

from __future__ import annotations

import os
import signal

import pytest

from generator.render import aside
from generator.render.aside import Aside

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="no second process can be forked here")


@pytest.fixture(autouse=True)
def _two_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(aside, "threading", type("One", (), {"active_count": staticmethod(lambda: 1)}))
    monkeypatch.setattr(os, "cpu_count", lambda: 2)


def test_the_work_is_done_by_another_process() -> None:
    assert Aside(os.getpid).result() != os.getpid()


def test_what_a_process_that_died_owed_is_done_here() -> None:
    here = os.getpid()

    def work() -> int:
        if os.getpid() != here:
            os.kill(os.getpid(), signal.SIGKILL)
        return os.getpid()

    assert Aside(work).result() == here


def test_what_fails_there_fails_here(capfd: pytest.CaptureFixture[str]) -> None:
    def work() -> int:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        Aside(work).result()
    assert "Traceback" not in capfd.readouterr().err


def test_one_core_does_it_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 1)
    assert Aside(os.getpid).result() == os.getpid()
