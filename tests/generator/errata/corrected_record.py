"""The sample record with payloads that correct its own, in a git repository."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

import sample_record

LOOKUP = "payloads/acceptance/lookup.json"
RECOUNT = "payloads/acceptance/recount.json"
AGAIN = "payloads/acceptance/again.json"
FIRST, SECOND, THIRD = (f"findings/errata/E-{number}.md" for number in (1, 2, 3))

_INTERVAL = '"value": 2.5978,\n      "low": 2.4102,\n      "high": 2.8041'


def payload(name: str, value: str, low: str, high: str) -> str:
    """The sample payload under another name, with another estimate."""
    text = sample_record.PAYLOAD.replace("acceptance/lookup", f"acceptance/{name}")
    return text.replace(_INTERVAL, f'"value": {value},\n      "low": {low},\n      "high": {high}')


PAYLOADS = {
    RECOUNT: payload("recount", "0.9012", "0.8001", "0.9903"),
    AGAIN: payload("again", "2.7034", "2.5005", "2.9006"),
}


def erratum(
    number: int, *, date: str = "2024-05-01", before: str = "a", after: str = "b", **changes: str
) -> str:
    """An erratum of the value behind F-01#tokens, from one payload to another."""
    aliases = {"a": LOOKUP, "b": RECOUNT, "c": AGAIN}
    front = {
        "id": f"E-{number}",
        "finding": "F-01",
        "statement": "tokens",
        "date": date,
        "kind": "value",
        "reason": "Rounds were counted at the wrong end.",
        "payloads": f"{{{before}: {aliases[before]}, {after}: {aliases[after]}}}",
        "old": f"{before}.results.tokens_per_check | ci(2)",
        "new": f"{after}.results.tokens_per_check | ci(2)",
    } | changes
    return "\n".join(["---", *(f"{key}: {value}" for key, value in front.items() if value), "---"]) + "\n"


def wording(number: int, **changes: str) -> str:
    """An erratum of words, which names no field."""
    kept = erratum(number, kind="wording", **changes).split("\n")
    kept = [line for line in kept if not line.startswith(("old:", "new:", "payloads:"))]
    return "\n".join([kept[0], "payloads: {}", *kept[1:]])


def git(root: Path, *arguments: str) -> str:
    """Run git in a repository of the test."""
    identity = ["-c", "user.name=test", "-c", "user.email=test@example.invalid", "-c", "commit.gpgsign=false"]
    done = subprocess.run(
        ["git", "-C", str(root), *identity, *arguments], check=True, capture_output=True, env=os.environ
    )
    return done.stdout.decode()


def write(root: Path, changes: Mapping[str, str] | None = None) -> Path:
    """The record with its corrections, committed."""
    sample_record.write(root, {**PAYLOADS, **(changes or {})})
    git(root, "init", "-q")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "Everything")
    return root
