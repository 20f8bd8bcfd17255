"""A harvest resumes text by text, is sealed by digests, and refuses what is not its own."""

from __future__ import annotations

import errno
import json
import shutil
from collections import namedtuple
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.contract.errors import BadData
from engine.observe import capture, collect
from engine.observe.constants import Sideband
from engine.observe.harvest import Harvest, Writing, disk
from engine.observe.streams.stream import Arrays

MODEL = "a" * 64


def wanted(constants: Sideband, **changes: Any) -> collect.Wanted:
    fields: dict[str, Any] = {
        "name": "trial",
        "seeds": "primary",
        "model": "tiny",
        "model_sha256": MODEL,
        "prompts": [(f"questions-{i:02d}", "ab" * (i % 5 + 1)) for i in range(6)],
        "streams": ("s1", "s2"),
        "constants": constants,
    }
    return collect.Wanted(**fields | changes)


@pytest.fixture
def load(tiny: Callable[..., Any]) -> Callable[[], collect.Loaded]:
    """A tiny Llama in both forms; a prompt is the codes of its letters."""
    module, ours = tiny(4)
    return lambda: collect.Loaded(ours, module, lambda text: [ord(c) % 41 for c in text], 0)


def arrays(harvest: Harvest) -> dict[str, Arrays]:
    return {name: np.array(harvest.array(name)) for name in harvest.index["arrays"]}


def test_rows_stand_in_order_and_each_text_has_its_own(
    cache: Path, constants: Sideband, load: Callable[[], collect.Loaded]
) -> None:
    made = collect.collect(wanted(constants), load)
    found = arrays(made)
    key = found["prompt"] * 1000 + found["text"] * 100 + found["position"]
    assert (np.diff(key) > 0).all() and len(key) == made.rows
    assert set(found["prompt"]) == set(range(6))
    same = np.diff(key) == 1
    assert (found["token"][1:][same] == found["next_token"][:-1][same]).all()
    assert found["hidden"].dtype == np.float32 and found["tap_units"].shape[1:] == (2, 5)


def test_fresh_seeds_give_other_texts_and_the_same_seeds_the_same(
    cache: Path, constants: Sideband, load: Callable[[], collect.Loaded]
) -> None:
    first = arrays(collect.collect(wanted(constants), load))
    again = arrays(collect.collect(wanted(constants, name="again"), load))
    other = arrays(collect.collect(wanted(constants, name="other", seeds="replication"), load))
    assert all((first[name] == again[name]).all() for name in first)
    assert first["token"].shape != other["token"].shape or (first["token"] != other["token"]).any()


def test_a_killed_harvest_goes_on_and_ends_with_the_same_digests(
    cache: Path,
    constants: Sideband,
    load: Callable[[], collect.Loaded],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    whole = collect.collect(wanted(constants, name="whole"), load).index["arrays"]
    read, count = capture.Capture.read, 0

    def killed(self: Any, *arguments: Any) -> Any:
        nonlocal count
        count += 1
        if count == 5:
            raise KeyboardInterrupt
        return read(self, *arguments)

    monkeypatch.setattr(capture.Capture, "read", killed)
    with pytest.raises(KeyboardInterrupt):
        collect.collect(wanted(constants), load)
    with pytest.raises(BadData, match="interrupted"):
        Harvest.open("trial")
    made = collect.collect(wanted(constants), load)
    texts = {(int(p), int(t)) for p, t in zip(made.array("prompt"), made.array("text"), strict=True)}
    assert count == 5 + len(texts) - 4  # four texts were on disk
    assert made.index["arrays"] == whole


def test_a_line_that_a_kill_cut_off_does_not_count(cache: Path) -> None:
    writing = Writing("trial", {"model": MODEL})
    (writing.folder / "done.txt").write_text("questions-01/0\nquestions-01/")
    assert writing.done() == {"questions-01/0"}


def test_a_finished_harvest_is_not_made_again(
    cache: Path, constants: Sideband, load: Callable[[], collect.Loaded]
) -> None:
    collect.collect(wanted(constants), load)

    def never() -> collect.Loaded:
        raise AssertionError("loaded")

    collect.collect(wanted(constants), never)


def test_a_stream_of_another_model_or_plan_is_refused(
    cache: Path, constants: Sideband, load: Callable[[], collect.Loaded]
) -> None:
    collect.collect(wanted(constants), load)
    with pytest.raises(BadData, match="another model"):
        Harvest.open("trial", model="b" * 64)
    with pytest.raises(BadData, match="another model"):
        collect.collect(wanted(constants, model_sha256="b" * 64), load)
    with pytest.raises(BadData, match="another plan"):
        collect.collect(wanted(constants, seeds="replication"), load)
    with pytest.raises(BadData, match="not there"):
        Harvest.open("nothing")
    with pytest.raises(BadData, match="was not harvested"):
        Harvest.open("trial").array("experts")


def test_changed_bytes_are_found(
    cache: Path, constants: Sideband, load: Callable[[], collect.Loaded]
) -> None:
    made = collect.collect(wanted(constants), load)
    made.verify()
    with (made.folder / "hidden.npy").open("r+b") as file:
        file.seek(-3, 2)
        file.write(b"\x01")
    with pytest.raises(BadData, match=r"hidden\.npy"):
        made.verify()


def test_a_full_disk_is_a_refusal_before_and_during_writing(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writing = Writing("trial", {"model": MODEL})
    usage = namedtuple("usage", "total used free")
    with monkeypatch.context() as patched:
        patched.setattr(shutil, "disk_usage", lambda _: usage(1, 1, 1000))
        with pytest.raises(BadData, match="MB free"):
            writing.keep_rows("one", 0, 1, {"token": np.zeros(1, dtype=np.int32)})
    assert not list(writing.folder.glob("*.npy")) and writing.done() == set()
    with pytest.raises(BadData, match="full disk"), disk(writing.folder):
        raise OSError(errno.ENOSPC, "No space left on device")


def test_an_array_of_another_shape_is_refused(cache: Path) -> None:
    writing = Writing("trial", {"model": MODEL})
    writing.keep_rows("one", 0, 3, {"token": np.zeros(3, dtype=np.int32)})
    made = writing.seal(3)
    stated = json.loads((made.folder / "index.json").read_text())
    assert stated["rows"] == 3
    np.save(made.folder / "token.npy", np.zeros(4, dtype=np.int32))
    with pytest.raises(BadData, match="shape"):
        made.array("token")
