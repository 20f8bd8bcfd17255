"""`findings check --watch` as a process of its own, with real saves."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import IO

import pytest
import sample_record
from click.testing import CliRunner
from watchdog.events import DirModifiedEvent, FileClosedNoWriteEvent, FileModifiedEvent, FileMovedEvent

from generator.cli import main
from generator.watch import Saves

PATIENCE = 60
START = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # a background shell ignores it
from generator.cli import main
main()
"""
F1 = "findings/F-01.md"


class Watched:
    """The process and what it has printed."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self._lines: SimpleQueue[str] = SimpleQueue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        for line in self.process.stdout or self.process.stderr or ():
            self._lines.put(line.rstrip("\n"))

    def check(self) -> list[str]:
        """What is printed up to the end of the next check."""
        found: list[str] = []
        while not found or found[-1] != "Waiting for the next save; Ctrl-C ends.":
            try:
                found.append(self._lines.get(timeout=PATIENCE))
            except Empty:
                pytest.fail(f"No check within {PATIENCE} seconds; printed so far: {found}")
        return found

    def interrupt(self) -> int:
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(PATIENCE)

    @property
    def quiet(self) -> bool:
        """Whether nothing is printed for a second."""
        try:
            self._lines.get(timeout=1)
        except Empty:
            return True
        return False


@contextmanager
def watching(root: Path, *options: str, output: IO[str] | None = None) -> Iterator[Watched]:
    """Both outputs are read together, or the errors alone where the other goes to a file."""
    command = [sys.executable, "-c", START, "check", "--watch", "--root", str(root), *options]
    environment = {key: value for key, value in os.environ.items() if key != "CI"}
    streams = (output, subprocess.PIPE) if output else (subprocess.PIPE, subprocess.STDOUT)
    with subprocess.Popen(
        command, stdout=streams[0], stderr=streams[1], text=True, env={**environment, "PYTHONUNBUFFERED": "1"}
    ) as process:
        try:
            yield Watched(process)
        finally:
            process.kill()


def save(file: Path, text: str) -> None:
    """Write beside the file and rename, as editors do."""
    beside = file.with_name(f".{file.name}.swp")
    beside.write_text(text, "utf-8")
    beside.rename(file)


def test_a_save_is_checked_at_once_whatever_stands_in_it_and_an_interrupt_ends_with_zero(
    tmp_path: Path,
) -> None:
    root = sample_record.write(tmp_path)
    with watching(root) as watched:
        assert any(line.startswith("0 refusals") for line in watched.check())

        save(root / F1, sample_record.FINDING.replace("A check emits", "A check 7 emits"))
        printed = watched.check()
        assert printed[:1] == [""]
        assert printed[1].startswith(f"==== {F1} changed, ")
        assert printed[2].startswith(f"{F1}:15:33: untraced-number")

        (root / F1).write_text(sample_record.FINDING + "\n{{ a.results.", "utf-8")  # in the middle of typing
        assert any("bad-template" in line for line in watched.check())

        (root / F1).write_bytes(b"---\nid: [\n\xff")
        assert any(f"{F1}:" in line and "bad-" in line for line in watched.check())

        (root / F1).unlink()
        assert any("There is no F-01" in line for line in watched.check())

        save(root / F1, sample_record.FINDING)
        assert any(line.startswith("0 refusals") for line in watched.check())
        assert watched.quiet, "a check that reads the sources set off another one"
        assert watched.interrupt() == 0


def test_every_kind_of_source_is_watched_and_folders_that_come_later_too(tmp_path: Path) -> None:
    root = sample_record.write(tmp_path, {"templates/landing.md.j2": None})
    changes = {
        "mkdocs.yml": "site_name: Sample 7\n",
        "findings/terms.toml": "[[term]]\n",
        "site_src/deeper/page.md": "---\ntitle: Page 7\n---\n",
        "payloads/acceptance/lookup.json": "{",
        "templates/landing.md.j2": "---\ntitle: Seven\n---\n",
    }
    with watching(root) as watched:
        watched.check()
        for path, text in changes.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text, "utf-8")
            while not any(line.startswith(f"{path}:") for line in watched.check()):
                pass
        (root / "notes.txt").write_text("no source", "utf-8")
        assert watched.quiet


def test_the_json_form_is_one_document_a_check_and_nothing_else_on_standard_output(tmp_path: Path) -> None:
    root = sample_record.write(tmp_path)
    printed = tmp_path / "printed"
    with printed.open("w") as output, watching(root, "--format", "json", output=output) as watched:
        watched.check()
        save(root / F1, sample_record.FINDING.replace("A check emits", "A check 7 emits"))
        watched.check()
        assert watched.interrupt() == 0
    text = printed.read_text("utf-8")
    first, end = json.JSONDecoder().raw_decode(text)
    second = json.loads(text[end:])
    assert [len(each["refusals"]) for each in (first, second)] == [0, 1]


def test_a_folder_that_cannot_be_watched_is_misuse(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = sample_record.write(tmp_path)

    def refuse(*_: object, **__: object) -> None:
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr("watchdog.observers.api.BaseObserver.schedule", refuse)
    result = CliRunner().invoke(main, ["check", "--watch", "--root", str(root)])
    assert result.exit_code == 2
    assert "cannot be watched: No space left on device" in result.output


NO_SAVES = {
    "reading a source": FileClosedNoWriteEvent("findings/F-01.md"),
    "a file inside a folder": DirModifiedEvent("findings"),
    "a hidden file": FileModifiedEvent("findings/.F-01.md.swp"),
    "a copy that an editor keeps": FileModifiedEvent("findings/F-01.md~"),
    "a file that is no source": FileModifiedEvent("README.md"),
    "the site": FileModifiedEvent("site/findings/F-01.html"),
}
SAVES = {
    "writing a source": FileModifiedEvent("findings/F-01.md"),
    "renaming onto a source": FileMovedEvent("findings/.F-01.md.swp", "findings/F-01.md"),
    "the configuration": FileModifiedEvent("mkdocs.yml"),
}


@pytest.mark.parametrize("name", [*NO_SAVES, *SAVES])
def test_only_a_write_to_a_source_is_a_save(tmp_path: Path, name: str) -> None:
    event = {**NO_SAVES, **SAVES}[name]
    event.src_path = str(tmp_path / os.fsdecode(event.src_path))
    event.dest_path = str(tmp_path / os.fsdecode(event.dest_path)) if event.dest_path else ""
    saves = Saves(tmp_path)
    saves.on_any_event(event)
    saves.on_any_event(FileModifiedEvent(str(tmp_path / "CITATION.cff")))
    assert (saves.wait() == ["CITATION.cff"]) == (name in NO_SAVES)
