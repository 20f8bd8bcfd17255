"""The second implementation, in JavaScript, agrees with the first on every vector and on random messages."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
from pathlib import Path
from typing import Any

import make_vectors
import pytest

from engine.coding import conformance, lockstep

HERE = Path(__file__).parent
CODER = HERE.parents[2] / "site_src/assets/lockstep.mjs"
NODE = shutil.which("node")
pytestmark = pytest.mark.skipif(NODE is None, reason="node is not installed, and the second coder needs it")


def judged(coder: Path, folder: Path) -> dict[str, str | None]:
    assert NODE
    command = [NODE, str(HERE / "judge_vectors.mjs"), str(coder), str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    verdicts: dict[str, str | None] = json.loads(done.stdout)
    return verdicts


def test_it_passes_every_vector() -> None:
    assert judged(CODER, conformance.FOLDER) == dict.fromkeys(conformance.vectors())


def test_it_agrees_on_random_messages(tmp_path: Path) -> None:
    rng = random.Random(11)
    for index in range(200):
        (tmp_path / f"{index}.json").write_text(make_vectors.text(_random(rng)))
    assert judged(CODER, tmp_path) == dict.fromkeys(map(str, range(200)))


def _random(rng: random.Random) -> dict[str, Any]:
    size = rng.choice([1, 2, 7, 60])
    described: dict[str, Any] = {
        "kind": "adaptive",
        "symbols": size,
        "increment": 9,
        "limit": size + rng.choice([9, 99]),
    }
    if rng.random() < 0.5:
        widest = rng.choice([1, 9, lockstep.TOTAL_LIMIT // size])
        described = {"kind": "static", "counts": [rng.randint(1, widest) for _ in range(size)]}
    message = rng.choices(range(size), k=rng.randint(0, 60))
    code = lockstep.encode(message, conformance.model(described))
    return {
        "model": described,
        "count": len(message),
        "end": None,
        "message": message,
        "code": code.hex(),
    }


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("this.held + carry", "this.held"),
        ("carry ? 0n : TOP", "TOP"),
        ("this.total > this.limit", "this.total >= this.limit"),
        ("count - Math.floor(count / 2)", "Math.max(1, Math.floor(count / 2))"),
        ("point + unit <= low + width", "point < low + width"),
        ("code.length > at + length", "false"),
        ("slot >= model.total", "false"),
    ],
)
def test_a_spoilt_copy_fails(right: str, wrong: str, tmp_path: Path) -> None:
    source = CODER.read_text(encoding="utf-8")
    assert source.count(right) == 1
    spoilt = tmp_path / "spoilt.mjs"
    spoilt.write_text(source.replace(right, wrong), encoding="utf-8")
    assert any(judged(spoilt, conformance.FOLDER).values())
