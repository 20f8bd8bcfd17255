"""The lab's arithmetic: exact at its ends, known values, and the same bytes from both implementations."""

from __future__ import annotations

import json
import math
import random
import shutil
import struct
import subprocess
from dataclasses import asdict
from fractions import Fraction
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from click.testing import CliRunner

from engine import lab
from engine.contract.errors import BadData
from engine.lab_cli import SCHEMA
from engine.lab_cli import lab as command

ROOT = Path(__file__).parents[2]
PEER = ROOT / "site_src/assets/lab.js"
NODE = shutil.which("node")
needs_node = pytest.mark.skipif(NODE is None, reason="node is not installed, and the second lab needs it")


def peer(asked: list[list[Any]], script: Path = PEER) -> list[Any]:
    assert NODE
    call = [NODE, str(Path(__file__).with_name("lab_peer.cjs")), str(script)]
    done = subprocess.run(call, input=json.dumps(asked), capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    told: list[Any] = json.loads(done.stdout)
    return told


def own(name: str, argument: Any) -> Any:
    try:
        return {
            "report": lambda given: lab.text(lab.report(given)),
            "pasted": lambda text: lab.text(lab.pasted(text)),
            "number": lab.number,
        }[name](argument)
    except lab.Unusable as unusable:
        return f"refused {unusable}"


# Known values


@pytest.mark.parametrize("length", [0, 1, 4, 16])
def test_the_ends_are_exact(length: int) -> None:
    never = lab.report({"draft_length": length, "acceptance": 0})
    always = lab.report({"draft_length": length, "acceptance": 1})
    assert never["expected"] == never["observed"] == 1
    assert always["expected"] == always["observed"] == length + 1


@pytest.mark.parametrize("acceptance", [0.1, 0.5, 0.8, 0.99])
def test_the_sum_is_the_closed_form_where_that_is_stable(acceptance: float) -> None:
    for length in range(17):
        closed = (1 - Fraction(acceptance) ** (length + 1)) / (1 - Fraction(acceptance))
        assert lab.tokens(acceptance, length) == pytest.approx(float(closed), rel=1e-14)


def test_published_rates_by_position_give_the_measured_length() -> None:
    for rates, measured in (([0.7296, 0.5208, 0.3545], 2.605), ([0.615, 0.464, 0.383], 2.462)):
        given = {"mode": "positions", "meaning": "joint", "rates": rates, "draft_length": 3}
        assert lab.report(given)["expected"] == pytest.approx(measured, abs=1e-3)


def test_a_spread_lifts_the_mean() -> None:
    spread = lab.report({"mode": "spread", "kept": 4, "refused": 2, "draft_length": 4})["expected"]
    assert spread == pytest.approx(float(_beta_mean(4, 2, 4)), rel=1e-14)
    assert spread == pytest.approx(2.77, abs=0.01)
    assert spread > lab.tokens(4 / 6, 4)


def _beta_mean(kept: int, refused: int, length: int) -> Fraction:
    """1 + E[a] + ... + E[a^length] under Beta(kept, refused), by factorials."""
    whole = kept + refused - 1
    return 1 + sum(
        Fraction(math.factorial(kept + k - 1) * math.factorial(whole))
        / (math.factorial(kept - 1) * math.factorial(whole + k))
        for k in range(1, length + 1)
    )


def test_the_measured_rounds_of_the_record_come_back() -> None:
    """Not to the last digit: a text that ends inside a round goes without the token after it."""
    for path in (ROOT / "payloads/acceptance").glob("*-*d.json"):
        results = json.loads(path.read_text("utf-8"))["results"]
        for length in range(1, 9):
            at = results[f"length_{length}"]
            kept = [at[f"rounds_keeping_{k}"]["value"] for k in range(length + 1)]
            joint = [sum(kept[k:]) for k in range(1, length + 1)]
            given = {"mode": "positions", "meaning": "joint", "rates": joint, "draft_length": length}
            assert lab.report(given)["expected"] == pytest.approx(at["tokens_per_check"]["value"], abs=0.02)


@pytest.mark.parametrize("acceptance", [0.05, 0.3, 0.7, 0.95])
@pytest.mark.parametrize("meaning", ["joint", "proposed"])
def test_the_three_meanings_lead_to_the_same_rounds(acceptance: float, meaning: str) -> None:
    straight = lab.report({"acceptance": acceptance, "draft_length": 5})
    entered = (
        straight["acceptance"]["joint"][-1] if meaning == "joint" else straight["acceptance"]["proposed"]
    )
    other = lab.report({"acceptance": entered, "meaning": meaning, "draft_length": 5})
    assert other["expected"] == pytest.approx(straight["expected"], abs=1e-9)
    wrong = lab.report({"acceptance": entered, "draft_length": 5})
    assert wrong["expected"] < straight["expected"] - 0.005


@pytest.mark.parametrize("cost", [0.5, 3, 12, 40])
def test_at_the_break_even_acceptance_nothing_is_gained(cost: float) -> None:
    even = lab.report({"draft": cost})["break_even"]
    if cost == 40:
        assert even is None and lab.report({"draft": cost, "acceptance": 1})["verdict"] == "slower"
    else:
        assert lab.report({"draft": cost, "acceptance": even})["speedup"] == pytest.approx(1, abs=1e-10)


def test_the_best_length_is_the_best_of_all_lengths() -> None:
    found = lab.report({"acceptance": 0.7, "growth": 2})
    speeds = [lab.report({"acceptance": 0.7, "growth": 2, "draft_length": n})["speedup"] for n in range(17)]
    assert found["best"] == {"draft_length": speeds.index(max(speeds)), "speedup": max(speeds)}
    assert [row["speedup"] for row in found["curve"]] == speeds


def test_the_map_is_the_formula_and_its_line_separates() -> None:
    found = lab.report({"draft_length": 3})["map"]
    for column, cost in enumerate(found["costs"]):
        even = found["break_even"][column]
        for row, acceptance in enumerate(found["acceptances"]):
            speedup = found["speedup"][row][column]
            assert speedup == lab.tokens(acceptance, 3) * 30 / (40 + 3 * (cost * 30))
            if even is None or acceptance < even - 1e-9:
                assert speedup < 1
            elif acceptance > even + 1e-9:
                assert speedup > 1


# The simulation


def test_intervals_cover_the_formula_about_as_often_as_they_say() -> None:
    for given in (
        {"acceptance": 0.6, "rounds": 200},
        {"mode": "positions", "rates": [0.7, 0.5, 0.2], "draft_length": 3, "rounds": 200},
        {"mode": "spread", "kept": 4, "refused": 2, "rounds": 800, "prompt_rounds": 20},
    ):
        held = 0
        for seed in range(60):
            found = lab.report({**given, "seed": seed})
            held += found["interval"]["low"] <= found["expected"] <= found["interval"]["high"]
        assert held >= 51, (given, held)


def test_prompts_are_the_groups_of_a_spread() -> None:
    found = lab.report({"mode": "spread", "rounds": 400, "prompt_rounds": 20})
    assert found["groups"] == 20 and found["few"]
    naive = lab.report({"mode": "spread", "rounds": 400, "prompt_rounds": 1})
    width = found["interval"]["high"] - found["interval"]["low"]
    assert width > 1.5 * (naive["interval"]["high"] - naive["interval"]["low"])


def test_what_does_not_vary_has_no_interval() -> None:
    assert lab.report({"acceptance": 1})["interval"] is None
    assert lab.report({"rounds": 1})["interval"] is None


def test_the_urn_gives_the_beta_law_of_a_prompt() -> None:
    s = lab.settings(
        {"mode": "spread", "kept": 2, "refused": 1, "draft_length": 1, "rounds": 9000, "prompt_rounds": 3}
    )
    kept = list(lab.rounds_kept(s))
    sums = [sum(kept[at : at + 3]) for at in range(0, len(kept), 3)]
    law = [Fraction(1, 10), Fraction(2, 10), Fraction(3, 10), Fraction(4, 10)]
    chi = sum((sums.count(k) - 3000 * float(p)) ** 2 / (3000 * float(p)) for k, p in enumerate(law))
    assert chi < 21.1, chi  # 0.9999 quantile at three degrees of freedom


def test_the_generator_gives_the_words_of_its_authors() -> None:
    generator = lab.Generator([1, 2, 3, 4])
    words = [11520, 0, 5927040, 70819200, 2031721883, 1637235492, 1287239034, 3734860849]
    assert [generator.word() for _ in words] == words


def test_the_words_of_a_seed_are_pinned() -> None:
    assert [lab.Generator.of(42).word(), lab.Generator.of(0).word()] == PINNED


PINNED = [2837322924, 3809008728]


# Both implementations


def drawn(rng: random.Random) -> dict[str, Any]:
    mode = rng.choice(lab.MODES)
    given: dict[str, Any] = {
        "mode": mode,
        "draft_length": rng.randint(0, 16),
        "acceptance": rng.choice([0, 1, rng.random(), round(rng.random(), 2)]),
        "kept": rng.randint(1, 40),
        "refused": rng.randint(1, 40),
        "draft": rng.choice([0, round(rng.uniform(0, 50), 3), rng.random()]),
        "verify": round(rng.uniform(0.001, 400), 4),
        "growth": rng.choice([0, rng.uniform(0, 5)]),
        "plain": rng.uniform(0.001, 90),
        "seed": rng.randrange(2**32),
        "prompt_rounds": rng.choice([1, 5, 20]),
        "rounds": 20 * rng.randint(1, 40),
        "meaning": rng.choice(lab.MEANINGS if mode == "constant" else lab.MEANINGS[:2]),
    }
    if mode == "positions":
        rates = [rng.choice([0, 1, rng.random()]) for _ in range(rng.randint(1, 16))]
        given["rates"] = sorted(rates, reverse=True) if given["meaning"] == "joint" else rates
        given["draft_length"] = rng.randint(0, len(rates))
    elif mode == "constant" and given["meaning"] != "conditional":
        given["draft_length"] = rng.randint(1, 16)
    return given


@needs_node
def test_two_hundred_random_settings_give_the_same_bytes() -> None:
    rng = random.Random(8)
    asked = [["report", drawn(rng)] for _ in range(200)]
    mine = [own(*each) for each in asked]
    assert not [each for each in mine if each.startswith("refused")]
    assert peer(asked) == mine


@needs_node
def test_a_spoilt_second_implementation_is_noticed(tmp_path: Path) -> None:
    rng = random.Random(8)
    asked = [["report", drawn(rng)] for _ in range(20)]
    spoilt = PEER.read_text("utf-8").replace("turned(d, 11)", "turned(d, 12)")
    (tmp_path / "lab.js").write_text(spoilt, encoding="utf-8")
    assert peer(asked, tmp_path / "lab.js") != [own(*each) for each in asked]


@needs_node
def test_the_printers_agree_on_any_number() -> None:
    rng = random.Random(3)
    values = [struct.unpack("<d", rng.randbytes(8))[0] for _ in range(3000)]
    values += [0.1, 1 / 3, 1e21, 1e-7, 123456789.125, -0.5, 5e-324, 1e16, 2**53, 0.0001, 0.00001]
    values = [value for value in values if math.isfinite(value)]
    mine = [lab.number(value) for value in values]
    assert peer([["number", value] for value in values]) == mine
    assert [float(text) for text in mine] == values
    assert not [text for text in mine if "e" in text]


@needs_node
def test_both_have_the_same_words_and_constants() -> None:
    words, seeded, constants = peer(
        [
            ["words", {"state": [1, 2, 3, 4], "count": 50}],
            ["words", {"seed": 4294967295, "count": 50}],
            ["constants", None],
        ]
    )
    generator, other = lab.Generator([1, 2, 3, 4]), lab.Generator.of(4294967295)
    assert words == [generator.word() for _ in range(50)]
    assert seeded == [other.word() for _ in range(50)]
    assert constants["fields"] == {name: asdict(field) for name, field in lab.FIELDS.items()}
    assert [constants[each] for each in ("code", "schema", "level", "few")] == [
        *(lab.CODE, lab.SCHEMA, lab.LEVEL, lab.FEW)
    ]


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"draft_length": 17}, "draft_length: Give a whole number from 0 to 16."),
    ({"draft_length": 1.5}, "draft_length: Give a whole number from 0 to 16."),
    ({"acceptance": 1.01}, "acceptance: Give a number from 0 to 1."),
    ({"acceptance": "1"}, "acceptance: Give a number from 0 to 1."),
    ({"plain": 0}, "plain: Give a number from 0.001 to 100000."),
    ({"mode": "none"}, "mode: This is none of the choices."),
    ({"colour": 1}, "colour: This is none of the choices."),
    ({"mode": "positions"}, "rates: Give one to 16 rates"),
    ({"mode": "positions", "rates": [0.5], "draft_length": 2}, "draft_length: The list has rates for 1"),
    (
        {"mode": "positions", "rates": [0.2, 0.5], "draft_length": 1, "meaning": "joint"},
        "rates: A share of all",
    ),
    (
        {"mode": "positions", "rates": [0.2], "draft_length": 1, "meaning": "proposed"},
        "meaning: This meaning",
    ),
    ({"meaning": "joint", "draft_length": 0}, "meaning: This meaning needs"),
    ({"mode": "spread", "rounds": 30, "prompt_rounds": 20}, "rounds: Give a multiple"),
]


@needs_node
def test_both_refuse_the_same_settings_in_the_same_words() -> None:
    asked = [["report", given] for given, _ in REFUSED]
    mine = [own(*each) for each in asked]
    assert peer(asked) == mine
    for told, (_, words) in zip(mine, REFUSED, strict=True):
        assert told.startswith(f"refused {words}")


# What is pasted

METRICS = """# HELP vllm:spec_decode_num_drafts_total Number of spec decoding drafts.
vllm:spec_decode_num_drafts_total{engine="0",model_name="m"} 200.0
vllm:spec_decode_num_drafts_total{engine="1",model_name="m"} 200.0
vllm:spec_decode_num_draft_tokens_total{engine="0",model_name="m"} 1200.0
vllm:spec_decode_num_accepted_tokens_per_pos_total{engine="0",model_name="m",position="0"} 150.0
vllm:spec_decode_num_accepted_tokens_per_pos_total{engine="1",model_name="m",position="0"} 150.0
vllm:spec_decode_num_accepted_tokens_per_pos_total{engine="0",model_name="m",position="1"} 1.0e2
vllm:spec_decode_num_accepted_tokens_per_pos_created{engine="0",model_name="m",position="1"} 1.7e9
"""
LOG = "Metrics: Per-position acceptance rate: 0.9, 0.8, Avg\nPer-position acceptance rate: 0.5, 0.25\n"
RECORD = json.dumps(
    {"metrics": {"speculative_decoding": {"acceptance_histogram": {"0": 5, "2": 5}, "num_spec_tokens": 3}}}
)
PASTED: list[tuple[str, Any]] = [
    (METRICS, ("vllm-metrics", [0.75, 0.25], "joint")),
    (LOG, ("vllm-log", [0.5, 0.25], "joint")),
    (RECORD, ("aiperf", [0.5, 0.5, 0], "joint")),
    ('{"acceptance_histogram": {"0": 3, "1": 1.0}, "num_spec_tokens": null}', ("aiperf", [0.25], "joint")),
    ("0.7, 0.5\n0.3", ("list", [0.7, 0.5, 0.3], None)),
    ("[1, 0.5]", ("list", [1, 0.5], None)),
    ("", "unreadable"),
    ("0.7, half", "unreadable"),
    ("0.7, -0.5", "unreadable"),
    ("1.5", "Give one to 16 rates"),
    ('{"acceptance_histogram": {"0": NaN}}', "unreadable"),
    ('{"acceptance_histogram": {"99": 1}}', "unreadable"),
    ('{"acceptance_histogram": {"0": 3}}', "unreadable"),
    ('{"acceptance_histogram": {"4": 3}, "num_spec_tokens": 2}', "unreadable"),
    ('{"a": [', "unreadable"),
    ("vllm:spec_decode_num_accepted_tokens_per_pos_total{position=\"0\"} 3", "spec_decode_num_drafts"),
]  # fmt: skip


@needs_node
def test_both_read_what_is_pasted_alike() -> None:
    asked = [["pasted", text] for text, _ in PASTED]
    assert peer(asked) == [own(*each) for each in asked]


@pytest.mark.parametrize(("text", "wanted"), PASTED)
def test_what_is_pasted_is_read_or_refused(text: str, wanted: Any) -> None:
    if isinstance(wanted, tuple):
        found = lab.pasted(text)
        assert (found["source"], found["rates"], found["meaning"]) == wanted
    else:
        with pytest.raises(lab.Unusable) as refused:
            lab.pasted(text)
        assert wanted in str(refused.value) or wanted == refused.value.code


def test_the_record_of_a_simulation_can_be_pasted_again() -> None:
    record = lab.report({"acceptance": 0.7})["record"]
    again = lab.pasted(json.dumps(record))
    given = {"mode": "positions", "meaning": "joint", "rates": again["rates"], "draft_length": 4}
    assert lab.report(given)["expected"] == pytest.approx(record["mean_acceptance_length"], rel=1e-12)


# The schema and the command


def validator() -> jsonschema.Draft202012Validator:
    schema = json.loads(SCHEMA.read_text("utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def test_reports_are_valid_and_spoilt_ones_are_not() -> None:
    rng = random.Random(5)
    judge = validator()
    for _ in range(40):
        judge.validate(json.loads(lab.text(lab.report(drawn(rng)))))
    found = json.loads(lab.text(lab.report({})))
    for name in found:
        assert not judge.is_valid({key: value for key, value in found.items() if key != name})
    for spoilt in ({"expected": 0.5}, {"more": 1}, {"curve": []}, {"interval": {"low": 1}}):
        assert not judge.is_valid({**found, **spoilt})


def test_the_command_prints_what_the_function_gives() -> None:
    asked = "--json --draft-length 4 --acceptance 1 --draft 3 --verify 40 --plain 30 --rounds 100 --seed 42"
    done = CliRunner().invoke(command, asked.split(), catch_exceptions=False)
    found = json.loads(done.stdout)
    assert done.exit_code == 0 and found["expected"] == found["observed"] == 5
    assert found["round_cost"] == 52
    validator().validate(found)


def test_the_command_says_slower_in_words(tmp_path: Path) -> None:
    done = CliRunner().invoke(command, ["--acceptance", "0.1"], catch_exceptions=False)
    assert "slower than without" in done.stdout
    (tmp_path / "m.txt").write_text(METRICS)
    done = CliRunner().invoke(command, ["--paste", str(tmp_path / "m.txt")], catch_exceptions=False)
    assert "2.000 tokens a check" in done.stdout


def test_the_command_refuses_at_its_option() -> None:
    for arguments, words in (
        (["--acceptance", "2"], "--acceptance: This cannot be used. Give a number from 0 to 1."),
        (["--rates", "0.5,x"], "--paste: This cannot be used."),
    ):
        with pytest.raises(BadData) as refused:
            CliRunner().invoke(command, arguments, catch_exceptions=False)
        assert words in str(refused.value)
    assert CliRunner().invoke(command, ["--rates", "0.5", "--paste", str(SCHEMA)]).exit_code == 2


def test_the_schema_can_be_printed() -> None:
    assert CliRunner().invoke(command, ["--schema"]).stdout == SCHEMA.read_text("utf-8")
