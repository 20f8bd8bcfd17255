"""The locks hold the pinned versions, each with the digests of its files, and their licences are listed."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
LOCKS = sorted((ROOT / "locks").glob("*.txt"))
PIN = re.compile(r"^([A-Za-z0-9_.-]+)==([^\s;]+)", re.MULTILINE)
ENTRY = re.compile(r"[A-Za-z0-9_.-]+==\S+(?: ; [^\\\n]+)?(?: \\\n    --hash=sha256:[0-9a-f]{64})+\n")


def named(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def pins(text: str) -> dict[str, str]:
    return {named(name): version for name, version in PIN.findall(text)}


PINNED = pins((ROOT / "constraints.txt").read_text("utf-8"))


@pytest.mark.parametrize("lock", LOCKS, ids=lambda lock: lock.name)
def test_a_lock_is_nothing_but_pinned_versions_with_digests(lock: Path) -> None:
    text = lock.read_text("utf-8")
    found = pins(text)
    assert len(found) > 30
    assert "".join(ENTRY.findall(text)) == text
    other = {name: version for name, version in found.items() if PINNED.get(name, version) != version}
    assert other == {}, "Write it again: make lock"


def test_the_lock_of_the_site_holds_whatever_the_generator_asks_for() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    wanted = {named(re.split(r"[<>=\[ ]", each)[0]) for each in project["dependencies"]}
    assert wanted <= set(pins((ROOT / "locks/site.txt").read_text("utf-8"))), "Write it again: make lock"


def test_every_locked_distribution_has_a_licence() -> None:
    listed = dict(
        line.split(maxsplit=2)[::2] for line in (ROOT / "docs/licences.txt").read_text().splitlines()
    )
    locked = {name for lock in LOCKS for name in pins(lock.read_text("utf-8"))}
    assert locked == {named(name) for name in listed}, "Write it again: make lock"
    assert [name for name, said in listed.items() if said == "not stated"] == []
