"""Payloads are written canonically, whole or not at all, and read strictly."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.contract import store
from engine.contract.errors import BadData
from engine.contract.payload import ADAPTER, Lexeme, Measured

CANONICAL = """{
  "schema": "specdec-sidechannels/registered/1",
  "name": "trial/bars",
  "question": "Does é survive?",
  "config": {
    "rows": [
      "ab",
      1
    ],
    "empty": {},
    "none": []
  },
  "results": {
    "bar": {
      "value": 0.006860,
      "unit": "tokens"
    }
  }
}
"""


def test_lexemes_survive_read_write_read(document: dict[str, Any], tmp_path: Path) -> None:
    first, second = tmp_path / "one.json", tmp_path / "two.json"
    first.write_text(store.canonical(document), encoding="utf-8")
    store.write(second, store.read(first))
    assert second.read_bytes() == first.read_bytes()
    assert b'"value": 0.006860,' in second.read_bytes()
    read = store.read(second)
    assert isinstance(read, Measured)
    assert read.config["level"] == "0.950" and isinstance(read.config["level"], Lexeme)


def test_the_canonical_form_is_this_one_and_writing_it_again_changes_nothing(tmp_path: Path) -> None:
    scrambled = tmp_path / "bars.json"
    scrambled.write_text(json.dumps(store.loads(CANONICAL.encode(), "x")).replace('"0.006860"', "0.006860"))
    assert store.dump(store.read(scrambled)) == CANONICAL
    store.write(scrambled, store.read(scrambled))
    assert scrambled.read_text("utf-8") == CANONICAL


def test_state_rows_stand_one_a_line(document: dict[str, Any]) -> None:
    assert '"rows": [\n      [0, 5],\n      [1, 6]\n    ]' in store.dump(ADAPTER.validate_python(document))


def test_keys_stand_in_the_order_of_the_model_whatever_the_order_given(document: dict[str, Any]) -> None:
    turned = dict(reversed(document.items()))
    assert store.dump(ADAPTER.validate_python(turned)) == store.dump(ADAPTER.validate_python(document))


SCALARS = st.one_of(
    st.booleans(),
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1),
    st.integers(-(10**20), 10**20),
    st.floats(allow_nan=False, allow_infinity=False).map(lambda value: Lexeme(repr(value))),
)
NAMES = st.from_regex(r"[a-z][a-z0-9_]{0,5}", fullmatch=True)
CONFIGS = st.recursive(
    SCALARS, lambda inner: st.one_of(st.lists(SCALARS), st.dictionaries(NAMES, inner)), max_leaves=12
)


@given(config=st.dictionaries(NAMES, CONFIGS))
@settings(max_examples=150, deadline=None, derandomize=True)
def test_any_settings_come_back_as_they_were_written(config: dict[str, Any]) -> None:
    bars = store.loads(CANONICAL.encode(), "x") | {"config": config}
    text = store.dump(ADAPTER.validate_python(bars))
    assert store.loads(text.encode(), "x")["config"] == config
    assert store.dump(ADAPTER.validate_python(store.loads(text.encode(), "x"))) == text


def test_a_bare_float_is_refused_since_nobody_stated_its_digits() -> None:
    with pytest.raises(TypeError, match="lexeme"):
        store.canonical({"a": 0.5})


REFUSED = {
    "duplicate key": (b'{"a": 1, "a": 2}', "'a' stands twice"),
    "duplicate key, escaped": (b'{"a": 1, "\\u0061": 2}', "'a' stands twice"),
    "duplicate key, deep": (b'{"x": [{"a": 1, "a": 1}]}', "'a' stands twice"),
    "byte order mark": (b'\xef\xbb\xbf{"a": 1}', "BOM"),
    "NaN": (b'{"a": NaN}', "NaN is no JSON number"),
    "infinity": (b'{"a": -Infinity}', "-Infinity is no JSON number"),
    "overflow": (b'{"a": 1e999}', "not a finite JSON number"),
    "deep nesting": (b"[" * 100_000 + b"]" * 100_000, "recursion depth"),
    "not UTF-8": (b'{"a": "\xff"}', "can't decode byte 0xff in position 7"),
    "cut off": (b'{"a": 1', "line 1 column 8"),
    "trailing comma": (b'{\n"a": 1,\n}', "line 3 column 1"),
    "nothing": (b"", "line 1 column 1"),
    "two documents": (b"{}\n{}", "line 2 column 1"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_strict_json_is_refused_with_its_place(tmp_path: Path, name: str) -> None:
    data, problem = REFUSED[name]
    path = tmp_path / "bad.json"
    path.write_bytes(data)
    with pytest.raises(BadData) as caught:
        store.read(path)
    assert caught.value.place == str(path)
    assert problem in caught.value.problem


WRONG = {
    '"unit": "rounds"': ('"unit": ""', "/results/nested/one/unit: String should have at least 1 character"),
    ',\n        "unit": "rounds"': ("", "/results/nested/one/unit: Field required"),
    '"root": 7': ('"root": "7"', "/seeds/root: Input should be a valid integer"),
    "[1, 6]": ("[1, 6.5]", "/state/rows/1/1: Input should be a valid integer"),
    '"strict": true': ('"strict": null', "/config/strict: Input should be a valid boolean"),
    '"question": ': ('"asked": ', "/question: Field required"),
    "payload/1": ("payload/2", "/: Input tag 'specdec-sidechannels/payload/2'"),
}


@pytest.mark.parametrize("old", WRONG)
def test_a_wrong_field_is_refused_with_its_place(document: dict[str, Any], tmp_path: Path, old: str) -> None:
    new, complaint = WRONG[old]
    text = store.canonical(document)
    assert text.count(old) == 1
    path = tmp_path / "bad.json"
    path.write_text(text.replace(old, new), encoding="utf-8")
    with pytest.raises(BadData) as caught:
        store.read(path)
    assert f"bad.json at {complaint}" in str(caught.value)


@pytest.mark.parametrize("depth", [100, 300, 600, 900, 5000])
def test_settings_of_any_depth_are_read_or_refused_but_never_crash(tmp_path: Path, depth: int) -> None:
    deep = '{"a": ' * depth + "1" + "}" * depth
    path = tmp_path / "deep.json"
    path.write_text(CANONICAL.replace('"empty": {}', f'"empty": {deep}'), encoding="utf-8")
    try:
        store.write(path, store.read(path))
    except BadData as error:
        assert str(path) in error.place


@pytest.mark.parametrize("moment", ["fsync", "replace", "chmod"])
def test_a_write_that_fails_leaves_the_old_file_whole_and_nothing_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    path = tmp_path / "one.json"
    store.write_text(path, "old\n")

    def fail(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os if moment == "fsync" else Path, moment, fail)
    with pytest.raises(OSError, match="No space"):
        store.write_text(path, "new\n")
    assert path.read_text() == "old\n"
    assert [entry.name for entry in tmp_path.iterdir()] == ["one.json"]


WRITER = """
import sys
from pathlib import Path
{patch}
from engine.contract.store import write_text
print("ready", flush=True)
for turn in range(1_000_000):
    write_text(Path(sys.argv[1]), f"{{turn % 10}}" * 300_000 + "\\n")
"""
NAIVE = """
from engine.contract import store
store.write_text = lambda path, text: path.write_text(text)
"""


def killed(path: Path, patch: str, random_moment: random.Random) -> str:
    """What is in the file after its writer was killed at a random moment."""
    command = [sys.executable, "-c", WRITER.format(patch=patch), str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(0.02 + 0.06 * random_moment.random())
        process.send_signal(signal.SIGKILL)
    return path.read_text() if path.exists() else ""


def whole(text: str) -> bool:
    """Whether the text is one complete write."""
    return text in {f"{digit}" * 300_000 + "\n" for digit in range(10)}


def test_a_write_killed_at_any_moment_leaves_a_whole_file(tmp_path: Path) -> None:
    moments = random.Random(20261130)
    path = tmp_path / "one.json"
    path.write_text("0" * 300_000 + "\n")
    assert all(whole(killed(path, "", moments)) for _ in range(8))


def test_the_same_kills_tear_a_file_that_is_written_in_place(tmp_path: Path) -> None:
    moments = random.Random(20261130)
    path = tmp_path / "one.json"
    assert not all(whole(killed(path, NAIVE, moments)) for _ in range(40))
