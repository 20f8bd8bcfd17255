"""What a single check found wrong; the page gives it its place."""

from __future__ import annotations

LIMIT = 10_000
"""Refusals of one file, beyond which no person and no machine reads on."""

LONGEST = 1_000_000
"""Characters of the longest text that is judged as one."""


class Fault(Exception):
    """A refusal code and what is wrong with the value shown."""

    def __init__(self, code: str, message: str) -> None:
        self.code = code
        self.message = message
        super().__init__(message)


class Placed(Fault):
    """A fault that knows its offset in the page."""

    def __init__(self, offset: int, code: str, message: str) -> None:
        self.offset = offset
        super().__init__(code, message)


class Crowded(Exception):
    """A file with more refusals than are told, or a text longer than is judged; the message says which."""

    @classmethod
    def refusals(cls) -> Crowded:
        return cls(f"More than {LIMIT} refusals in one file; the rest of it was not judged.")

    @classmethod
    def text(cls) -> Crowded:
        return cls(f"A text of more than {LONGEST} characters without a break is not judged. Divide it.")
