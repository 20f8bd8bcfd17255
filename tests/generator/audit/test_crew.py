"""Pages read by processes beside this one are judged as if this one had read them."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import finished_site as made
import pytest

from generator.audit import crew as crews
from generator.audit.crew import LARGE, Crew
from generator.audit.site import Audit, begin, verify

PAGES = LARGE + 6
pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="no second process can be forked here")


@pytest.fixture
def large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A site of many pages, the last with a numeral that nothing stands for."""
    monkeypatch.setattr(crews.threading, "active_count", lambda: 1)
    monkeypatch.setattr(crews.os, "cpu_count", lambda: 3)
    extra = {f"site/p{index:02d}.html": made.page("<p>a</p>\n") for index in range(PAGES)}
    made.write(tmp_path, {**extra, f"site/p{PAGES - 1}.html": made.page("<p>about 91</p>\n")})
    return tmp_path


def alone(root: Path, monkeypatch: pytest.MonkeyPatch) -> object:
    """The report of one process."""
    with monkeypatch.context() as patch:
        patch.setattr(crews, "LARGE", 10**9)
        return verify(root, root / "site")


def test_a_large_site_is_read_by_several_processes_to_the_same_report(
    large: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[int] = []
    start = crews._start
    monkeypatch.setattr(crews, "_start", lambda read: (started.append(1), start(read))[1])
    report = verify(large, large / "site")
    assert len(started) == 2
    assert report == alone(large, monkeypatch)
    assert [each.text for each in report.refusals] == ["<p>about 91</p>"]


def test_a_page_that_changed_after_it_was_read_ahead_is_read_again(large: Path) -> None:
    crew = begin(large, large / "site", PAGES)
    assert crew is not None
    crew.give("p00.html")
    ahead = crew.finish()
    assert "p00.html" in ahead

    crew = begin(large, large / "site", PAGES)
    assert crew is not None
    crew.give("p00.html")
    crew.finish = lambda: ahead  # type: ignore[method-assign]
    (large / "site/p00.html").write_text(made.page("<p>about 92</p>\n"))
    texts = [each.text for each in verify(large, large / "site", crew).refusals]
    assert texts == ["<p>about 92</p>", "<p>about 91</p>"]


def test_what_was_read_ahead_is_not_read_again(large: Path) -> None:
    audit = Audit(large, large / "site")
    crew = Crew(audit.read_page, 1)
    crew.give(f"p{PAGES - 1}.html")
    ahead = crew.finish()[f"p{PAGES - 1}.html"]
    assert ahead.holds((large / f"site/p{PAGES - 1}.html").read_bytes())
    assert [each.text for each in ahead.reading.refusals] == ["<p>about 91</p>"]


def test_pages_of_a_process_that_died_are_read_by_this_one(
    large: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = alone(large, monkeypatch)

    def dies(_: str) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    crew = Crew(dies, 2)
    for index in range(PAGES):
        crew.give(f"p{index:02d}.html")
    assert verify(large, large / "site", crew) == expected


@pytest.mark.parametrize(("pages", "cores", "threads"), [(LARGE - 1, 8, 1), (LARGE, 1, 1), (LARGE, 8, 2)])
def test_no_process_is_started_where_it_would_not_pay(
    pages: int, cores: int, threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(crews.os, "cpu_count", lambda: cores)
    monkeypatch.setattr(crews.threading, "active_count", lambda: threads)
    assert crews.size(pages) == 0
