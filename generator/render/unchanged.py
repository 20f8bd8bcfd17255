"""Whether a site is still what a build would make of the record.

What a build reads is digested as a whole: the files of the record, what git says of them, the programs and
the few variables that matter. Where that and every byte of the site are as they were after the last build,
there is nothing to build. The note of it lies in the user's cache; an audit never looks there.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

import generator
from generator.record import repository

FOLDERS = ("findings", "payloads", "templates", "site_src")

_ELSEWHERE = re.compile(r"^\s*(?:INHERIT|hooks)\s*:|!ENV|_dir:\s*[\"']?(?:/|~|\.\.)", re.MULTILINE)
"""What lets a configuration read files or variables that are not known here."""


def made_of(root: Path, out: Path) -> str | None:
    """A digest of everything that a build of the record into a folder reads; None where that is not known."""
    with suppress(OSError):
        if _ELSEWHERE.search((root / "mkdocs.yml").read_text("utf-8", errors="replace")):
            return None
        parts = [str(root), str(repository.in_ci()), _date(root), *_told_by_git(root)]
        parts += [_files(root, _read(root, out)), _programs(), sys.version]
        return sha256("\0".join(parts).encode("utf-8", "surrogateescape")).hexdigest()
    return None


def recall(out: Path, made_of: str | None) -> str | None:
    """What was said of the site after its last build, if both are still the same."""
    if made_of is None:
        return None
    with suppress(OSError, ValueError, KeyError, TypeError):
        note = json.loads(_note(out).read_text("utf-8"))
        if (note["made_of"], note["site"]) == (made_of, _site(out)):
            return str(note["said"])
    return None


def remember(out: Path, made_of: str | None, said: str) -> None:
    """Keep what was said of a site that was just built, and nothing of sites that are gone.

    Nothing is lost where that cannot be written.
    """
    with suppress(OSError):
        note = _note(out)
        note.parent.mkdir(parents=True, exist_ok=True)
        note.unlink(missing_ok=True)
        for other in note.parent.glob("*.json"):
            if _is_idle(other):
                other.unlink()
        if made_of is not None:
            kept = {"out": str(out), "made_of": made_of, "site": _site(out), "said": said}
            note.write_text(json.dumps(kept), "utf-8")


def _note(out: Path) -> Path:
    """Where the note of a site lies."""
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "findings" / f"{sha256(str(out).encode()).hexdigest()[:16]}.json"


def _is_idle(note: Path) -> bool:
    """Whether a note is of no site that is there, or of nothing at all."""
    with suppress(OSError, ValueError, KeyError, TypeError):
        return not Path(json.loads(note.read_text("utf-8"))["out"]).is_dir()
    return True


def _read(root: Path, out: Path) -> set[Path]:
    """Files of a record: what git tracks or would, or all of them, and whatever lies in its folders."""
    listed = repository.ask(root, "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", ".")
    found = _below(root) if listed is None else (root / name for name in listed.split("\0") if name)
    everything = {*found, *(file for name in FOLDERS for file in _below(root / name))}
    return {file for file in everything if not file.is_relative_to(out)}


def _below(folder: Path) -> Iterator[Path]:
    """Every file below a folder, but for hidden folders."""
    for path, names, files in os.walk(folder):
        names[:] = [name for name in names if not name.startswith(".")]
        yield from (Path(path, name) for name in files)


def _files(root: Path, files: Iterable[Path]) -> str:
    """One digest of many files and their places."""
    whole = sha256()
    for file in sorted(files):
        data = sha256(file.read_bytes()).hexdigest() if file.is_file() else "none"
        whole.update(f"{file.relative_to(root).as_posix()}\0{data}\n".encode("utf-8", "surrogateescape"))
    return whole.hexdigest()


def _site(out: Path) -> str:
    return _files(out, (Path(path, name) for path, _, names in os.walk(out) for name in names))


def _told_by_git(root: Path) -> Iterator[str]:
    """Commit, branches and tags, what is staged, whether the history is whole."""
    for command in (
        ("rev-parse", "HEAD", "--is-shallow-repository"),
        ("for-each-ref",),
        ("ls-files", "--stage", "-z", "--", "."),
    ):
        yield repository.ask(root, *command) or ""


def _date(root: Path) -> str:
    """The date of a build: as it is set, or of the commit, which a build sets it to."""
    return (
        os.environ.get("SOURCE_DATE_EPOCH")
        or (repository.ask(root, "log", "-1", "--format=%ct") or "").strip()
    )


def _programs() -> str:
    """The generator's own files, and every distribution beside it by name and version."""
    own = Path(generator.__file__).parent
    files = _files(own, (file for file in _below(own) if file.suffix != ".pyc"))
    beside = {each.name for path in sys.path for each in Path(path).glob("*.dist-info")}
    return "\0".join([files, *sorted(beside)])
