"""The `engine` command: quick where it only tells, clear where it refuses."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from engine.contract.payload import json_schema
from engine.decode import registry
from engine.experiments.names import EXPERIMENTS, FILE, published

ROOT = Path(__file__).resolve().parents[2]
HEAVY = {"torch", "transformers", "numpy", "scipy", "pydantic", "tqdm", "safetensors"}
LOADED = """
import json, sys
from engine.cli import main
sys.argv = ["engine", *sys.argv[1:]]
try:
    main()
finally:
    print(json.dumps(sorted({name.split(".")[0] for name in sys.modules})))
"""


def engine(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """The command in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "engine", *arguments],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=120,
    )


QUICK = [
    ["--help"],
    ["list"],
    ["list", "--json"],
    ["experiments"],
    ["fetch", "--help"],
    ["run", "--help"],
    ["check", "--help"],
    ["compare", "--help"],
    ["schema", "--help"],
]


@pytest.mark.parametrize("arguments", QUICK, ids=" ".join)
def test_what_only_tells_loads_nothing_heavy(arguments: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-c", LOADED, *arguments], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    *printed, loaded = done.stdout.splitlines()
    assert set(json.loads(loaded)) & HEAVY == set()
    assert len(printed) > 3


def test_the_list_names_every_model_and_experiment_and_what_is_present(tmp_path: Path) -> None:
    shown = json.loads(engine("list", "--json", XDG_CACHE_HOME=str(tmp_path)).stdout)
    assert [model["name"] for model in shown["models"]] == list(registry.entries())
    assert not any(model["present"] for model in shown["models"])
    assert [row["name"] for row in shown["experiments"]] == [row.name for row in EXPERIMENTS]
    mark = tmp_path / "specdec-sidechannels" / "models" / "smollm2" / "model.json"
    mark.parent.mkdir(parents=True)
    mark.write_text("{}")
    printed = engine("list", XDG_CACHE_HOME=str(tmp_path)).stdout
    lines = {line.split()[0]: line for line in printed.splitlines() if line.startswith("  ")}
    assert "present" in lines["smollm2"]
    assert "absent (engine fetch smollm2-draft)" in lines["smollm2-draft"]
    assert "How many draft tokens" in lines["acceptance"]


def test_the_schema_printed_is_the_schema_of_the_models() -> None:
    assert json.loads(engine("schema").stdout) == json_schema()


def test_the_list_says_which_experiments_are_only_planned() -> None:
    shown = {row["name"]: row["state"] for row in json.loads(engine("list", "--json").stdout)["experiments"]}
    assert shown == {row.name: "built" if row.place else "planned" for row in EXPERIMENTS}
    assert {"built", "planned"} == set(shown.values())
    assert "spill-vllm               planned; Does the packet stream" in engine("list").stdout


def test_the_names_that_the_record_is_made_again_from_are_those_with_payloads() -> None:
    every = {row["name"]: row for row in json.loads(engine("list", "--json").stdout)["experiments"]}
    built = engine("list", "--names", "built").stdout.split()
    committed = engine("list", "--names", "committed").stdout.split()
    assert built == [n for n, row in every.items() if row["state"] == "built" and not row["card"]]
    card = engine("list", "--names", "card").stdout.split()
    assert card == [name for name, row in every.items() if row["card"]]
    assert "sideband-llama" in card
    assert committed == [name for name in built if all(every[name]["payloads"].values())]
    assert "coverage" in committed


def test_the_published_list_of_experiments_is_the_one_the_engine_emits(tmp_path: Path) -> None:
    committed = (ROOT / "payloads" / FILE).read_text(encoding="utf-8")
    remedy = "run: engine experiments --out payloads, and renew its line of payloads/SHA256SUMS"
    assert committed == published(), remedy
    assert engine("experiments", "--out", str(tmp_path / "out")).stdout == published()
    assert (tmp_path / "out" / FILE).read_text(encoding="utf-8") == published()


def test_no_experiment_is_listed_twice_and_none_shares_a_payload() -> None:
    names = [row.name for row in EXPERIMENTS]
    payloads = [name for row in EXPERIMENTS for name in row.payloads]
    assert len(set(names)) == len(names) and len(set(payloads)) == len(payloads)
    assert all(bool(row.payloads) == row.built for row in EXPERIMENTS)


def test_every_experiment_in_the_table_can_be_loaded() -> None:
    from engine.experiments.table import load

    for row in (row for row in EXPERIMENTS if row.built):
        experiment = load(row)
        assert callable(experiment.tasks) and callable(experiment.payloads)


REFUSED: dict[str, tuple[list[str], int, str]] = {
    "unknown command": (["nonsense"], 2, "No such command 'nonsense'"),
    "unknown option": (["list", "--nonsense"], 2, "No such option"),
    "unknown experiment": (["run", "nonsense"], 2, "engine: nonsense: is no experiment. Known: acceptance,"),
    "planned experiment": (["run", "spill-vllm"], 1, "engine: spill-vllm: is planned; there is no code"),
    "planned record": (["run", "spill"], 1, "engine: spill: is a record of planned experiments ("),
    "unknown model": (["fetch", "nonsense"], 2, "engine: nonsense: is no model of this engine."),
    "model that was not fetched": (["run", "distillation"], 1, "has not been fetched. Run: engine fetch"),
    "unknown payload": (["check", "a/nonsense"], 2, "engine check: a/nonsense: is no payload."),
    "unknown finding": (["check", "F-987"], 2, "engine check: F-987: is no finding."),
    "folder that is not there": (["compare", "nonsense"], 2, "'nonsense' does not exist"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_refusal_says_what_is_wrong_without_a_traceback(tmp_path: Path, name: str) -> None:
    arguments, status, complaint = REFUSED[name]
    if arguments[0] == "run":
        arguments = [*arguments, "--out", str(tmp_path / "out")]
    done = engine(*arguments, XDG_CACHE_HOME=str(tmp_path))
    assert done.returncode == status, done.stderr
    assert complaint in done.stderr
    assert "Traceback" not in done.stderr and done.stdout == ""


def test_an_output_folder_that_cannot_be_written_is_misuse(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    done = engine("run", "acceptance", "--out", str(tmp_path / "file" / "out"))
    assert done.returncode == 2
    assert "cannot be written: Not a directory. Choose another with --out." in done.stderr


INTERRUPTED = """
import os, signal, sys
import engine.experiments.table, engine.run
from engine.cli import main

signal.signal(signal.SIGINT, signal.default_int_handler)  # a background shell ignores it

def stopped(*_):
    os.kill(os.getpid(), signal.SIGINT)

engine.experiments.table.load = lambda row: row
engine.run.run = stopped
sys.argv = ["engine", "run", "acceptance", "--out", sys.argv[1]]
main()
"""


def test_a_run_stopped_from_the_keyboard_ends_without_a_traceback(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED, str(tmp_path)], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
