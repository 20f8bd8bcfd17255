"""The programs that made payloads: which may be run again, how long they take, and running one.

Only a console script that the record's own pyproject.toml declares is run, and only where what is installed
under its name imports what is declared there, so that no payload can name any other program. It is started
without a shell and writes below a folder that is thrown away.
"""

from __future__ import annotations

import json
import shlex
import shutil
import signal
import subprocess
import sys
import threading
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

SCRIPT_LIMIT = 64 * 1024
"""Bytes of the longest file that can be a console script."""

PATIENCE = 60
"""Seconds that a program has to say how long its runs take."""

GRACE = 5
"""Seconds that an interrupted program has to end by itself, and again once it is asked to."""


class NotRun(Exception):
    """A command that is not run, or that did not end well; the message says why and what to do."""


def find(root: Path, name: str) -> str:
    """The path of a program that a record declares; raises NotRun for any other."""
    declared = _declared(root)
    if name not in declared:
        known = ", ".join(declared) or "none"
        raise NotRun(
            f"{name} is no program of this record, so it is not run. pyproject.toml declares {known} under "
            "[project.scripts]."
        )
    beside = str(Path(sys.executable).parent)
    found = [each for each in (shutil.which(name), shutil.which(name, path=beside)) if each]
    if not found:
        raise NotRun(f"{name} is not installed here. Install the record with its engine, then try again.")
    own = next((each for each in found if _imports(Path(each), declared[name])), None)
    if own is None:
        raise NotRun(
            f"{found[0]} is not the program that pyproject.toml declares as {name}, so it is not run. "
            "Install the record in this environment."
        )
    return own


def _declared(root: Path) -> Mapping[str, str]:
    """The console scripts of a record, by name; none where it declares none that can be read."""
    try:
        project: Any = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))
        scripts = project["project"]["scripts"]
    except (OSError, ValueError, KeyError, TypeError):
        return {}
    return {str(name): str(target) for name, target in scripts.items()} if isinstance(scripts, dict) else {}


def _imports(script: Path, target: str) -> bool:
    """Whether a file is a Python script that takes the declared function from the declared module."""
    try:
        if script.stat().st_size > SCRIPT_LIMIT:
            return False
        text = script.read_text("utf-8")
    except (OSError, ValueError):
        return False
    module = target.partition(":")[0].strip()
    shebang = text.partition("\n")[0]
    return shebang.startswith("#!") and "python" in shebang and f"from {module} import " in text


def minutes(program: str, words: list[str]) -> float | None:
    """How long a run takes by the program's own list of experiments, None where that does not say."""
    try:
        done = subprocess.run(
            [program, "list", "--json"], capture_output=True, check=False, timeout=PATIENCE, text=True
        )
        rows = json.loads(done.stdout)["experiments"]
        found = next(row["minutes"] for row in rows if row["name"] in words)
    except (OSError, subprocess.TimeoutExpired, ValueError, KeyError, TypeError, StopIteration):
        return None
    return found if isinstance(found, (int, float)) else None


def run(program: str, words: list[str], folder: Path) -> None:
    """Run a command with its payloads below folder/payloads; what it says goes to standard error.

    Raises NotRun where it fails or is interrupted. What ends this process ends the command too.
    """
    arguments = [program, *words[1:], "--out", str(folder / "payloads")]
    try:
        process = subprocess.Popen(arguments, cwd=folder, stdin=subprocess.DEVNULL, stdout=2)
    except OSError as error:
        raise NotRun(f"{program} cannot be started: {error.strerror}.") from None
    try:
        with _interruptible():
            code = process.wait()
    except KeyboardInterrupt:
        _end(process)
        raise NotRun(
            f"Interrupted: {shlex.join(words)} was ended before it was through. Nothing was compared, and "
            "nothing of it is left."
        ) from None
    except BaseException:
        _end(process)
        raise
    if code:
        raise NotRun(f"{shlex.join(words)} {_told(code)}; what it said stands above. Nothing was compared.")


def _told(code: int) -> str:
    """How a program ended that did not end well."""
    if code > 0:
        return f"ended with exit code {code}"
    known = {each.value: each.name for each in signal.Signals}
    return f"was killed by {known.get(-code, f'signal {-code}')}"


@contextmanager
def _interruptible() -> Iterator[None]:
    """Have the signals that end a process raise KeyboardInterrupt, as an interrupt from the keyboard does."""

    def interrupt(*_: object) -> NoReturn:
        raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    former = {each: signal.signal(each, interrupt) for each in (signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for each, handler in former.items():
            signal.signal(each, handler)


def _end(process: subprocess.Popen[bytes]) -> None:
    """Let a program that was interrupted end by itself, then ask it to, then end it."""
    for end in (process.terminate, process.kill):
        try:
            process.wait(GRACE)
            return
        except subprocess.TimeoutExpired:
            end()
    process.wait()
