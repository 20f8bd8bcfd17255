"""The sample record with a list of experiments, and what it says of those that it does not publish."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import sample_record

LISTED = "payloads/experiments.json"
UNRUN = "findings/UNRUN.md"
WITHHELD = "findings/WITHHELD.md"
DEVIATIONS = "findings/DEVIATIONS.md"

ROWS = [
    (
        "lookup",
        "acceptance",
        "How many tokens does a check emit?",
        "built",
        ["payloads/acceptance/lookup.json"],
    ),
    ("later", "acceptance", "And on another day?", "planned", []),
    ("secret", "spill", "What was asked?", "built", ["payloads/spill/secret.json"]),
]
UNRUN_TEXT = """---
experiments:
  later: >-
    Not built yet,
    see F-01.
---

Not run is not null.
"""
WITHHELD_TEXT = """---
experiments:
  secret: The people it is about have not agreed.
---

What is kept back, and why.
"""
DEVIATIONS_TEXT = """---
deviations:
  - date: 2026-11-28
    rule: K-1
    what: The bar was read on fewer prompts than it names.
    reading: Take its outcome as a hint.
  - date: 2026-11-29
    rule: payloads/acceptance/lookup.json
    what: The settings were changed after a pilot.
    reading: Nothing rests on them.
    allows: F-02
---

Each place where a rule was bent.
"""


def listed(rows: list[tuple[str, str, str, str, list[str]]] | None = None) -> str:
    """The list of experiments."""
    keys = ("name", "record", "question", "state", "payloads")
    experiments = [dict(zip(keys, row, strict=True)) for row in (ROWS if rows is None else rows)]
    document = {"schema": "specdec-sidechannels/experiments/1", "experiments": experiments}
    return json.dumps(document, indent=2) + "\n"


def sums(list_of_experiments: str) -> str:
    """The checksum list with a line for the list of experiments."""
    digest = hashlib.sha256(list_of_experiments.encode()).hexdigest()
    return sample_record.files()["payloads/SHA256SUMS"] + f"{digest}  {LISTED}\n"


def files() -> dict[str, str]:
    """What is added to the sample record, text by path."""
    return {
        LISTED: listed(),
        "payloads/SHA256SUMS": sums(listed()),
        UNRUN: UNRUN_TEXT,
        WITHHELD: WITHHELD_TEXT,
        DEVIATIONS: DEVIATIONS_TEXT,
    }


def write(root: Path, changes: dict[str, str | bytes | None] | None = None) -> Path:
    """Write the whole record below a folder, with files changed, added, or left out where None."""
    return sample_record.write(root, {**files(), **(changes or {})})
