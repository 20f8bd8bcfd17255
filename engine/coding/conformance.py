"""Judge a Lockstep coder by its conformance vectors: python -m engine.coding.conformance [--json]

A vector is one JSON file in `vectors/`: a model, and either a message with the code it must have, both
ways, or what must be refused and why. A port in another language passes when every vector does.
Standard library only, so that any Python can run it.
"""

from __future__ import annotations

import json
import platform
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from engine.coding import lockstep
from engine.contract.errors import BadData

FOLDER = Path(__file__).with_name("vectors")

REFUSALS = {
    "model": "model: ",
    "symbol": "symbol ",
    "slack": "lies in no symbol's share",
    "truncated": "stops before its message",
    "trailing": "goes on after its message",
    "canonical": "is not the shortest",
    "endless": "has no end",
}
"""Why a vector is refused, and words that the refusal must say."""


class Cycle:
    """Static models taken in turn, as when shares change from symbol to symbol."""

    def __init__(self, models: list[lockstep.Static]) -> None:
        self._models, self._at = models, 0
        self.total = models[0].total

    def _next(self) -> None:
        self._at = (self._at + 1) % len(self._models)
        self.total = self._models[self._at].total

    def steps(self, message: Iterable[int]) -> Iterator[lockstep.Step]:
        """The step of each symbol under the model whose turn it is."""
        for symbol in message:
            model = self._models[self._at]
            self._next()
            yield from model.steps([symbol])

    def find(self, slot: int) -> lockstep.Found:
        """The symbol that holds `slot` under the model whose turn it is."""
        symbol, start, count, _ = self._models[self._at].find(slot)
        self._next()
        return symbol, start, count, self.total


def vectors(folder: Path = FOLDER) -> dict[str, dict[str, Any]]:
    """Every vector by name, in the order of their names."""
    return {path.stem: json.loads(path.read_bytes()) for path in sorted(folder.glob("*.json"))}


def model(described: dict[str, Any], coder: ModuleType = lockstep) -> lockstep.Model:
    """A fresh model from its description; `BadData` where the coder refuses it."""
    made: lockstep.Model
    if described["kind"] == "cycle":
        made = Cycle([coder.Static(counts) for counts in described["tables"]])
    elif described["kind"] == "adaptive":
        made = coder.Adaptive(described["symbols"], described["increment"], described["limit"])
    else:
        made = coder.Static(described["counts"])
    return made


def judge(vector: dict[str, Any], coder: ModuleType = lockstep) -> str | None:
    """What the coder does wrong with this vector, or None."""
    refused = vector.get("refused")
    try:
        if refused in (None, "symbol"):
            made = coder.encode(vector["message"], model(vector["model"], coder)).hex()
            if made != vector["code"]:
                return f"encodes to {made}, not {vector['code']}"
        code = bytes.fromhex(vector["code"])
        read = coder.decode(code, model(vector["model"], coder), vector["count"], vector["end"])
    except BadData as error:
        return None if refused and REFUSALS[refused] in str(error) else f"is refused: {error}"
    if refused:
        return f"decodes to {read}, and should be refused as {refused}"
    return None if read == vector["message"] else f"decodes to {read}, not {vector['message']}"


def report() -> dict[str, Any]:
    """What judged, in words, and each vector's fault or None."""
    words = {
        "implementation": platform.python_implementation(),
        "version": platform.python_version(),
        "build": platform.python_compiler() or "not told",
        "system": platform.system(),
        "release": platform.release(),
        "machine": platform.machine(),
    }
    return {**words, "faults": {name: judge(vector) for name, vector in vectors().items()}}


def main(arguments: list[str]) -> int:
    """One line a vector, or the report as JSON; 1 if any fails."""
    found = report()
    faults: dict[str, str | None] = found["faults"]
    wrong = sum(fault is not None for fault in faults.values())
    if arguments == ["--json"]:
        print(json.dumps(found))
        return 1 if wrong else 0
    for name, fault in faults.items():
        print(f"{'FAIL' if fault else 'ok  '} {name}{': ' + fault if fault else ''}")
    print(f"{wrong} of {len(faults)} vectors fail under {found['implementation'].lower()} {found['version']}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
