"""What a single check found wrong; the page gives it its place."""

from __future__ import annotations


class Fault(Exception):
    """A refusal code and what is wrong with the value shown."""

    def __init__(self, code: str, message: str) -> None:
        self.code = code
        self.message = message
        super().__init__(message)
