"""Every scheme by name, over models that are fetched, or over any other.

A file of `drafts` that defines NAME, NEEDS and `scheme` is a scheme: its name, the `Parts` that it cannot be
without, and how it is made of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from engine.contract.errors import UnknownName
from engine.decode import drafts, eagle
from engine.decode.drafts import bild, lade, rest
from engine.decode.llama import Llama
from engine.decode.scheme import Scheme

CHAIN = 4
"""Draft tokens a round of lookup, draft model and EAGLE."""

COMPARED = ("plain", "lookup", "draft", "rest", "lade", "eagle", "bild")
"""The schemes of the record, in the order of its tables."""


def _found() -> dict[str, Any]:
    """The modules of all schemes by name: those of the record in their order, then any other."""
    files = (import_module(f"{drafts.__name__}.{file.name}") for file in iter_modules(drafts.__path__))
    made = {file.NAME: file for file in files if hasattr(file, "NAME")}
    return {name: made[name] for name in (*COMPARED, *sorted(made.keys() - set(COMPARED)))}


_SCHEMES = _found()
NAMES = tuple(_SCHEMES)


@dataclass(frozen=True)
class Parts:
    """What the schemes are made of; those that a scheme does not need may be absent."""

    target: Llama
    draft: Llama | None = None
    head: eagle.Head | None = None
    datastore: rest.Datastore | None = None
    lade: lade.Settings = field(default_factory=lade.Settings)
    bild: bild.Settings = field(default_factory=bild.Settings)
    length: int = CHAIN
    longest: int = 3
    shortest: int = 1


def scheme(name: str, parts: Parts) -> Scheme:
    """One scheme of its parts. Raises `UnknownName`."""
    if name not in _SCHEMES:
        raise UnknownName(name, "is no scheme.", f"Known: {', '.join(NAMES)}.")
    made: Scheme = _SCHEMES[name].scheme(parts)
    return made


def parts(names: Sequence[str] = NAMES) -> Parts:
    """The fetched models that the named schemes need. Raises `ModelMissing`."""
    from engine.decode import eagle_training, models

    wanted = {need for name in names for need in _SCHEMES[name].NEEDS}
    target = models.load("smollm2")
    return Parts(
        target,
        draft=models.load("smollm2-draft") if "draft" in wanted else None,
        head=eagle_training.load("smollm2-eagle", target) if "head" in wanted else None,
        datastore=rest.Datastore(eagle_training.samples("smollm2-eagle")) if "datastore" in wanted else None,
    )


def load(names: Sequence[str] = NAMES) -> dict[str, Scheme]:
    """Schemes over the fetched models, which they share."""
    found = parts(names)
    return {name: scheme(name, found) for name in names}
