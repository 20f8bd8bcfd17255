"""`engine check` makes every number again from committed state, with numpy alone, and sees any change."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine import address, check
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


NEEDED = (
    "__init__.py",
    "address.py",
    "check.py",
    "contract/__init__.py",
    "contract/errors.py",
    "contract/seeds.py",
)


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
    assert (
        "-      trial/one plain: 1 (not stated how it follows from whole numbers; re-run its command)"
        in lines
    )
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


def test_settings_that_state_no_resamples_leave_it_to_an_interval(
    clone: Clone, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    document = store.loads(clone.payload.read_bytes(), "x")
    document["config"] = {}
    clone.payload.write_text(store.canonical(document), encoding="utf-8")
    monkeypatch.setattr(check, "ROOT", clone.root)
    assert check.main(["trial/one"]) == 0
    assert "5 of 5" in capsys.readouterr().out


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
        "engine.address",
        "engine.contract",
        "engine.contract.errors",
        "engine.contract.seeds",
        "engine.stats",
        "engine.stats.bootstrap",
        "engine.stats.seeds",
        "engine.stats.share",
        "engine.stats.statistic",
        "engine.stats.student",
    }


FINDING = """---
id: F-02
title: "{{ a.results.nested.total | plain }} hits"
holds_when: a.results.nested.share.low > a.results.plain and b.results.plain > 0
payloads:
  a: payloads/trial/one.json
  b: payloads/trial/two.json
---
An a.results.nested.noise in prose, a file b.json, i.e. nothing.
{% statement "gain" %}It gains {{ a.results.nested["gain"] | ci(2) }} over
{{ a.config.resamples | group }} resamples at {{ a.config.level }}, {{ a.regime.target }}.{% endstatement %}
{%- statement 'second-part' -%}{% claim a.results.nested.second.low > 0 %}More{% endclaim %}
{%- endstatement -%}
"""


@pytest.fixture
def record(clone: Clone, monkeypatch: pytest.MonkeyPatch) -> Clone:
    """The clone with a finding that cites numbers, a kill criterion, and a second payload."""
    two = clone.payload.read_text().replace('"trial/one"', '"trial/two"')
    clone.payload.with_name("two.json").write_text(two)
    (clone.root / "findings" / "F-02.md").write_text(FINDING)
    kill = (
        "---\nid: K-1\nfires_when: a.results.nested.total > 0\npayloads: {a: payloads/trial/one.json}\n---\n"
    )
    (clone.root / "findings" / "K-1.md").write_text(kill)
    monkeypatch.setattr(check, "ROOT", clone.root)
    monkeypatch.chdir(clone.root)
    return clone


def line_of(clone: Clone, *keys: str) -> int:
    """The line of the payload where a field stands, found by reading the text downwards."""
    lines = clone.payload.read_text().splitlines()
    at = -1
    for key in keys:
        at = next(i for i in range(at + 1, len(lines)) if lines[i].lstrip().startswith(f'"{key}": '))
    return at + 1


def test_the_whole_record_is_recomputed_where_nothing_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert check.main([]) == 0
    summary = capsys.readouterr().out.splitlines()[-1].split()
    assert summary[0] == summary[2] and int(summary[0]) > 1000


def test_counts_beside_numbers_that_no_statistic_makes_of_them_are_no_fault(tmp_path: Path) -> None:
    number = {"value": 2.5, "unit": "chi-square"}
    document = {"name": "trial/test", "seeds": {"root": 1}, "config": {}, "results": {"chance": number}}
    document["state"] = {"columns": ["cluster", "drawn"], "rows": [[0, 3], [1, 2]]}
    path = tmp_path / "test.json"
    path.write_text(json.dumps(document))
    (line,) = check.check(address.Wanted(path))
    assert line.recomputed is None and "not stated how it follows" in str(line)


FIVE = ["nested.total", "nested.share", "nested.gain", "config.resamples", "config.level", "nested.second"]
REFERENCES: dict[str, list[str]] = {
    "F-02": [*FIVE, "plain"],
    "findings/F-02.md": [*FIVE, "plain"],
    "site/findings/F-02.html": [*FIVE, "plain"],
    "F-02#gain": ["nested.gain", "config.resamples", "config.level"],
    "F-02#second-part": ["nested.second"],
    "F-02#F-02-gain": ["nested.gain", "config.resamples", "config.level"],
    "https://example.org/some/where/findings/F-02.html#F-02-second-part": ["nested.second"],
    "K-1": ["nested.total"],
    "http://127.0.0.1:8000/kill-criteria.html#K-1": ["nested.total"],
    "payloads/trial/one.json#/results/nested/share": ["nested.share"],
    "trial/one#/results/nested/share/value": ["nested.share"],
    "trial/one#/results/nested/share/low": ["nested.share.low"],
    "trial/one#/results/nested/share/bootstrap_t/high": ["nested.share.bootstrap_t.high"],
    "trial/one#/results/nested/share/unit": ["nested.share.unit"],
    "trial/one#/results/nested/share/statistic/numerator/0": ["nested.share.statistic.numerator.0"],
    "trial/one#/config/resamples": ["config.resamples"],
    "https://example.org/x/payloads/trial/one.html#L{share low}": ["nested.share.low"],
    "file:///tmp/a%20b/site/payloads/trial/one.html#L{share value}": ["nested.share"],
    "https://example.org/x/index.html#n-one.nested.share": ["nested.share"],
    "findings/F-02.html#n-one.nested.share.low-3": ["nested.share.low"],
    "findings/F-02.html#n-derived-gain-resamples": ["nested.gain", "config.resamples"],
    "payloads/trial/one.json:{gain clusters}": ["nested.gain.clusters"],
    "payloads/trial/one.json#L{target}": ["regime.target"],
    "payloads/trial/one.json#L{rows}": ["state.rows.0"],
}


def filled(clone: Clone, reference: str) -> str:
    """A reference with the number of a line in it."""
    start, brace, rest = reference.partition("{")
    if not brace:
        return reference
    keys, _, end = rest.partition("}")
    return f"{start}{line_of(clone, *keys.split()) + (keys == 'rows')}{end}"


@pytest.mark.parametrize("reference", REFERENCES)
def test_a_reference_names_the_numbers_it_points_at(
    record: Clone, capsys: pytest.CaptureFixture[str], reference: str
) -> None:
    assert check.main([filled(record, reference)]) == 0
    *lines, last = capsys.readouterr().out.splitlines()
    assert {line.split()[2].removesuffix(":") for line in lines} == set(REFERENCES[reference])
    assert re.fullmatch(r"\d of \d recomputed numbers equal, \d in all, \d+\.\d\d s", last)


def test_a_line_shows_what_is_committed_and_what_is_recomputed(
    record: Clone, capsys: pytest.CaptureFixture[str]
) -> None:
    leaf("share", "low")(document := store.loads(record.payload.read_bytes(), "x"))
    made = store.loads(record.payload.read_bytes(), "x")["results"]["nested"]["share"]["low"]
    changed = document["results"]["nested"]["share"]["low"]
    record.payload.write_text(store.canonical(document))
    assert check.main(["trial/one#/results/nested/share/low"]) == 1
    out = capsys.readouterr().out
    assert f"DIFFER trial/one nested.share.low: committed {changed}, recomputed {made}\n" in out
    assert check.main(["trial/one#/results/nested/share/high"]) == 0
    assert check.main(["F-02"]) == 1


def test_a_difference_beside_the_interval_is_shown_too(
    record: Clone, capsys: pytest.CaptureFixture[str]
) -> None:
    leaf("share", "observations")(document := store.loads(record.payload.read_bytes(), "x"))
    record.payload.write_text(store.canonical(document))
    assert check.main(["F-02"]) == 1
    assert re.search(
        r"DIFFER trial/one nested\.share: .*; observations \d+ against \d+\n", capsys.readouterr().out
    )


MISUSED = {
    "F-02#nothing": "is no statement of it. Known: F-02#gain, F-02#second-part.",
    "F-01#tokens": "Known: none.",
    "K-9": "is no kill criterion",
    "trial/one#/results/nested": "is no number. It holds share, second",
    "trial/one#/results/nested/shares": "is no field of trial/one: 'shares'. There: share, second",
    "trial/one#/results/nested/share/low/er": "is no field of",
    "trial/one#/state/rows/99/0": "is no field of",
    "index.html#n-one.nested.none": "is the address of no number",
    "trial/one#L1": "line 1: holds no value",
    "trial/one#L99999": "holds no value",
    "trial/one#nested": "is no place in a payload",
    "https://example.org/": "no address of this record",
    "https://example.org/records/page.html#L3": "no address of this record",
    "https://example.org/payloads/trial/other.html#L3": "is no payload. Known: trial/one, trial/two.",
    "https://example.org/deep/trial/one.html#L3": "no address of this record",
    "https://example.org/F-02.html": "no address of this record",
    "https://[bad/payloads/trial/one.html": "is no address",
    "../one.json": "no address of this record",
    "\x00": "no address of this record",
}


@pytest.mark.parametrize("reference", MISUSED)
def test_what_cannot_be_meant_is_misuse_and_says_what_could(
    record: Clone, capsys: pytest.CaptureFixture[str], reference: str
) -> None:
    assert check.main([reference]) == 2
    printed = capsys.readouterr()
    assert MISUSED[reference] in printed.err and printed.out == ""
    assert printed.err.count("\n") == 1


def _nested(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4)


@given(document=st.recursive(st.none() | st.booleans() | st.integers() | st.text(), _nested, max_leaves=12))
def test_the_line_of_any_value_is_the_line_where_its_text_stands(document: Any) -> None:
    for text in (json.dumps(document, indent=2), json.dumps(document, ensure_ascii=False)):
        for line, pointer in address.scalars(text):
            value = document
            for key in pointer:
                value = value[int(key)] if isinstance(value, list) else value[key]
            shown = json.dumps(value, ensure_ascii=text.isascii())
            assert shown in text.split("\n")[line - 1]
