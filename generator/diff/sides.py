"""The two sides that a command line names: two revisions, or two built sites."""

from __future__ import annotations

from pathlib import Path

from generator.diff import revision, site
from generator.diff.entry import Side
from generator.diff.revision import UnknownRevision
from generator.report.refusal import Refusal, Refused


class Misuse(Exception):
    """Two names that are no two sides of one kind."""


def read(root: Path, old: str, new: str | None) -> tuple[Side, Side]:
    """Both sides; the working tree stands in for a second one that is not named.

    Two folders are sites, anything else is revisions. Raises Refused with what is wrong on both sides, and
    Misuse.
    """
    folders = [_folder(root, name) for name in (old, new) if name is not None]
    refusals: list[Refusal] = []
    sides: list[Side] = []
    for at, name in enumerate((old, new)):
        try:
            folder = folders[at] if len(folders) == 2 and all(folders) else None
            sides.append(site.read(folder, name=name or "") if folder else revision.read(root, name))
        except UnknownRevision:
            raise Misuse(_unknown(name or "", any(folders))) from None
        except Refused as refused:
            refusals += refused.refusals
    if refusals:
        raise Refused(refusals)
    return sides[0], sides[1]


def _folder(root: Path, name: str) -> Path | None:
    """The folder that a name means, as seen from the root of the record, or from here."""
    return next((each for each in (root / name, Path(name)) if each.is_dir()), None)


def _unknown(name: str, folders: bool) -> str:
    if folders:
        return f"git knows no revision {name}. A built site is compared with another one: name two folders."
    return f"git knows no revision {name}, and there is no folder of this name."
