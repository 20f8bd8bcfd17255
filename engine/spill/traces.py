"""Traces of decoding, and the files they are kept in.

A trace is what one answer sent round by round: token counts (trace B) and bytes of text (trace A). One file
holds the traces of one scheme, prompt set and temperature; it is written whole, and its digest is listed in
the folder's SHA256SUMS.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, ValidationError, model_validator

from engine.contract.errors import BadData
from engine.contract.provenance import sha256_file
from engine.contract.store import write_text

FORMAT = "specdec-sidechannels/traces/1"
SUMS = "SHA256SUMS"
Kind = Literal["bytes", "counts"]


@dataclass(frozen=True)
class Trace:
    """One answer: its prompt and run, its tokens, and the tokens and bytes of each round."""

    prompt: int
    run: int
    tokens: tuple[int, ...]
    counts: tuple[int, ...]
    sizes: tuple[int, ...]

    def __post_init__(self) -> None:
        """Refuse rounds that do not make the answer."""
        if sum(self.counts) != len(self.tokens) or len(self.counts) != len(self.sizes):
            raise BadData(
                f"prompt {self.prompt}, run {self.run}",
                f"has rounds of {sum(self.counts)} tokens for an answer of {len(self.tokens)}.",
                "Record it again.",
            )


@dataclass(frozen=True)
class TraceSet:
    """All traces of one scheme, prompt set and temperature, under one limit of tokens."""

    scheme: str
    prompts: str
    temperature: float
    new_tokens: int
    bound: int
    traces: tuple[Trace, ...]

    def vectors(self, kind: Kind, length: int) -> NDArray[np.int64]:
        """One row a trace, zeros after its end, cut at `length` rounds. (traces, length)"""
        out = np.zeros((len(self.traces), length), dtype=np.int64)
        for row, trace in zip(out, self.traces, strict=True):
            values = (trace.sizes if kind == "bytes" else trace.counts)[:length]
            row[: len(values)] = values
        return out

    def labels(self) -> NDArray[np.int64]:
        """The prompt of each trace. (traces,)"""
        return np.array([trace.prompt for trace in self.traces])

    def runs(self) -> NDArray[np.int64]:
        """The run of each trace. (traces,)"""
        return np.array([trace.run for trace in self.traces])

    def distinct(self) -> dict[int, int]:
        """How many different answers each prompt has."""
        answers: dict[int, set[tuple[int, ...]]] = {}
        for trace in self.traces:
            answers.setdefault(trace.prompt, set()).add(trace.tokens)
        return {prompt: len(found) for prompt, found in answers.items()}

    @property
    def name(self) -> str:
        """The file's name."""
        return f"{self.scheme}-{self.prompts}-{self.temperature:g}.json"


class _Row(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)
    prompt: int
    run: int
    tokens: tuple[int, ...]
    counts: tuple[int, ...]
    sizes: tuple[int, ...]


class _File(BaseModel):
    """A file of traces at the border."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    schema_: Literal["specdec-sidechannels/traces/1"]
    scheme: str
    prompts: str
    temperature: float
    new_tokens: int
    bound: int
    traces: tuple[_Row, ...]

    @model_validator(mode="after")
    def _bounded(self) -> _File:
        worst = max((max(row.counts, default=0) for row in self.traces), default=0)
        if worst > self.bound:
            raise ValueError(
                f"a round of {worst} tokens is not of {self.scheme}, whose bound is {self.bound}"
            )
        if len({(row.prompt, row.run) for row in self.traces}) < len(self.traces):
            raise ValueError("a run stands twice")
        return self


def write(folder: Path, traces: TraceSet) -> tuple[Path, str]:
    """Write a set whole, list its digest, and return both."""
    document: dict[str, Any] = {
        "schema_": FORMAT,
        "scheme": traces.scheme,
        "prompts": traces.prompts,
        "temperature": traces.temperature,
        "new_tokens": traces.new_tokens,
        "bound": traces.bound,
        "traces": [trace.__dict__ for trace in traces.traces],
    }
    path = folder / traces.name
    _parse(json.loads(json.dumps(document)), str(path))
    write_text(path, json.dumps(document) + "\n")
    _list(folder)
    return path, sha256_file(path)


def _list(folder: Path) -> None:
    lines = [f"{sha256_file(path)}  {path.name}\n" for path in sorted(folder.glob("*.json"))]
    write_text(folder / SUMS, "".join(lines))


def read(path: Path, sha256: str | None = None) -> TraceSet:
    """A set of traces; `BadData` for half a file, another digest, or what is no set of one scheme."""
    if not path.is_file():
        raise BadData(str(path), "is not there.", "Run: engine run spill-traces")
    found = sha256_file(path)
    if sha256 is not None and found != sha256:
        raise BadData(str(path), f"has digest {found}, wanted is {sha256}.", "Record it again.")
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise BadData(str(path), f"is no whole file of traces: {error}.", "Record it again.") from None
    return _parse(document, str(path))


def _parse(document: Any, place: str) -> TraceSet:
    try:
        file = _File.model_validate(document)
    except ValidationError as error:
        first = error.errors()[0]
        at = "/".join(map(str, first["loc"]))
        raise BadData(f"{place} at /{at}", f"{first['msg']}.", "Record it again.") from None
    rows = tuple(Trace(**row.model_dump()) for row in file.traces)
    return TraceSet(file.scheme, file.prompts, file.temperature, file.new_tokens, file.bound, rows)


def together(sets: Sequence[TraceSet]) -> TraceSet:
    """Sets of one scheme, temperature and limit as one; `BadData` for mixed ones."""
    first = sets[0]
    for other in sets[1:]:
        alike = (other.scheme, other.temperature, other.new_tokens) == (
            first.scheme,
            first.temperature,
            first.new_tokens,
        )
        if not alike:
            raise BadData(other.name, f"is not of the kind of {first.name}.", "Give traces of one kind.")
    rows = tuple(trace for one in sets for trace in one.traces)
    return TraceSet(first.scheme, first.prompts, first.temperature, first.new_tokens, first.bound, rows)
