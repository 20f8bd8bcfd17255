"""`engine check` makes every number again from committed state, with numpy alone, and sees any change."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine import check
from engine.contract import store
from engine.contract.payload import ADAPTER, Leaf, Lexeme, Statistic
from engine.stats.statistic import Table, compute

COLUMNS = ["cluster", "family", "hits", "other", "n", "s_0", "s_1"]
STATISTICS: dict[str, dict[str, Any]] = {
    "share": {"kind": "ratio", "numerator": ["hits"], "denominator": ["n"]},
    "second": {"kind": "ratio", "numerator": ["hits"], "denominator": ["n"], "family": 1},
    "gain": {
        "kind": "difference",
        "numerator": ["hits"],
        "denominator": ["n"],
        "minus": {"kind": "ratio", "numerator": ["other"], "denominator": ["n"], "stream": "b"},
    },
    "total": {"kind": "sum", "numerator": ["hits", "other"]},
    "noise": {
        "kind": "seed_spread",
        "numerator": ["s_0", "s_1"],
        "denominator": ["n", "n"],
        "prompts": 20,
        "subsets": 5,
    },
}


def rows() -> list[list[int]]:
    """Thirty clusters."""
    random = np.random.default_rng(11)
    n = random.integers(30, 90, 30)
    parts = random.binomial(n[:, None], [0.5, 0.4, 0.3, 0.3])
    return [
        [i, i % 2, int(p[0]), int(p[1]), int(m), int(p[2]), int(p[3])]
        for i, (p, m) in enumerate(zip(parts, n, strict=True))
    ]


NEEDED = ("__init__.py", "check.py", "contract/__init__.py", "contract/errors.py", "contract/seeds.py")


@dataclass
class Clone:
    """A checkout with one payload and one finding, and nothing of the engine but what a check needs."""

    root: Path

    @property
    def payload(self) -> Path:
        """The payload's file."""
        return self.root / "payloads" / "trial" / "one.json"

    def check(self, *names: str) -> subprocess.CompletedProcess[str]:
        """`python -m engine.check` in the clone."""
        command = [sys.executable, "-m", "engine.check", *names]
        return subprocess.run(command, cwd=self.root, capture_output=True, text=True, timeout=60)


@pytest.fixture
def clone(tmp_path: Path, document: dict[str, Any]) -> Clone:
    """A clone whose payload was just made."""
    source = Path(check.__file__).parent
    for name in NEEDED:
        (tmp_path / "engine" / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source / name, tmp_path / "engine" / name)
    shutil.copytree(source / "stats", tmp_path / "engine" / "stats", ignore=lambda *_: ["__pycache__"])
    document["config"] = {"resamples": 500, "level": Lexeme("0.95")}
    document["state"] = {"columns": COLUMNS, "rows": rows()}
    table = Table.from_rows(COLUMNS, rows(), root=document["seeds"]["root"], resamples=500, level=0.95)
    document["results"] = {"plain": {"value": 1, "unit": "tokens"}, "nested": {}}
    for name, fields in STATISTICS.items():
        statistic = Statistic.model_validate(fields | {"stream": "b"})
        made = compute(statistic.model_dump(exclude_none=True), table)
        leaf = Leaf.model_validate(made | {"unit": "share", "statistic": statistic})
        document["results"]["nested"][name] = leaf.model_dump(exclude_none=True)
    made_clone = Clone(tmp_path)
    store.write(made_clone.payload, ADAPTER.validate_python(document))
    finding = tmp_path / "findings" / "F-01.md"
    finding.parent.mkdir()
    finding.write_text("---\nid: F-01\npayloads:\n  a: payloads/trial/one.json\n---\nText --- more.\n")
    return made_clone


@pytest.mark.parametrize(
    "names", [(), ("trial/one",), ("F-01",), ("payloads/trial/one.json",), ("F-01", "trial/one")]
)
def test_an_untouched_payload_is_equal_in_every_number(clone: Clone, names: tuple[str, ...]) -> None:
    done = clone.check(*names)
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    for name in STATISTICS:
        assert any(line.startswith(f"equal  trial/one nested.{name}: ") for line in lines)
    assert "-      trial/one plain: 1 (no state; re-run its command)" in lines
    assert lines[-1].startswith("5 of 5 recomputed numbers equal, 6 in all, ")


Spoil = Callable[[dict[str, Any]], None]


def leaf(name: str, *fields: str) -> Spoil:
    """Change the last digit of a field of a result."""

    def spoil(document: dict[str, Any]) -> None:
        place = document["results"]["nested"][name]
        *way, last = fields
        for key in way:
            place = place[key]
        text = str(place[last])
        turned = text[:-1] + str((int(text[-1]) + 1) % 10)
        place[last] = Lexeme(turned) if "." in text else int(turned)

    return spoil


def cell(column: str, by: int) -> Spoil:
    """Change one whole number of the state."""

    def spoil(document: dict[str, Any]) -> None:
        document["state"]["rows"][17][COLUMNS.index(column)] += by

    return spoil


def config(field: str, value: Any) -> Spoil:
    """Change a setting."""
    return lambda document: document["config"].update({field: value})


def seed(document: dict[str, Any]) -> None:
    """Change the root seed."""
    document["seeds"]["root"] += 1


def same(document: dict[str, Any]) -> None:
    """Make every cluster the same, so that nothing can be made again."""
    document["state"]["rows"] = [[0, 1, 5, 5, 10, 5, 5] for _ in range(30)]


SPOILED: dict[str, tuple[Spoil, set[str]]] = {
    "a hit more": (cell("hits", 1), {"share", "second", "gain", "total"}),
    "an observation fewer": (cell("n", -1), {"share", "second", "gain", "noise"}),
    "a seed's hit": (cell("s_1", 1), {"noise"}),
    "another family": (cell("family", -1), {"second"}),
    "last digit of a value": (leaf("share", "value"), {"share"}),
    "last digit of a low end": (leaf("gain", "low"), {"gain"}),
    "last digit of a high end": (leaf("second", "high"), {"second"}),
    "last digit of a bootstrap-t end": (leaf("share", "bootstrap_t", "low"), {"share"}),
    "last digit of a robust end": (leaf("gain", "cluster_t", "high"), {"gain"}),
    "number of clusters": (leaf("second", "clusters"), {"second"}),
    "number of observations": (leaf("share", "observations"), {"share"}),
    "last digit of a total": (leaf("total", "value"), {"total"}),
    "last digit of a spread": (leaf("noise", "value"), {"noise"}),
    "level of an interval": (leaf("share", "level"), {"share"}),
    "resamples of an interval": (leaf("share", "resamples"), {"share"}),
    "root seed": (seed, {"share", "second", "gain", "noise"}),
    "resamples of the run": (config("resamples", 400), {"share", "second", "gain"}),
    "level of the run": (config("level", Lexeme("0.9")), {"share", "second", "gain"}),
    "state from which nothing follows": (same, set(STATISTICS)),
}


@pytest.mark.parametrize("name", SPOILED)
def test_any_change_of_state_or_digits_is_seen_and_exits_one(
    clone: Clone, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    spoil, expected = SPOILED[name]
    document = store.loads(clone.payload.read_bytes(), "x")
    spoil(document)
    clone.payload.write_text(store.canonical(document), encoding="utf-8")
    monkeypatch.setattr(check, "ROOT", clone.root)
    assert check.main(["F-01"]) == 1
    printed = capsys.readouterr().out
    differing = {
        line.split()[2].removesuffix(":") for line in printed.splitlines() if line.startswith("DIFFER")
    }
    assert differing == {f"nested.{name}" for name in expected}
    assert f"{5 - len(expected)} of 5 recomputed numbers equal" in printed


def test_a_changed_digit_exits_one_from_the_command_line_too(clone: Clone) -> None:
    text = clone.payload.read_text()
    clone.payload.write_text(text.replace('"observations": ', '"observations": 1', 1))
    done = clone.check("trial/one")
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.count("DIFFER") == 1


UNKNOWN = {
    "trial/two": "is no payload",
    "payloads/trial/two.json": "is no payload",
    "F-09": "is no finding",
    "nonsense": "is no payload",
    "": "is no payload",
}


@pytest.mark.parametrize("name", UNKNOWN)
def test_an_unknown_name_exits_two_and_says_what_there_is(
    clone: Clone, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    monkeypatch.setattr(check, "ROOT", clone.root)
    assert check.main([name]) == 2
    printed = capsys.readouterr()
    assert UNKNOWN[name] in printed.err and printed.out == ""
    assert "trial/one" in printed.err or "findings/" in printed.err


FRONT_MATTER = {
    "quoted": ('payloads:\n  a: "payloads/trial/one.json"\n', 0),
    "on one line": ("payloads: {a: payloads/trial/one.json}\n", 0),
    "with a comment": ("payloads:\n  a: payloads/trial/one.json  # ours\n", 0),
    "a title with dashes": ("title: a --- b\npayloads:\n  a: payloads/trial/one.json\n", 0),
    "no payload": ("title: a\n", 2),
    "a payload that is not there": ("payloads:\n  a: payloads/trial/two.json\n", 2),
}


@pytest.mark.parametrize("name", FRONT_MATTER)
def test_the_payloads_of_a_finding_are_found_however_they_are_written(
    clone: Clone, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    front, expected = FRONT_MATTER[name]
    (clone.root / "findings" / "F-01.md").write_text(f"---\nid: F-01\n{front}---\nText\n")
    monkeypatch.setattr(check, "ROOT", clone.root)
    assert check.main(["F-01"]) == expected
    assert ("5 of 5" in capsys.readouterr().out) == (expected == 0)


BROKEN: dict[str, Callable[[str], str]] = {
    "cut off": lambda text: text[: len(text) // 2],
    "empty": lambda text: "",
    "no results": lambda text: text.replace('"results"', '"outcomes"'),
    "a list": lambda text: "[]",
    "no resamples": lambda text: text.replace('"resamples": 500,\n    "level"', '"level"', 1),
    "ragged state": lambda text: text.replace("      [0, 0, ", "      [0, ", 1),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_file_that_is_no_payload_is_refused_without_a_traceback(
    clone: Clone, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    text = clone.payload.read_text()
    clone.payload.write_text(BROKEN[name](text))
    assert clone.payload.read_text() != text
    monkeypatch.setattr(check, "ROOT", clone.root)
    assert check.main(["trial/one"]) == 1
    assert "engine check: " in capsys.readouterr().err


def test_a_payload_outside_the_payloads_folder_can_be_checked(
    clone: Clone, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    aside = clone.root / "scratch" / "one.json"
    aside.parent.mkdir()
    shutil.copy(clone.payload, aside)
    monkeypatch.setattr(check, "ROOT", clone.root)
    assert check.main([str(aside)]) == 0
    assert "equal  trial/one nested.share" in capsys.readouterr().out


LOADED = """
import json, runpy, sys
sys.argv = ["engine.check", "trial/one"]
try:
    runpy.run_module("engine.check", run_name="__main__")
except SystemExit as stopped:
    assert not stopped.code
from_files = [name for name, module in sys.modules.items() if getattr(module, "__file__", None)]
print(json.dumps(sorted(from_files)))
"""


def test_a_check_loads_numpy_and_its_own_few_modules_and_nothing_else(clone: Clone) -> None:
    done = subprocess.run(
        [sys.executable, "-c", LOADED], cwd=clone.root, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    modules = json.loads(done.stdout.splitlines()[-1])
    roots = {module.split(".")[0] for module in modules}
    startup = subprocess.run(
        [sys.executable, "-c", "import json, sys; print(json.dumps(sorted(sys.modules)))"],
        capture_output=True,
        text=True,
        check=True,
    )
    before = {module.split(".")[0] for module in json.loads(startup.stdout)}
    assert roots - before - sys.stdlib_module_names == {"numpy", "engine"}
    assert {module for module in modules if module.startswith("engine")} == {
        "engine",
        "engine.contract",
        "engine.contract.errors",
        "engine.contract.seeds",
        "engine.stats",
        "engine.stats.bootstrap",
        "engine.stats.statistic",
        "engine.stats.student",
    }
