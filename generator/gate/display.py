"""The display strings of mkdocs.yml and the reasons of terms.toml, each with its place."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from generator.record import front_matter
from generator.record.front_matter import FrontMatter
from generator.record.terms import PATH as TERMS
from generator.record.terms import Term

CONFIGURATION = "mkdocs.yml"
SHOWN = ("site_name", "site_description", "site_author", "copyright")
"""Top-level keys whose text every page shows."""


def configuration(root: Path) -> Iterator[tuple[str, int, int, str]]:
    """Path, line, column and text of every string of mkdocs.yml that the site shows; raises Refused."""
    file = root / CONFIGURATION
    if not file.is_file():
        return
    text = file.read_bytes().decode("utf-8", "replace")
    front = front_matter.parse(CONFIGURATION, text, 1)
    for key in SHOWN:
        if isinstance(value := front.values.get(key), str):
            yield (CONFIGURATION, *front.places[key], value)
    yield from _titles(front, front.values.get("nav"), "nav")


def _titles(front: FrontMatter, value: object, name: str) -> Iterator[tuple[str, int, int, str]]:
    """The titles of the navigation, at any depth."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield (CONFIGURATION, *front.places[f"{name}.{key}:key"], str(key))
            yield from _titles(front, inner, f"{name}.{key}")
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _titles(front, inner, f"{name}.{index}")


def reasons(terms: Iterable[Term]) -> Iterator[tuple[str, int, int, str]]:
    """Why each name may hold a numeral, which the site shows beside it."""
    for term in terms:
        yield TERMS, term.line, 1, term.reason
