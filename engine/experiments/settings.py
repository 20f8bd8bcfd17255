"""Settings as a payload holds them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from engine.contract.payload import lexeme


def shown(settings: Any) -> dict[str, Any]:
    """A dataclass or mapping: decimals as lexemes, tuples as lists, the root seed left out."""
    found: Mapping[str, Any] = settings if isinstance(settings, Mapping) else asdict(settings)
    return {name: _shown(value) for name, value in found.items() if name != "root"}


def command(experiment: str, *, quick: bool) -> list[str]:
    """What is typed to run an experiment, or to rehearse it."""
    return ["engine", "run", experiment, *(["--quick"] if quick else [])]


def _shown(value: Any) -> Any:
    if isinstance(value, Mapping):
        return shown(value)
    if isinstance(value, (list, tuple)):
        return [_shown(inner) for inner in value]
    return lexeme(value) if isinstance(value, float) else value
