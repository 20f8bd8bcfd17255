"""Does a model's ranking of tokens repeat? The same texts in one environment after another.

Every environment is a process of its own, so that threads, processor capability and the torch imported
are what the setting says from the first instruction on. What cannot be had here is told with its reason.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from engine.contract.errors import BadData

ROOT = Path(__file__).resolve().parents[2]
LAST_LINES = 1
TORCH = "ENGINE_OTHER_TORCH"
"""Environment variable: a folder with another torch (`pip install --no-deps --target FOLDER torch==…`)."""


@dataclass(frozen=True)
class Setting:
    """One environment of the census. Fields that are None leave the process as it is."""

    precision: str = "fp32"
    """`fp32`, `bf16` or `fp16`, of weights, cache and all between."""
    rows: int = 25
    """Texts side by side."""
    threads: int | None = 2
    """Threads of torch."""
    attention: str = "default"
    """`default`, which torch chooses, or `math`, its plain products."""
    device: str = "cpu"
    """`cpu` or `cuda`."""
    capability: str | None = None
    """ATEN_CPU_CAPABILITY, which limits torch's own kernels."""
    isa: str | None = None
    """ONEDNN_MAX_CPU_ISA, which limits oneDNN's."""
    torch_folder: str | None = None
    """A folder whose torch is imported in place of the installed one."""


def settings(baseline: Setting, torch_folder: str | None) -> dict[str, Setting]:
    """The environments of the census by name, each the baseline but for what it is called after."""
    out = {
        "again": baseline,
        "one_row": replace(baseline, rows=1),
        "five_rows": replace(baseline, rows=5),
        "one_thread": replace(baseline, threads=1),
        "plain_attention": replace(baseline, attention="math"),
        "avx2": replace(baseline, capability="avx2"),
        "onednn_avx2": replace(baseline, isa="AVX2"),
        "bf16": replace(baseline, precision="bf16"),
        "fp16": replace(baseline, precision="fp16"),
        "cuda": replace(baseline, device="cuda"),
    }
    return out | ({"other_torch": replace(baseline, torch_folder=torch_folder)} if torch_folder else {})


@dataclass(frozen=True)
class Reading:
    """What one environment says of each token of each text."""

    environment: dict[str, Any]
    """Versions, capability, threads, machine as the process found them."""
    canary: str
    """Digest of the first places of the ranking on a fixed text, in hex."""
    ranks: list[list[int]]
    """Rank of the text's token, from 0; -1 where the model cannot say it."""
    margins: list[list[int]]
    """Its gap to the nearer neighbour, in 2^-20ths of a logit."""
    best: list[list[int]]
    """The token ranked first."""


def ask(job: str, model: str, setting: Setting, **rest: Any) -> dict[str, Any]:
    """The reply of a process in that environment; `BadData` with its last words where there is none."""
    request = {"job": job, "model": model, "setting": asdict(setting)} | rest
    done = subprocess.run(
        [sys.executable, "-m", "engine.coding.census_worker"],
        input=json.dumps(request),
        capture_output=True,
        text=True,
        cwd=ROOT,
        env=_variables(setting),
    )
    if done.returncode:
        last = " ".join(done.stderr.strip().splitlines()[-LAST_LINES:])
        raise BadData(f"environment {_words(setting)}", f"gave no reading: {last}", "Leave it out.")
    reply: dict[str, Any] = json.loads(done.stdout)
    _as_asked(setting, reply["environment"])
    return reply


def read(model: str, setting: Setting, texts: Sequence[Sequence[int]]) -> Reading:
    """The reading of texts in an environment."""
    return Reading(**ask("read", model, setting, texts=[list(text) for text in texts]))


def _variables(setting: Setting) -> dict[str, str]:
    out = dict(os.environ)
    if setting.threads is not None:
        out |= {"OMP_NUM_THREADS": str(setting.threads)}
    if setting.capability is not None:
        out |= {"ATEN_CPU_CAPABILITY": setting.capability}
    if setting.isa is not None:
        out |= {"ONEDNN_MAX_CPU_ISA": setting.isa}
    if setting.torch_folder is not None:
        out |= {"PYTHONPATH": os.pathsep.join([setting.torch_folder, str(ROOT)])}
    return out


def _as_asked(setting: Setting, found: dict[str, Any]) -> None:
    """Refuse a reading from another environment than was asked for."""
    wanted = {"threads": setting.threads, "capability": setting.capability}
    for name, value in wanted.items():
        if value is not None and str(value).upper() != str(found[name]).upper():
            raise BadData(f"environment {_words(setting)}", f"has {name} {found[name]}.", "Leave it out.")


def _words(setting: Setting) -> str:
    return ", ".join(f"{name} {value}" for name, value in asdict(setting).items() if value is not None)


@dataclass(frozen=True)
class Changes:
    """How one text's reading differs from another's; counts of tokens."""

    tokens: int
    flips: int
    """The first place holds another token."""
    moved: int
    """The text's own token has another rank."""
    smallest: int
    """The smallest margin of the text's token in the first reading, in 2^-20ths of a logit."""


def compare(first: Reading, second: Reading) -> list[Changes]:
    """The changes from one reading to another, a text at a time."""
    out = []
    for text in range(len(first.ranks)):
        ranked = [m for m, rank in zip(first.margins[text], first.ranks[text], strict=True) if rank >= 0]
        out.append(
            Changes(
                tokens=len(first.ranks[text]),
                flips=_differing(first.best[text], second.best[text]),
                moved=_differing(first.ranks[text], second.ranks[text]),
                smallest=min(ranked, default=0),
            )
        )
    return out


def _differing(one: Sequence[int], other: Sequence[int]) -> int:
    return sum(a != b for a, b in zip(one, other, strict=True))
