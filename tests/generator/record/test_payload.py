"""Payloads are read strictly, and every value knows where it stands."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from generator.record import payload
from generator.report.refusal import Refused

GOOD = """{
  "schema": "specdec-sidechannels/payload/1",
  "name": "acceptance/lookup",
  "question": "Does é lookup help?",
  "regime": {"target": "SmolLM2-135M-Instruct", "precision": "fp32"},
  "config": {"lookahead": 2},
  "seeds": {"root": 20261130},
  "provenance": {"command": ["engine", "run", "acceptance"], "commit": "COMMIT", "dirty": false,
    "versions": {}, "device": "CPU", "models": [], "inputs": []},
  "results": {
    "margin": {"value": 0.006860, "unit": "tokens"}
  }
}
""".replace("COMMIT", "0a" * 20)


def write(root: Path, data: str | bytes, name: str = "payloads/a/x.json") -> str:
    file = root / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(data if isinstance(data, bytes) else data.encode())
    return name


def refusal(root: Path, data: str | bytes) -> tuple[str, int, int]:
    with pytest.raises(Refused) as caught:
        payload.read(root, write(root, data))
    first = caught.value.refusals[0]
    return first.code, first.line, first.column


def test_a_value_knows_its_lexeme_line_column_and_span(tmp_path: Path) -> None:
    read = payload.read(tmp_path, write(tmp_path, GOOD))
    node = read.at("/results/margin/value")
    assert (node.kind, node.lexeme, node.line, node.column) == ("number", "0.006860", 11, 25)
    assert read.data[node.start : node.end] == b"0.006860"
    assert read.sha256 == hashlib.sha256(GOOD.encode()).hexdigest()
    assert read.kind == "payload"
    assert read.at("/question").text == "Does é lookup help?"
    assert read.at("/provenance/command/1").text == "run"
    assert read.root.source.lines == GOOD.count("\n")


def test_columns_count_characters_and_lines_count_line_feeds_only(tmp_path: Path) -> None:
    text = GOOD.replace("Does é", "é\u2028\x85é").replace('"fp32"}', '"fp32", "e": "üé", "mode": "x"}')
    read = payload.read(tmp_path, write(tmp_path, text))
    column = text.split("\n")[4].index('"x"') + 1
    assert (read.at("/regime/mode").line, read.at("/regime/mode").column) == (5, column)
    assert read.at("/results/margin/value").line == 11


@pytest.mark.parametrize(
    "pointer", ["/results/none", "/results/margin/value/0", "/provenance/command/9", "/x"]
)
def test_a_pointer_to_nothing_is_a_key_error(tmp_path: Path, pointer: str) -> None:
    with pytest.raises(KeyError):
        payload.read(tmp_path, write(tmp_path, GOOD)).at(pointer)


MARGIN = '{"value": 0.006860, "unit": "tokens"}'
BAD = {
    "duplicate key": (GOOD.replace('"unit"', '"value": 1, "unit"'), ("bad-payload", 11, 35)),
    "duplicate key, escaped": (GOOD.replace('"unit"', '"v\\u0061lue": 1, "unit"'), ("bad-payload", 11, 35)),
    "duplicate key, then no JSON": (
        GOOD.replace('"unit"', '"value": 1, "unit"').replace("}\n}\n", "}\n"),
        ("bad-payload", 13, 1),
    ),
    "NaN": (GOOD.replace("0.006860", "NaN"), ("bad-payload", 11, 25)),
    "infinity": (GOOD.replace("0.006860", "-Infinity"), ("bad-payload", 11, 25)),
    "overflow": (GOOD.replace("0.006860", "1e400"), ("bad-payload", 11, 25)),
    "underflow": (GOOD.replace("0.006860", "1e-999999999"), ("bad-payload", 11, 25)),
    "very long number": (GOOD.replace("0.006860", "9" * 5000), ("bad-payload", 11, 25)),
    "leading zero": (GOOD.replace("0.006860", "00.1"), ("bad-payload", 11, 26)),
    "trailing comma": (GOOD.replace('"tokens"}', '"tokens",}'), ("bad-payload", 11, 52)),
    "comment": ("// hello\n" + GOOD, ("bad-payload", 1, 1)),
    "two documents": (GOOD + "{}", ("bad-payload", 14, 1)),
    "byte order mark": (b"\xef\xbb\xbf" + GOOD.encode(), ("bad-encoding", 1, 1)),
    "not UTF-8": (GOOD.replace("é", "@@").encode().replace(b"@@", b"\xff"), ("bad-encoding", 4, 21)),
    "a character that turns the order around": (GOOD.replace("é", "\u202e"), ("bad-encoding", 4, 15)),
    "the same, escaped": (GOOD.replace("é", "\\u202e"), ("bad-encoding", 4, 15)),
    "a character of no width, in a key": (
        GOOD.replace('"fp32"}', '"fp32", "a\\u200bb": "x"}'),
        ("bad-encoding", 5, 70),
    ),
    "a control character, escaped": (GOOD.replace("é", "\\u001b"), ("bad-encoding", 4, 15)),
    "a mark of pages": (GOOD.replace("é", "\U000f0000"), ("bad-encoding", 4, 15)),
    "half a surrogate pair": (GOOD.replace("é", "\\ud800"), ("bad-encoding", 4, 15)),
    "empty": ("", ("bad-payload", 1, 1)),
    "blank": (" \n", ("bad-payload", 1, 1)),
    "an array": ("[1]", ("bad-payload", 1, 1)),
    "deep": ("[" * 3000 + "]" * 3000, ("bad-payload", 1, 101)),
    "very deep": ('{"a":' * 100_000, ("bad-payload", 1, 501)),
    "no schema": ("{}", ("bad-payload", 1, 1)),
    "unknown schema": (GOOD.replace("/payload/1", "/payload/2"), ("bad-payload", 2, 13)),
    "rehearsal": (GOOD.replace("/payload/1", "/rehearsal/1"), ("bad-payload", 2, 13)),
    "unknown key": (GOOD.replace('"name"', '"extra": 1, "name"'), ("bad-payload", 3, 12)),
    "wrong type": (GOOD.replace("0.006860", '"0.006860"'), ("bad-payload", 11, 25)),
    "missing key": (GOOD.replace('  "config": {"lookahead": 2},\n', ""), ("bad-payload", 1, 1)),
    "array in results": (GOOD.replace(MARGIN, "[1]"), ("bad-payload", 11, 15)),
    "no identifier": (GOOD.replace('"margin"', '"top-1"'), ("bad-payload", 11, 14)),
}


@pytest.mark.parametrize("name", BAD)
def test_what_strict_json_and_the_envelope_forbid_is_refused_at_its_place(tmp_path: Path, name: str) -> None:
    data, expected = BAD[name]
    assert refusal(tmp_path, data) == expected


@pytest.mark.parametrize("lexeme", ["1e+16", "1E+16", "-2.5e+03", "1e16", "1E-16", "0e+0"])
def test_every_way_to_write_an_exponent_is_read_where_it_stands(tmp_path: Path, lexeme: str) -> None:
    text = GOOD.replace("0.006860", lexeme).replace("Does é", "e+5 and 1e+5 é")
    read = payload.read(tmp_path, write(tmp_path, text))
    node = read.at("/results/margin/value")
    assert (node.kind, node.lexeme, node.line, node.column) == ("number", lexeme, 11, 25)
    assert read.at("/question").text.startswith("e+5 and 1e+5 é")
    assert read.sha256 == hashlib.sha256(text.encode()).hexdigest()


def test_the_unspoiled_document_is_read(tmp_path: Path) -> None:
    assert payload.read(tmp_path, write(tmp_path, GOOD)).path == "payloads/a/x.json"


@pytest.mark.parametrize(
    "path", ["/etc/passwd", "payloads/../../x.json", "payloads\\x.json", "payloads/a/none.json"]
)
def test_a_path_outside_or_to_nothing_is_refused(tmp_path: Path, path: str) -> None:
    with pytest.raises(Refused) as caught:
        payload.read(tmp_path, path)
    assert caught.value.refusals[0].code == "bad-payload"


def test_a_symbolic_link_may_not_leave_the_repository(tmp_path: Path) -> None:
    root = tmp_path / "root"
    (root / "payloads").mkdir(parents=True)
    outside = tmp_path / "outside.json"
    outside.write_text(GOOD)
    (root / "payloads/x.json").symlink_to(outside)
    (root / "payloads/loop.json").symlink_to("loop.json")
    for path in ("payloads/x.json", "payloads/loop.json"):
        with pytest.raises(Refused) as caught:
            payload.read(root, path)
        assert "symbolic link" in caught.value.refusals[0].message


def test_a_hundred_megabytes_are_refused_before_they_are_read(tmp_path: Path) -> None:
    file = tmp_path / "payloads/big.json"
    file.parent.mkdir()
    with file.open("wb") as sparse:
        sparse.truncate(100 * 1024 * 1024)
    with pytest.raises(Refused) as caught:
        payload.read(tmp_path, "payloads/big.json")
    assert caught.value.refusals[0].code == "too-large"
