"""Failures a user can act on: what went wrong, where, and what to do."""

from __future__ import annotations


class EngineError(Exception):
    """A refusal with its place and its remedy; the command line prints it and exits 1."""

    def __init__(self, place: str, problem: str, remedy: str) -> None:
        self.place, self.problem, self.remedy = place, problem, remedy
        super().__init__(f"{place}: {problem} {remedy}")


class BadData(EngineError):
    """Input that cannot be judged: too few clusters, a degenerate ratio, NaN."""


class UnknownName(EngineError):
    """A name that nothing bears: misuse, exit code 2."""


class NotBuilt(EngineError):
    """An experiment that is planned and has no code yet."""


class ModelMissing(EngineError):
    """A model that was not fetched, or whose bytes are not the pinned ones."""


class FetchFailed(EngineError):
    """A download, extraction or training that could not be completed."""
