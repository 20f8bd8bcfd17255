"""The census: what is cast is cast, what changes is counted, what cannot be had is told with its reason."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from click.testing import CliRunner

from engine.coding import amber_rows, census, census_worker
from engine.coding.amber_cli import amber as amber_command
from engine.coding.census import Reading, Setting, compare, settings
from engine.coding.census_cli import census as census_command
from engine.coding.census_cli import total
from engine.coding.census_model import CastPredictor, cast
from engine.coding.llama_predictor import LlamaPredictor
from engine.contract.errors import BadData

TEXTS = [[3, 1, 4, 1, 5, 9, 2, 6], [2, 7, 1, 8], [5] * 6]


class Bytes:
    """A tokenizer of the letters a to z and space, told by their place."""

    sha256 = bytes(32)
    known = " abcdefghijklmnopqrstuvwxyz.\n"

    def tokens(self, text: str) -> list[int]:
        return [max(self.known.find(letter), 0) for letter in text]

    def text(self, tokens: list[int]) -> str:
        return "".join(self.known[token] if token < len(self.known) else "?" for token in tokens)


@pytest.fixture(scope="module")
def model(tiny: Callable[..., tuple[Any, Any]]) -> Any:
    return tiny(7, head=36)[1]


def test_a_model_in_another_precision_ranks_otherwise_and_in_its_own_the_same(model: Any) -> None:
    packed = amber_rows.read(LlamaPredictor(model, 0, b""), TEXTS, 3)
    again = amber_rows.read(CastPredictor(cast(model, "fp32", "cpu"), 0, b""), TEXTS, 3)
    assert (again.ranks == packed.ranks).all() and (again.margins == packed.margins).all()
    for precision in ("bf16", "fp16"):
        other = cast(model, precision, "cpu")
        assert {other.embedding.dtype, other.layers[0].down.matrix.dtype} == {census_dtype(precision)}
        reading = amber_rows.read(CastPredictor(other, 0, b""), TEXTS, 3)
        assert np.isfinite(reading.margins).all() and (reading.margins != packed.margins).any()


def census_dtype(precision: str) -> torch.dtype:
    return {"bf16": torch.bfloat16, "fp16": torch.float16}[precision]


def test_plain_attention_says_nearly_the_same(model: Any) -> None:
    readings = [
        amber_rows.read(CastPredictor(model, 0, b"", attention), TEXTS, 3)
        for attention in ("default", "math")
    ]
    assert (readings[0].ranks == readings[1].ranks).all()
    assert np.abs(readings[0].margins - readings[1].margins).max() < 1e-3


def test_an_unknown_attention_is_refused(model: Any) -> None:
    with pytest.raises(BadData, match="attention"):
        amber_rows.read(CastPredictor(model, 0, b"", "sparse"), TEXTS, 3)


def reading(ranks: list[int], best: list[int], margins: list[int]) -> Reading:
    return Reading({}, "", [ranks], [margins], [best])


def test_flips_and_moved_ranks_are_counted_apart() -> None:
    before = reading([0, 3, -1, 2], [9, 9, 9, 9], [50, 7, 0, 60])
    after = reading([0, 4, -1, 2], [9, 9, 9, 8], [50, 7, 0, 60])
    (found,) = compare(before, after)
    assert (found.tokens, found.flips, found.moved, found.smallest) == (4, 1, 1, 7)
    assert total([found, found]).tokens == 8 and total([]).smallest == 0


def test_each_environment_differs_from_the_baseline_by_one_thing() -> None:
    baseline = Setting()
    for name, setting in settings(baseline, "folder").items():
        changed = [k for k, v in vars(setting).items() if v != getattr(baseline, k)]
        assert len(changed) == (0 if name == "again" else 1)
    assert "other_torch" not in settings(baseline, None)


@pytest.fixture
def worker(model: Any, monkeypatch: pytest.MonkeyPatch) -> LlamaPredictor:
    """The worker, and the commands, with a tiny model in place of the fetched one."""
    predictor = LlamaPredictor(model, 0, bytes(32))
    monkeypatch.setattr(census_worker, "predictor", lambda *_: predictor)
    monkeypatch.setattr(census_worker, "fetched", lambda _: (predictor, Bytes()))
    monkeypatch.setattr("engine.coding.llama_predictor.fetched", lambda _: (predictor, Bytes()))
    return predictor


def ask(job: str, **rest: Any) -> dict[str, Any]:
    request = {"job": job, "model": "tiny", "setting": {"rows": 2, "threads": 1}} | rest
    reply: dict[str, Any] = json.loads(json.dumps(census_worker.answer(request)))
    return reply


def test_a_process_packs_unpacks_reads_and_decodes(worker: LlamaPredictor) -> None:
    files = ["the cat sat.", "a mat", "on the mat sat the cat."]
    packed = ask("pack", files=files, piece=64, guard=8)
    assert ask("unpack", archives=packed["archives"])["files"] == files
    assert ask("decode", archives=packed["archives"])["texts"] == packed["tokens"]
    read = ask("read", texts=packed["tokens"])
    assert [len(ranks) for ranks in read["ranks"]] == [len(tokens) for tokens in packed["tokens"]]
    assert read["canary"] == packed["canary"] and read["environment"]["threads"] == 1
    shares = ask("shares", texts=packed["tokens"])
    assert shares["same"] == [True] * 3
    for code, ideal in zip(shares["codes"], shares["ideal"], strict=True):
        assert ideal <= 4 * len(code) < ideal + 9


def answered(monkeypatch: pytest.MonkeyPatch, code: int, environment: dict[str, Any]) -> None:
    out = json.dumps({"environment": environment})

    def run(*_: Any, **__: Any) -> subprocess.CompletedProcess[str]:
        return subprocess.CompletedProcess([], code, out, "first\nno such kernel\n")

    monkeypatch.setattr(subprocess, "run", run)


def test_a_process_that_fails_is_refused_with_its_last_words(monkeypatch: pytest.MonkeyPatch) -> None:
    answered(monkeypatch, 1, {})
    with pytest.raises(BadData, match="no such kernel"):
        census.ask("read", "tiny", Setting())


@pytest.mark.parametrize(
    "found", [{"threads": 1, "capability": "AVX2"}, {"threads": 2, "capability": "AVX512"}]
)
def test_another_environment_than_was_asked_for_is_refused(
    found: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    answered(monkeypatch, 0, found)
    with pytest.raises(BadData):
        census.ask("read", "tiny", Setting(threads=2, capability="avx2"))
    answered(monkeypatch, 0, {"threads": 2, "capability": "AVX2"})
    census.ask("read", "tiny", Setting(threads=2, capability="avx2"))


def test_the_census_tells_what_changes_and_what_is_not_here(
    worker: LlamaPredictor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def asked(job: str, model: str, setting: Setting, **rest: Any) -> dict[str, Any]:
        if setting.device == "cuda":
            raise BadData("device cuda", "is not there.", "Leave it out.")
        return ask(job, **rest)

    monkeypatch.setattr(census, "ask", asked)
    text = tmp_path / "text"
    text.write_text("the cat sat on the mat.")
    done = CliRunner().invoke(census_command, [str(text), "--in", "again", "--in", "cuda"])
    assert done.exit_code == 0, done.output
    baseline, again, cuda = done.stdout.splitlines()
    assert "canary" in baseline and "0 flips" in again and "not here: is not there." in cuda
    alone = json.loads(CliRunner().invoke(census_command, ["--json"]).stdout)
    assert list(alone) == ["baseline"] and len(alone["baseline"]["canary"]) == 64
    assert CliRunner().invoke(census_command, [str(text), "--in", "mars"]).exit_code == 2


@pytest.mark.parametrize("coder", ["ranks", "lockstep"])
def test_the_amber_command_gives_the_same_bytes_back(
    coder: str, worker: LlamaPredictor, tmp_path: Path
) -> None:
    source, packed, back = tmp_path / "in", tmp_path / "packed", tmp_path / "out"
    source.write_bytes(b"the cat sat.\n\xff\x00" + b"on the mat. " * 20)
    run = CliRunner().invoke
    done = run(amber_command, ["pack", str(source), "--coder", coder, "--out", str(packed), "--rows", "2"])
    assert done.exit_code == 0, done.output
    told = run(amber_command, ["info", str(packed)]).output
    assert coder in told and str(len(source.read_bytes())) in told
    assert run(amber_command, ["unpack", str(packed), "--out", str(back)]).exit_code == 0
    assert back.read_bytes() == source.read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in", "out", "packed"]


def test_a_damaged_archive_is_refused_with_its_name_and_leaves_what_stood_there(
    worker: LlamaPredictor, tmp_path: Path
) -> None:
    packed, back = tmp_path / "packed", tmp_path / "out"
    packed.write_bytes(b"\x89AMB\r\n\x1a\n and no more")
    back.write_bytes(b"what stood there")
    for arguments in (["unpack", str(packed), "--out", str(back)], ["info", str(packed)]):
        done = CliRunner().invoke(amber_command, arguments)
        assert isinstance(done.exception, BadData) and done.exception.place == str(packed)
    assert back.read_bytes() == b"what stood there"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "packed"]
