"""What an evaluation has left becomes a payload digit for digit, or is refused at its place."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
import sample_record
from click.testing import CliRunner, Result

from generator.cli import main
from generator.importing.names import clashes, identifier
from generator.record import payload

FILES = Path(__file__).parent / "files"
"""Written by hand in public shapes; their README says so."""


@pytest.fixture
def record(tmp_path: Path) -> Path:
    return sample_record.write(tmp_path)


def call(record: Path, name: str, *options: str, content: str | None = None) -> Result:
    """Import a file of the given name into a record."""
    file = record / name
    file.write_text((FILES / name).read_text() if content is None else content)
    return CliRunner().invoke(
        main, ["import", str(file), "--root", str(record), *options], catch_exceptions=False
    )


SHAPES: dict[str, tuple[list[str], dict[str, str]]] = {
    "lm_eval.json": (
        ["--unit", "*=share", "--unit", "n_samples.hellaswag.original=prompts"],
        {
            "/results/hellaswag/acc_none/value": "0.4280",
            "/results/arc_easy/acc_stderr_none/value": "1e-02",
            "/results/n_samples/hellaswag/original/unit": '"prompts"',
            "/results/n_samples/arc_easy/original/unit": '"share"',
            "/regime/model": '"hf"',
            "/config/names/acc_none": '"acc,none"',
        },
    ),
    "inspect.json": (
        ["--unit", "accuracy=share", "--unit", "stderr=share", "--unit", "*=samples"],
        {
            "/results/match/accuracy/value": "0.7350",
            "/results/completed_samples/value": "198",
            "/regime/task": '"made_up_arithmetic"',
            "/provenance/versions/inspect_ai": '"0.3.100"',
        },
    ),
    "table.csv": (
        ["--key", "model", "--key", "task", "--unit", "accuracy=share", "--unit", "latency_ms=ms"],
        {
            "/results/small/words/accuracy/value": "0.720",
            "/results/large/sums/latency_ms/value": "1e2",
            "/absent/large.words.accuracy": '"the file says \\"nan\\""',
        },
    ),
    "metrics.jsonl": (
        ["--unit", "*=nats"],
        {
            "/results/train_loss/value": "1.80",
            "/results/lr/value": "0.00",
            "/results/eval/acc/value": "0.50",
            "/results/step/value": "300",
        },
    ),
}


@pytest.mark.parametrize("name", SHAPES)
def test_each_shape_becomes_a_payload_that_a_record_takes_with_every_digit_as_it_was(
    record: Path, name: str
) -> None:
    options, expected = SHAPES[name]
    made = call(record, name, *options, "--out", "payloads/imported/x.json")
    assert made.exit_code == 0, made.output
    read = payload.read(record, "payloads/imported/x.json")
    assert {pointer: read.at(pointer).lexeme for pointer in expected} == expected


@pytest.mark.parametrize("name", SHAPES)
def test_each_import_made_again_from_its_own_command_gives_the_same_bytes(record: Path, name: str) -> None:
    options, _ = SHAPES[name]
    assert call(record, name, *options, "--out", "payloads/imported/x.json").exit_code == 0
    file = record / "payloads/imported/x.json"
    first = file.read_bytes()
    command = json.loads(first)["provenance"]["command"]
    assert command[:2] == ["findings", "import"]
    file.unlink()
    again = CliRunner().invoke(
        main, ["import", str(record / command[2]), "--root", str(record), *command[3:]]
    )
    assert again.exit_code == 0, again.output
    assert file.read_bytes() == first


def test_a_log_whose_lines_are_named_keeps_all_of_them(record: Path) -> None:
    made = call(record, "metrics.jsonl", "--key", "step", "--unit", "*=nats")
    assert made.exit_code == 0, made.output
    read = payload.read(record, "payloads/imported/metrics.json")
    assert read.at("/results/step_200/train_loss/value").lexeme == "1.9070"
    assert "step_100" in made.output


def test_numbers_without_a_unit_are_listed_with_the_options_to_paste(record: Path) -> None:
    refused = call(record, "inspect.json", "--unit", "accuracy=share")
    assert refused.exit_code == 1
    assert "inspect.json:22:49: bad-payload: match.stderr has no unit" in refused.output
    pasted = re.search(r"Say the units: (.+)", refused.output)
    assert pasted is not None
    options = pasted[1].replace("UNIT", "share").split()
    assert "accuracy=share" not in options
    assert not (record / "payloads/imported").exists()
    assert call(record, "inspect.json", "--unit", "accuracy=share", *options).exit_code == 0


def test_a_unit_or_an_interval_that_the_file_states_is_kept(record: Path) -> None:
    content = '{"acc": {"value": 0.50, "unit": "share", "low": 0.40, "high": 0.60, "level": 0.95}}'
    assert call(record, "x.json", content=content).exit_code == 0
    read = payload.read(record, "payloads/imported/x.json")
    assert read.at("/results/acc/low").lexeme == "0.40"
    content = "name,value,unit\nacc,0.50,share\nspeed,12.0,tokens per second\n"
    assert call(record, "y.csv", content=content).exit_code == 0
    read = payload.read(record, "payloads/imported/y.json")
    assert read.at("/results/speed/value").lexeme == "12.0"
    assert read.at("/results/speed/unit").text == "tokens per second"


def test_scores_of_one_name_are_told_apart_by_their_reducer(record: Path) -> None:
    scores = (
        '{"name": "match", "reducer": "mean", "metrics": {"accuracy": {"value": 0.50}}}, '
        '{"name": "match", "reducer": "at_least_1", "metrics": {"accuracy": {"value": 0.70}}}'
    )
    content = f'{{"eval": {{}}, "results": {{"total": 10, "scores": [{scores}]}}, "stats": {{"tokens": 5}}}}'
    made = call(record, "x.json", "--unit", "*=share", content=content)
    assert made.exit_code == 0, made.output
    read = payload.read(record, "payloads/imported/x.json")
    assert read.at("/results/match/mean/accuracy/value").lexeme == "0.50"
    assert read.at("/results/match/at_least_1/accuracy/value").lexeme == "0.70"
    assert "stats" in made.output and "beside the results" in made.output


def test_numbers_beside_the_results_are_named_where_they_are_left(record: Path) -> None:
    made = call(
        record, "x.json", "--unit", "*=u", content='{"results": {"a": 1}, "totals": {"n": 5}, "by": "x"}'
    )
    assert made.exit_code == 0, made.output
    assert "totals" in made.output and "beside the results" in made.output
    assert "by" not in [line.split()[0] for line in made.output.splitlines() if "beside" in line]


REFUSED: dict[str, tuple[str, str, str]] = {
    "NaN in JSON": ("x.json", '{\n"acc": NaN}', "x.json:2:8: bad-payload: NaN"),
    "a key twice": ("x.json", '{"acc": 1, "acc": 2}', "x.json:1:12: bad-payload"),
    "no JSON": ("x.json", "{", "x.json:1:"),
    "a list at the top": ("x.json", "[1]", "x.json:1:1: bad-payload"),
    "no number": ("x.json", '{"a": "b"}', "holds no number"),
    "two names become one": ("x.json", '{"acc,none": 1, "acc none": 2}', "acc,none and acc none become one"),
    "a name leads through another": ("x.json", '{"a": 1, "A": {"b": 2}}', "become one name, a"),
    "a number with a comma": ("x.csv", 'name,a\nx,"1,234"\n', "x.csv:2:2: bad-payload"),
    "leading zeros": ("x.csv", "name,a\nx,007\n", "x.csv:2:2: bad-payload"),
    "a percent sign": ("x.csv", "name,a\nx,50%\n", "x.csv:2:2: bad-payload"),
    "a row too short": ("x.csv", "name,a\nx\n", "x.csv:2:1: bad-payload: The row has 1 cells"),
    "two rows of one name": ("x.csv", "name,a\nx,1\nx,2\n", "--key COLUMN, of name, a"),
    "a column twice": ("x.csv", "a,a\n1,2\n", "x.csv:1:1: bad-payload"),
    "an empty table": ("x.csv", "", "x.csv:1:1: bad-payload"),
    "a log line that is none": ("x.jsonl", '{"a": 1}\n[2]\n', "x.jsonl:2:1: bad-payload"),
    "a log line that is no JSON": ("x.jsonl", '{"a": 1}\n{"a": }\n', "x.jsonl:2:7: bad-payload"),
    "two scores of one name": (
        "x.json",
        '{"eval": {}, "results": {"scores": [\n{"name": "m", "metrics": {"a": 1}},\n{"name": "m"}]}}',
        "x.json:3:1: bad-payload",
    ),
    "no UTF-8": ("x.json", '{"a": "\udcff"}', "x.json:1:8: bad-encoding"),
}  # fmt: skip


@pytest.mark.parametrize("what", REFUSED)
def test_what_cannot_be_taken_is_refused_at_its_place_and_nothing_is_written(record: Path, what: str) -> None:
    name, content, expected = REFUSED[what]
    (record / name).write_bytes(content.encode("utf-8", "surrogateescape"))
    made = CliRunner().invoke(
        main, ["import", str(record / name), "--root", str(record), "--unit", "*=u"], catch_exceptions=False
    )
    assert made.exit_code == 1, made.output
    assert expected in made.output
    assert not (record / "payloads/imported").exists()


MISUSED: dict[str, Callable[[Path], Result]] = {
    "another ending": lambda record: call(record, "x.parquet", content="x"),
    "a payload elsewhere": lambda record: call(record, "x.json", "--out", "x.json", content='{"a": 1}'),
    "two conditions that become one": lambda record: call(
        record, "x.json", "--unit", "*=u", "--regime", "a b=1", "--regime", "a-b=2", content='{"a": 1}'
    ),
    "a unit without a name": lambda record: call(record, "x.json", "--unit", "share", content='{"a": 1}'),
}


@pytest.mark.parametrize("what", MISUSED)
def test_misuse_exits_two(record: Path, what: str) -> None:
    assert MISUSED[what](record).exit_code == 2


def test_a_payload_that_is_there_is_never_replaced(record: Path) -> None:
    out = "payloads/acceptance/lookup.json"
    before = (record / out).read_bytes()
    made = call(record, "x.json", "--out", out, "--unit", "a=u", content='{"a": 1}')
    assert made.exit_code == 1 and f"{out}:1:1" in made.output
    assert (record / out).read_bytes() == before


NAMES = {
    "acc,none": "acc_none",
    "exact_match,strict-match": "exact_match_strict_match",
    "Précision": "precision",
    "5-shot": "n_5_shot",
    "value": "value_",
    "_runtime": "runtime",
    "準確": "n",
}


@pytest.mark.parametrize("name", NAMES)
def test_a_name_that_is_no_identifier_becomes_one_by_the_rule(name: str) -> None:
    assert identifier(name) == NAMES[name]
    assert identifier(NAMES[name]) in (NAMES[name], "value_")


def test_names_clash_where_two_become_one_or_one_leads_through_another() -> None:
    assert set(clashes([("a", "b"), ("a", "c")])) == set()
    assert set(clashes([("a b",), ("a_b",)])) == {("a_b",)}
    assert set(clashes([("a",), ("A", "b")])) == {("a",)}
