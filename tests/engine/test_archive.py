"""A harvest's zip has the same bytes wherever it is packed, and a copy that differs is told apart."""

from __future__ import annotations

import os
import subprocess
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from engine import archive
from engine.cli import cli
from engine.contract.errors import BadData, EngineError
from engine.observe.harvest import Writing, folder_of

NAME = "tiny-primary"


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cache and a list of sums of this test's own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(archive, "SUMS", tmp_path / "sums" / "SHA256SUMS")


def harvest(name: str = NAME, *, seal: bool = True) -> None:
    """A harvest of one text with two arrays."""
    made = Writing(name, {"model": "a" * 64})
    made.keep_texts(0, [[1, 2, 3]])
    rows = {"token": np.arange(3, dtype=np.int32), "hidden": np.ones((3, 2), dtype=np.float16)}
    made.keep_rows("one", 0, 3, rows)
    if seal:
        made.seal(3)


def command(*arguments: str) -> tuple[int, str]:
    """Run `engine archive`; the exit code, and what was printed or raised."""
    done = CliRunner().invoke(cli, ["archive", *arguments])
    raised = done.exception if isinstance(done.exception, EngineError) else ""
    return done.exit_code, f"{done.output}{raised}"


def test_a_harvest_packed_later_and_elsewhere_has_the_same_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = []
    for place in ("here", "there"):
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / place))
        harvest()
        for at, file in enumerate(sorted(folder_of(NAME).iterdir())):
            os.utime(file, (at, 10**9 * (1 + (place == "there"))))
            file.chmod(0o600 if place == "there" else 0o644)
        assert command("--out", str(tmp_path / f"out-{place}"))[0] == 0
        made.append((tmp_path / f"out-{place}" / f"{NAME}.zip").read_bytes())
    assert made[0] == made[1]


def test_a_zip_holds_the_texts_the_arrays_and_the_seal(tmp_path: Path) -> None:
    harvest()
    assert command("--out", str(tmp_path / "out"), NAME)[0] == 0
    with zipfile.ZipFile(tmp_path / "out" / f"{NAME}.zip") as found:
        names = ["hidden.npy", "plan.json", "texts-000.json", "token.npy", "index.json"]
        assert found.namelist() == [f"{NAME}/{name}" for name in names]
        assert found.testzip() is None
        for name in names:
            assert found.read(f"{NAME}/{name}") == (folder_of(NAME) / name).read_bytes()


def test_sums_are_those_of_coreutils_and_those_of_other_zips_stay(tmp_path: Path) -> None:
    harvest()
    harvest("other-primary")
    out = tmp_path / "out"
    for name in ("other-primary", NAME):
        command("--out", str(out), name)
    done = subprocess.run(
        ["sha256sum", "-c", str(archive.SUMS)], cwd=out, capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines() == ["other-primary.zip: OK", f"{NAME}.zip: OK"]


def spoil(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


@pytest.mark.parametrize(
    ("fault", "code", "word"),
    [
        (lambda zip_: None, 0, "same"),
        (spoil, 1, "changed"),
        (Path.unlink, 1, "missing"),
        (lambda zip_: zip_.with_name("more.zip").write_bytes(b""), 1, "not listed"),
    ],
    ids=["as it was", "one bit", "gone", "one more"],
)
def test_a_copy_is_verified_zip_by_zip(
    tmp_path: Path, fault: Callable[[Path], object], code: int, word: str
) -> None:
    harvest()
    command("--out", str(tmp_path / "out"))
    fault(tmp_path / "out" / f"{NAME}.zip")
    found, printed = command("--verify", str(tmp_path / "out"))
    assert (found, printed.splitlines()[-2].startswith(word)) == (code, True), printed


def test_nothing_committed_verifies_nothing(tmp_path: Path) -> None:
    assert command("--verify", str(tmp_path)) == (1, "0 of 0 are as committed.\n")


def test_a_harvest_that_is_not_what_was_harvested_is_not_packed(tmp_path: Path) -> None:
    harvest()
    spoil(folder_of(NAME) / "hidden.npy")
    code, printed = command("--out", str(tmp_path / "out"))
    assert code == 1 and "hidden.npy: is not what was harvested" in printed
    assert list((tmp_path / "out").iterdir()) == [] and not archive.SUMS.exists()


def test_what_is_unfinished_or_rehearsed_is_left_out_and_refused_by_name(tmp_path: Path) -> None:
    harvest("begun-primary", seal=False)
    harvest("tiny-primary-quick")
    assert archive.finished() == []
    assert "holds no finished harvest" in command("--out", str(tmp_path / "out"))[1]
    assert "was interrupted" in command("--out", str(tmp_path / "out"), "begun-primary")[1]


@pytest.mark.parametrize("arguments", [[], ["--out", "a", "--verify", "."], ["--verify", ".", "name"]])
def test_to_pack_and_to_verify_are_two_things(arguments: list[str]) -> None:
    assert command(*arguments)[0] == 2


def test_a_list_of_another_form_is_refused_at_its_line(tmp_path: Path) -> None:
    archive.SUMS.parent.mkdir()
    archive.SUMS.write_text(f"{'a' * 64}  one.zip\nnonsense\n")
    with pytest.raises(BadData, match=r"SHA256SUMS:2: 'nonsense' is no sum and name"):
        archive.read_sums(archive.SUMS)
