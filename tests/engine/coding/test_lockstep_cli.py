"""`engine lockstep`: the same bytes back, clear refusals, nothing half written."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from engine.coding.cli import lockstep
from engine.contract.errors import BadData


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(lockstep, [str(argument) for argument in arguments])


SAMPLES = {
    "empty": b"",
    "one": b"\x00",
    "text": "Was zählt, é, 漢字".encode() * 40,
    "every byte": bytes(range(256)) * 2,
    "noise": random.Random(1).randbytes(3000),
    "zeros": bytes(5000),
    "a container of nothing": b"\x89LKS\r\n\x1a\n",
}


@pytest.mark.parametrize("model", ["static", "adaptive"])
@pytest.mark.parametrize("sample", SAMPLES)
def test_any_bytes_in_the_same_bytes_out(sample: str, model: str, tmp_path: Path) -> None:
    source, packed, back = tmp_path / "in", tmp_path / "packed", tmp_path / "out"
    source.write_bytes(SAMPLES[sample])
    done = run("pack", source, "--model", model, "--out", packed)
    assert done.exit_code == 0 and f"{len(SAMPLES[sample])} bytes in {packed.stat().st_size}" in done.output
    assert run("unpack", packed, "--out", back).exit_code == 0
    assert back.read_bytes() == SAMPLES[sample]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in", "out", "packed"]


@pytest.mark.parametrize("spoil", ["cut", "flip", "more", "none"])
def test_a_damaged_container_is_refused_with_its_name_and_leaves_nothing(spoil: str, tmp_path: Path) -> None:
    source, packed, back = tmp_path / "in", tmp_path / "packed", tmp_path / "out"
    source.write_bytes(SAMPLES["text"])
    run("pack", source, "--model", "adaptive", "--out", packed)
    data = bytearray(packed.read_bytes())
    data[-9] ^= spoil == "flip"
    spoilt = {"cut": data[:-1], "flip": data, "more": data + b"!", "none": b"plain text"}[spoil]
    packed.write_bytes(spoilt)
    back.write_bytes(b"what stood there before")
    done = run("unpack", packed, "--out", back)
    assert done.exit_code == 1 and isinstance(done.exception, BadData)
    assert done.exception.place == str(packed)
    assert back.read_bytes() == b"what stood there before"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in", "out", "packed"]


@pytest.mark.parametrize(
    "arguments",
    [
        ["pack", "{in}", "--model", "static", "--out", "{in}"],
        ["pack", "{in}", "--model", "static", "--out", "{tmp}/none/out"],
        ["pack", "{in}", "--model", "static", "--out", "{tmp}"],
        ["pack", "{in}", "--model", "static"],
        ["pack", "{in}", "--model", "huffman", "--out", "{tmp}/out"],
        ["pack", "{in}", "--out", "{tmp}/out"],
        ["pack", "{tmp}/none", "--model", "static", "--out", "{tmp}/out"],
        ["unpack", "{in}"],
        ["unpack", "{in}", "--out", "{in}"],
        ["unpack", "{in}", "--out", "{in}/out"],
        ["unpack", "{tmp}", "--out", "{tmp}/out"],
    ],
)
def test_misuse_exits_with_two_and_writes_nothing(arguments: list[str], tmp_path: Path) -> None:
    source = tmp_path / "in"
    source.write_bytes(b"kept")
    done = run(*(word.format(**{"in": source, "tmp": tmp_path}) for word in arguments))
    assert done.exit_code == 2
    assert "Traceback" not in done.output
    assert [path.name for path in tmp_path.iterdir()] == ["in"] and source.read_bytes() == b"kept"
