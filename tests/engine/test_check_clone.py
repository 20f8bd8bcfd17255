"""The README's section on checking a number, as written, in a fresh clone where only numpy is installed."""

from __future__ import annotations

import os
import re
import resource
import shlex
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def commands() -> list[str]:
    """The commands of the section."""
    found = re.search(r"## Check a number in under a second\n.*?```sh\n(.*?)```", README, re.DOTALL)
    assert found is not None
    return found[1].splitlines()


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Every tracked file as it stands, as a clone of it would hold."""
    root = tmp_path_factory.mktemp("clone")
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True, text=True)
    for name in filter(None, listed.stdout.split("\0")):
        if (ROOT / name).is_file():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, root / name)
    return root


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An interpreter that has the standard library and numpy, and nothing else."""
    home = tmp_path_factory.mktemp("numpy-alone")
    venv.create(home, symlinks=True)
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    packages = home / "lib" / version / "site-packages"
    installed = Path(np.__file__).parent
    for folder in (installed, *installed.parent.glob("numpy.libs")):
        (packages / folder.name).symlink_to(folder)
    return home / "bin" / "python"


def run(clone: Path, python: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """A command in the clone, without anything of the user's."""
    environment = {"PATH": os.defpath, "HOME": str(clone)}
    return subprocess.run(
        [str(python), *arguments], cwd=clone, env=environment, capture_output=True, text=True, timeout=120
    )


def timed(clone: Path, python: Path, arguments: list[str]) -> tuple[subprocess.CompletedProcess[str], float]:
    """A command, and the seconds of the processor that it took, start and imports among them."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = run(clone, python, *arguments)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return done, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


PRESENT = """
import importlib.util
names = ("numpy", "pydantic", "click", "yaml", "torch", "scipy")
print([name for name in names if importlib.util.find_spec(name)])
"""


def test_the_interpreter_has_numpy_and_no_other_package(clone: Path, python: Path) -> None:
    assert run(clone, python, "-c", PRESENT).stdout == "['numpy']\n"


@pytest.mark.parametrize("command", commands())
def test_a_command_of_the_readme_recomputes_equal_numbers_within_a_second(
    clone: Path, python: Path, command: str
) -> None:
    program, *arguments = shlex.split(command)
    assert program == "python"
    done, spent = timed(clone, python, arguments)
    for _ in range(4):  # others may be at work on this machine
        spent = min(spent, timed(clone, python, arguments)[1]) if spent >= 1.0 else spent
    assert (done.returncode, done.stderr) == (0, "")
    assert "DIFFER" not in done.stdout
    *lines, last = done.stdout.splitlines()
    assert any(re.fullmatch(r"equal  \S+ \S+: committed .+, recomputed .+", line) for line in lines)
    assert re.fullmatch(r"(\d+) of \1 recomputed numbers equal, \d+ in all, \d+\.\d\d s", last)
    assert spent < 1.0


PAYLOADS = sorted(
    path.relative_to(ROOT / "payloads").with_suffix("").as_posix()
    for path in (ROOT / "payloads").glob("*/*.json")
    if path.parent.name not in ("registered", "critic", "reference")
)


@pytest.mark.parametrize("name", PAYLOADS)
def test_every_payload_of_the_record_is_recomputed_within_a_second(
    clone: Path, python: Path, name: str
) -> None:
    done, spent = timed(clone, python, ["-m", "engine.check", name])
    for _ in range(4):  # others may be at work on this machine
        spent = min(spent, timed(clone, python, ["-m", "engine.check", name])[1]) if spent >= 1.0 else spent
    assert done.returncode == 0
    assert spent < 1.0


def test_the_section_shows_every_kind_of_reference() -> None:
    given = [shlex.split(command)[-1] for command in commands()]
    kinds = {
        "id": r"F-\d+",
        "statement": r"F-\d+#[a-z-]+",
        "payload": r"[a-z-]+/[a-z-]+",
        "number": r".+\.json#/.+",
    }
    for kind, shape in kinds.items():
        assert any(re.fullmatch(shape, reference) for reference in given), kind


def test_a_changed_digit_is_seen_there_too(clone: Path, python: Path) -> None:
    path = clone / "payloads" / "acceptance" / "lookup-greedy.json"
    text = path.read_text(encoding="utf-8")
    found = re.search(r'"low": \d\.\d+(\d),', text)
    assert found is not None
    turned = str((int(found[1]) + 1) % 10)
    path.write_text(text[: found.start(1)] + turned + text[found.end(1) :], encoding="utf-8")
    try:
        done = run(clone, python, "-m", "engine.check", "acceptance/lookup-greedy")
    finally:
        path.write_text(text, encoding="utf-8")
    assert (done.returncode, done.stdout.count("DIFFER")) == (1, 1)


def test_misuse_is_one_line_and_exit_two(clone: Path, python: Path) -> None:
    done = run(clone, python, "-m", "engine.check", "https://example.org/another/site.html#L3")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1 and "no address of this record" in done.stderr
