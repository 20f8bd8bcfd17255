"""A payload is made again by the record's own program only, apart from the record, and compared."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import sample_record
from click.testing import CliRunner, Result

from generator.cli import main
from generator.trace import program

LOOKUP = "payloads/acceptance/lookup.json"
VALUE = f"{LOOKUP}#/results/tokens_per_check/value"
SCRIPT = "#!{python}\nimport sys\nfrom imitated_engine import main\nsys.exit(main())\n"
ENGINE = """
import json, pathlib, sys, time

HERE = pathlib.Path(__file__).parent

def main():
    given = json.loads((HERE / "given.json").read_text())
    if sys.argv[1:] == ["list", "--json"]:
        print(given["list"])
        return 0
    (HERE / "called.json").write_text(json.dumps([sys.argv[1:], str(pathlib.Path.cwd())]))
    time.sleep(given["seconds"])
    if given["text"]:
        made = pathlib.Path(sys.argv[sys.argv.index("--out") + 1]) / "acceptance/lookup.json"
        made.parent.mkdir(parents=True)
        made.write_text(given["text"])
    return given["code"]
"""
PROJECT = '[project]\nname = "sample"\nversion = "1"\n[project.scripts]\nengine = "imitated_engine:main"\n'
LIST = json.dumps({"experiments": [{"name": "acceptance", "minutes": 25}]})


@pytest.fixture
def tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder at the head of PATH with an imitated engine in it."""
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "engine").write_text(SCRIPT.format(python=sys.executable))
    (folder / "engine").chmod(0o755)
    (folder / "imitated_engine.py").write_text(ENGINE)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    return folder


def give(
    tools: Path, text: str = sample_record.PAYLOAD, code: int = 0, listed: str = LIST, seconds: float = 0
):
    """What the imitated engine is to do."""
    given = {"text": text, "code": code, "list": listed, "seconds": seconds}
    (tools / "given.json").write_text(json.dumps(given))


def reproduce(root: Path, reference: str) -> Result:
    return CliRunner().invoke(main, ["reproduce", reference, "--root", str(root)], catch_exceptions=False)


@pytest.fixture
def record(tmp_path: Path) -> Path:
    return sample_record.write(tmp_path / "record", {"pyproject.toml": PROJECT})


def made(*changes: tuple[str, str]) -> str:
    """The payload as another run might make it."""
    text = sample_record.PAYLOAD
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    return text


OTHER = ('"torch": "2.13.0"', '"torch": "2.14.0"')
SAME_RULE = "(same weights, versions, inputs and configuration: equal is wanted)"
OTHER_RULE = "(different versions: within the committed interval is wanted)"

RUNS = {
    "the same bytes": (made(), 0, f"{VALUE}: 2.5978 → 2.5978: equal", f"18 equal {SAME_RULE}"),
    "the same values written otherwise": (
        made(("2.5978", "2.59780")),
        0,
        f"{VALUE}: 2.5978 → 2.59780: equal",
        f"18 equal {SAME_RULE}",
    ),
    "another value": (
        made(("2.5978", "2.5979")),
        1,
        f"{VALUE}: 2.5978 → 2.5979: differs",
        f"17 equal, 1 differs {SAME_RULE}",
    ),
    "another value by other versions": (
        made(("2.5978", "2.7"), OTHER),
        0,
        f"{VALUE}: 2.5978 → 2.7: within the interval",
        f"17 equal, 1 within the interval {OTHER_RULE}",
    ),
    "a value outside by other versions": (
        made(("2.5978", "2.9"), OTHER),
        1,
        f"{VALUE}: 2.5978 → 2.9: outside the interval",
        f"17 equal, 1 outside the interval {OTHER_RULE}",
    ),
    "another bound by other versions": (
        made(("2.4102", "2.4103"), OTHER),
        0,
        f"{LOOKUP}#/results/tokens_per_check/low: 2.4102 → 2.4103: within the interval",
        f"17 equal, 1 within the interval {OTHER_RULE}",
    ),
    "a quantity without interval by other versions": (
        made(("14456199684", "14456199685"), OTHER),
        1,
        f"{LOOKUP}#/results/drawn/value: 14456199684 → 14456199685: differs",
        f"17 equal, 1 differs {OTHER_RULE}",
    ),
    "a number that is missing": (
        made((',\n    "accepted": {"value": 0.125, "unit": "ratio"}', "")),
        1,
        f"{LOOKUP}#/results/accepted/value: 0.125 → absent: absent",
        f"17 equal, 1 absent {SAME_RULE}",
    ),
    "a number that was not there": (
        made(('"accepted": {', '"more": {"value": 7, "unit": "ratio"},\n    "accepted": {')),
        1,
        f"{LOOKUP}#/results/more/value: absent → 7: absent",
        f"18 equal, 1 absent {SAME_RULE}",
    ),
    "another configuration": (
        made(('"prompts": 84', '"prompts": 85')),
        1,
        f"{LOOKUP}#/config/prompts: 84 → 85: differs",
        "18 equal (different configuration: within the committed interval is wanted)",
    ),
}


@pytest.mark.parametrize("name", RUNS)
def test_what_is_made_again_is_judged_number_by_number(record: Path, tools: Path, name: str) -> None:
    text, code, line, counts = RUNS[name]
    give(tools, text)
    result = reproduce(record, "acceptance/lookup")
    assert line in result.stdout.splitlines()
    last = result.stdout.splitlines()[-1]
    assert last.startswith("reproduced" if code == 0 else "NOT reproduced")
    assert last.endswith(counts)
    assert result.exit_code == code


def test_a_number_of_the_machine_is_left_out(record: Path, tools: Path) -> None:
    machine = ('"unit": "seconds"', '"unit": "seconds", "machine": true')
    sample_record.write(record, {LOOKUP: made(machine), "payloads/SHA256SUMS": ""})
    give(tools, made(machine, ("0.00000150", "0.00000170")))
    result = reproduce(record, "F-01")
    assert f"{LOOKUP}#/results/seconds/value: 0.00000150 → 0.00000170: left out" in result.stdout
    assert result.exit_code == 0


def test_a_statement_shows_its_own_numbers_and_still_compares_all(record: Path, tools: Path) -> None:
    give(tools, made(("14456199684", "14456199685")))
    lines = reproduce(record, "F-01#gain").stdout.splitlines()
    shown = [line.partition(":")[0].rpartition("/results/")[2] for line in lines[:-1]]
    assert shown == ["tokens_per_check/low", "vanilla/value", "tokens_per_check/value", "drawn/value"]


def test_the_command_runs_once_apart_from_the_record_and_is_announced(record: Path, tools: Path) -> None:
    give(tools)
    before = {file: file.read_bytes() for file in record.rglob("*") if file.is_file()}
    result = reproduce(record, "F-01")
    arguments, folder = json.loads((tools / "called.json").read_text())
    assert arguments == ["run", "acceptance", "--draft", "lookup", "--out", f"{folder}/payloads"]
    assert not Path(folder).exists()
    assert {file: file.read_bytes() for file in record.rglob("*") if file.is_file()} == before
    assert result.stderr.startswith(
        "Running engine run acceptance --draft lookup, about 25 min by its own estimate.\n"
    )


@pytest.mark.parametrize("listed", ["", "[]", "{}", '{"experiments": [{"name": "other", "minutes": 3}]}'])
def test_a_program_without_an_estimate_is_run_without_one(record: Path, tools: Path, listed: str) -> None:
    give(tools, listed=listed)
    result = reproduce(record, "F-01")
    assert result.stderr.startswith("Running engine run acceptance --draft lookup.\n")
    assert result.exit_code == 0


def test_a_command_that_fails_makes_nothing_or_makes_no_payload_says_so(record: Path, tools: Path) -> None:
    for given, expected in (
        ({"code": 3}, "ended with exit code 3"),
        ({"text": ""}, f"ended well and did not make {LOOKUP}"),
        ({"text": "{"}, f"{LOOKUP}:1:2: bad-payload"),
    ):
        give(tools, **given)
        result = reproduce(record, "F-01")
        assert result.exit_code == 1
        assert expected in result.output


COMMANDS = {
    "a program that is not declared": ('["rm", "-rf", "x"]', "", "rm is no program of this record"),
    "a declared name of another program": (
        '["true"]',
        'true = "imitated_engine:main"\n',
        "is not the program that pyproject.toml declares as true",
    ),
    "a path": ('["./engine", "run"]', "", "./engine is no program of this record"),
    "a program that is not installed": (
        '["absent-engine"]',
        'absent-engine = "imitated_engine:main"\n',
        "absent-engine is not installed here",
    ),
    "a line for a shell": ('"engine; touch x"', "", "engine; is no program of this record"),
    "no words": ("[]", "", "Nothing here was made by a command."),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_nothing_but_the_programs_of_the_record_is_run(record: Path, tools: Path, name: str) -> None:
    command, declared, expected = COMMANDS[name]
    text = made(('["engine", "run", "acceptance", "--draft", "lookup"]', command))
    sample_record.write(
        record, {LOOKUP: text, "payloads/SHA256SUMS": "", "pyproject.toml": PROJECT + declared}
    )
    give(tools)
    result = reproduce(record, "F-01")
    assert result.exit_code == 1
    assert expected in result.stderr
    assert not (tools / "called.json").exists()


def test_a_record_that_declares_no_program_runs_none(record: Path, tools: Path) -> None:
    for project in (None, "[", "[project]\n", "project = 7\n", "[project]\nscripts = 7\n"):
        (record / "pyproject.toml").unlink(missing_ok=True)
        sample_record.write(record, {"pyproject.toml": project})
        assert "pyproject.toml declares none under" in reproduce(record, "F-01").stderr


def test_a_command_that_is_a_string_is_read_as_words(record: Path, tools: Path) -> None:
    text = made(('["engine", "run", "acceptance", "--draft", "lookup"]', "\"engine run 'acceptance'\""))
    sample_record.write(record, {LOOKUP: text, "payloads/SHA256SUMS": ""})
    give(tools, text)
    assert reproduce(record, "F-01").exit_code == 0
    assert json.loads((tools / "called.json").read_text())[0][:2] == ["run", "acceptance"]


def test_an_unknown_reference_is_misuse(record: Path) -> None:
    assert reproduce(record, "F-99").exit_code == 2


INTERRUPTIBLE = """
import signal, sys
from generator.cli import main
signal.signal(signal.SIGINT, signal.default_int_handler)  # a background shell ignores it
main(sys.argv[1:])
"""


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_what_ends_it_ends_the_command_too_and_leaves_nothing(
    record: Path, tools: Path, sent: signal.Signals
) -> None:
    give(tools, seconds=60)
    command = [sys.executable, "-c", INTERRUPTIBLE, "reproduce", "F-01", "--root", str(record)]
    with subprocess.Popen(command, start_new_session=True, stderr=subprocess.PIPE, text=True) as running:
        deadline = time.monotonic() + 60
        while not (tools / "called.json").exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        time.sleep(0.2)
        os.killpg(running.pid, sent)
        said = running.communicate(timeout=30)[1]
        assert running.returncode == 1
    assert "Interrupted: engine run acceptance --draft lookup was ended before it was through" in said
    assert not Path(json.loads((tools / "called.json").read_text())[1]).exists()


def test_a_command_that_is_killed_is_said_to_be(record: Path, tools: Path) -> None:
    give(tools, code=1)
    source = (tools / "imitated_engine.py").read_text()
    killed = source.replace('return given["code"]', "import os; os.kill(os.getpid(), 9)")
    (tools / "imitated_engine.py").write_text(killed)
    result = reproduce(record, "F-01")
    assert result.exit_code == 1
    assert "was killed by SIGKILL" in result.stderr and "Nothing was compared" in result.stderr


def test_a_program_that_does_not_end_when_interrupted_is_ended(
    record: Path, tools: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(program, "GRACE", 0.2)
    stubborn = tmp_path / "stubborn"
    ignoring = "import signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\ntime.sleep(60)\n"
    stubborn.write_text(f"#!{sys.executable}\n{ignoring}")
    stubborn.chmod(0o755)
    process = subprocess.Popen([stubborn])
    program._end(process)
    assert process.returncode in (-signal.SIGTERM, -signal.SIGKILL)


def test_the_engine_of_this_record_is_found_and_says_how_long_it_takes() -> None:
    root = Path(__file__).parents[3]
    pytest.importorskip("pydantic", reason="the engine is not installed")
    found = program.find(root, "engine")
    minutes = program.minutes(found, ["engine", "run", "acceptance"])
    assert minutes is not None and minutes > 0
