"""Names of a file as identifiers of a payload, by one rule, and never two names as one."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

RULE = (
    "lower case, accents dropped, one underscore for every run of other characters than a-z, 0-9 and _, "
    "n_ before a digit, value_ for value"
)
"""How a name that is no identifier becomes one."""

IDENTIFIER = re.compile(r"[a-z][a-z0-9_]*")


def identifier(name: str) -> str:
    """The identifier that a name becomes."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    made = re.sub(r"[^a-z0-9_]+", "_", plain).strip("_")
    if made == "value":
        return "value_"
    return made if IDENTIFIER.fullmatch(made) else f"n_{made}".rstrip("_")


def clashes(paths: Iterable[tuple[str, ...]]) -> dict[tuple[str, ...], list[tuple[str, ...]]]:
    """Paths of identifiers that several paths of names become, and a path that leads through another."""
    made: dict[tuple[str, ...], list[tuple[str, ...]]] = {}
    for each in paths:
        made.setdefault(tuple(map(identifier, each)), []).append(each)
    inner = {path[:size]: names for path, names in made.items() for size in range(1, len(path))}
    found = {path: names for path, names in made.items() if len(names) > 1}
    return found | {path: [*made[path], *inner[path]] for path in made.keys() & inner.keys()}
