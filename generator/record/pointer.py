"""JSON pointers (RFC 6901), with the standard library alone, so that the audit can use them too."""

from __future__ import annotations

import re
from collections.abc import Iterable

_BAD_ESCAPE = re.compile(r"~(?![01])")


def parse(pointer: str) -> tuple[str, ...]:
    """Split a pointer into its reference tokens; raises ValueError where it is not one."""
    if pointer == "":
        return ()
    if not pointer.startswith("/"):
        raise ValueError(f"a JSON pointer is empty or starts with '/': {pointer!r}")
    if _BAD_ESCAPE.search(pointer):
        raise ValueError(f"'~' stands only before 0 or 1 in a JSON pointer: {pointer!r}")
    return tuple(token.replace("~1", "/").replace("~0", "~") for token in pointer[1:].split("/"))


def unparse(tokens: Iterable[str]) -> str:
    """Join reference tokens into a pointer; the inverse of parse."""
    return "".join("/" + token.replace("~", "~0").replace("/", "~1") for token in tokens)
