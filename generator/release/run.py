"""Releases a record: judge, prove in a fresh clone, then write the manifest and the version."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path

from generator import audit
from generator.record import repository, writing
from generator.record.manifest import PATH as MANIFEST
from generator.record.record import CITATION
from generator.release import contents, standing
from generator.render import site
from generator.render.mkdocs_plugin import Stopped
from generator.render.publish import publish
from generator.report.refusal import Report

_IDENTITY = ("-c", "user.name=findings", "-c", "user.email=findings@localhost", "-c", "commit.gpgsign=false")


class Unprovable(Exception):
    """A clone that could not be made; the message says what git would not do."""


def release(root: Path, tag: str) -> Report:
    """Prove that a record can be released and write what that takes; nothing is written where it is refused.

    Raises Unprovable, OSError, and Misuse where the site cannot be built at all.
    """
    record, evaluations = site.gather(root)
    report = site.judge(record, evaluations)
    report.extend([*standing.settled(report), *standing.against(record, tag)])
    if report.refusals:
        return report
    texts = contents.texts(record, tag)
    report = _proved(root, tag, texts)
    if not report.refusals:
        _write(root, texts)
    return report


def _write(root: Path, texts: Mapping[str, bytes]) -> None:
    """Write every file or none: what was written is taken back where another cannot be."""
    former = {path: (root / path).read_bytes() if (root / path).is_file() else None for path in texts}
    try:
        for path, data in texts.items():
            writing.replace(root / path, data)
    except BaseException:
        for path, kept in former.items():
            if kept is None:
                (root / path).unlink(missing_ok=True)
            elif (root / path).read_bytes() != kept:
                writing.replace(root / path, kept)
        raise


def commands(tag: str) -> list[str]:
    """What is left to do by hand: a release is somebody's decision."""
    files = " ".join(sorted((CITATION, MANIFEST)))
    return [
        f"git add {files}",
        f'git commit -m "Release {tag}" -- {files}',
        f"git tag -a {tag} -m {tag}",
        f"git push origin HEAD {tag}",
    ]


def _proved(root: Path, tag: str, texts: Mapping[str, bytes]) -> Report:
    """Build and audit the release in a clone, as anybody who checks it out would."""
    with tempfile.TemporaryDirectory(prefix="release-") as folder:
        clone = _clone(root, Path(folder) / "clone", tag, texts)
        out = Path(folder) / "site"
        try:
            publish(clone, out)
        except Stopped as stopped:
            return stopped.report
        return audit.verify(clone, out)


def _clone(root: Path, folder: Path, tag: str, texts: Mapping[str, bytes]) -> Path:
    """A clone with its whole history in which the release is committed; the record's folder in it."""
    inside = _git(root, "rev-parse", "--show-prefix").strip()
    top = _git(root, "rev-parse", "--show-toplevel").rstrip("\n")
    _git(root, "clone", "-q", "--shared", "--no-tags", top, str(folder))
    clone = folder / inside
    for path, data in texts.items():
        (clone / path).write_bytes(data)
    _git(clone, "add", "--", *texts)
    _git(clone, *_IDENTITY, "commit", "-q", "-m", f"Release {tag}")
    return clone


def _git(folder: Path, *arguments: str) -> str:
    done = repository.ask(folder, *arguments)
    if done is None:
        words = [each for each in arguments if not each.startswith("-")]
        raise Unprovable(f"git {words[0]} failed in {folder}; the release was not proved.")
    return done
