"""Pages read by processes beside this one are judged as if this one had read them."""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
from pathlib import Path
from typing import Any

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
    monkeypatch.setattr("threading.active_count", lambda: 1)
    monkeypatch.setattr("os.cpu_count", lambda: 3)
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
    worker = crews._Worker

    def starting(read: crews.Read) -> crews._Worker:
        started.append(1)
        return worker(read)

    monkeypatch.setattr(crews, "_Worker", starting)
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


def test_what_no_process_has_begun_is_read_by_the_one_that_waits() -> None:
    here = os.getpid()
    readers: list[str] = []

    def read(path: str) -> tuple[bytes, Any]:
        if os.getpid() != here:
            time.sleep(0.3)
        readers.append(path)  # each process keeps its own
        return path.encode(), path

    crew = Crew(read, 2)
    given = [f"p{index:02d}.html" for index in range(20)]
    for path in given:
        crew.give(path)
    while not all(worker._progress.ends[0] for worker in crew._workers):
        time.sleep(0.01)
    found = crew.finish()
    assert sorted(found) == given
    assert {path: str(ahead.reading) for path, ahead in found.items()} == {path: path for path in given}
    assert 0 < len(readers) < len(given)  # this process read some of them, the others the rest
    assert len(set(readers)) == len(readers)


def test_who_gives_paths_does_not_wait_for_who_reads_them() -> None:
    def slow(path: str) -> None:
        time.sleep(30)

    crew = Crew(slow, 1)
    started = time.monotonic()
    for index in range(5000):
        crew.give(f"findings/a-page-of-some-length-{index}.html")
    assert time.monotonic() - started < 20


def test_each_place_is_taken_once_from_either_end() -> None:
    progress = crews._Progress(multiprocessing.Lock(), multiprocessing.RawArray("i", [0, crews.ALL]))
    assert [progress.first(0), progress.first(1)] == [True, True]
    assert [progress.last(4), progress.last(4), progress.last(4)] == [3, 2, None]
    assert progress.first(2) is False


def test_pages_of_a_process_that_died_are_read_by_this_one(
    large: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = alone(large, monkeypatch)

    here, read = os.getpid(), Audit(large, large / "site").read_page

    def dies(path: str) -> tuple[bytes, Any] | None:
        if os.getpid() != here:
            os.kill(os.getpid(), signal.SIGKILL)
        return read(path)

    crew = Crew(dies, 2)
    for index in range(PAGES):
        crew.give(f"p{index:02d}.html")
    assert verify(large, large / "site", crew) == expected


@pytest.mark.parametrize(("pages", "cores", "threads"), [(LARGE - 1, 8, 1), (LARGE, 1, 1), (LARGE, 8, 2)])
def test_no_process_is_started_where_it_would_not_pay(
    pages: int, cores: int, threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: cores)
    monkeypatch.setattr("threading.active_count", lambda: threads)
    assert crews.size(pages) == 0


def test_a_process_that_may_start_none_reads_all_pages_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: 8)
    monkeypatch.setattr("threading.active_count", lambda: 1)
    assert crews.size(LARGE) > 0
    monkeypatch.setattr(crews.current_process(), "_config", {"daemon": True})
    assert crews.size(LARGE) == 0
