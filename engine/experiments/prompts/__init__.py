"""Prompts written for this project, committed before the runs that use them."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from importlib import resources

FAMILIES = ("questions", "rewriting", "code", "lists", "stories", "dialogue", "summaries")


@dataclass(frozen=True)
class Prompt:
    """One user message and the family it belongs to."""

    id: str
    family: str
    text: str


def acceptance() -> list[Prompt]:
    """The prompts of the acceptance record, in the order of the file."""
    return named("acceptance")


def named(name: str) -> list[Prompt]:
    """The prompts of a committed file, in its order."""
    text = resources.files(__package__).joinpath(f"{name}.toml").read_text(encoding="utf-8")
    return [Prompt(**entry) for entry in tomllib.loads(text)["prompt"]]
