"""`engine bootstrap` reads a table, says what it refuses and where, and works from an empty folder."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from engine.contract.seeds import Stream
from engine.stats.bootstrap import COPIED_WITH, difference, mean, ratio, resample_weights
from engine.stats.command import main

ROOT = Path(__file__).parents[3]
HITS, TRIALS, OTHER = [3, 5, 2, 8, 6, 4], [9, 9, 8, 11, 10, 9], [2, 5, 1, 8, 5, 2]


def table(folder: Path, header: str, rows: list[str]) -> str:
    """A CSV file in the folder."""
    path = folder / "t.csv"
    path.write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")
    return str(path)


@pytest.fixture
def counts(tmp_path: Path) -> str:
    """Six clusters, the first of them in two rows."""
    rows = [f"{c},{h},{n},{o}" for c, h, n, o in zip("abcdef", HITS, TRIALS, OTHER, strict=True)]
    return table(tmp_path, "who,hits,n,other", ["a,1,4,1", "a,2,5,1", *rows[1:]])


WEIGHTS = resample_weights(6, 10_000, Stream(1, "bootstrap"), fewest=2)
H, N, O = (np.array(each, dtype=np.int64) for each in (HITS, TRIALS, OTHER))  # noqa: E741
ASKED = {
    "a ratio": (["--over", "n"], ratio(H, N, WEIGHTS, 0.95)),
    "a mean": ([], mean(H, WEIGHTS, 0.95)),
    "a paired difference": (["--over", "n", "--minus", "other"], difference((H, N), (O, N), WEIGHTS, 0.95)),
}


@pytest.mark.parametrize("name", ASKED)
def test_a_table_gives_the_intervals_of_its_cluster_sums(
    name: str, counts: str, capsys: pytest.CaptureFixture[str]
) -> None:
    options, wanted = ASKED[name]
    assert main([counts, "--value", "hits", "--cluster", "who", "--json", *options]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert (shown["value"], shown["clusters"]) == (wanted.value, 6)
    found = shown["intervals"]["percentile"]
    assert (found["low"], found["high"]) == (wanted.percentile.low, wanted.percentile.high)


def test_decimals_are_scaled_exactly(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    whole = table(tmp_path, "v", [str(v) for v in HITS])
    main([whole, "--value", "v", "--json"])
    first = json.loads(capsys.readouterr().out)
    small = table(tmp_path, "v", [f"{v / 1000}" for v in HITS])
    main([small, "--value", "v", "--json"])
    assert json.loads(capsys.readouterr().out)["value"] == pytest.approx(first["value"] / 1000, rel=1e-15)


def test_few_clusters_are_judged_with_a_note(counts: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([counts, "--value", "hits", "--over", "n", "--cluster", "who"]) == 0
    assert "runs narrow" in capsys.readouterr().out


REFUSED = {
    "one cluster": ("v", ["3"], ["--value", "v"], 1, "1 clusters: are too few: at least 2"),
    "no rows": ("v", [], ["--value", "v"], 1, "0 clusters: are too few"),
    "NaN": ("v", ["3", "nan", "4"], ["--value", "v"], 1, "t.csv:3, column 'v': 'nan' is no finite number"),
    "an empty cell": ("v,w", ["3,1", ",2"], ["--value", "v"], 1, "t.csv:3, column 'v'"),
    "a word": ("v", ["3", "many"], ["--value", "v"], 1, "'many' is no finite number"),
    "infinity": ("v", ["3", "inf"], ["--value", "v"], 1, "is no finite number"),
    "too many digits": ("v", ["3", "0.123456789012345678"], ["--value", "v"], 1, "too"),
    "clusters that do not differ": ("v", ["3", "3", "3"], ["--value", "v"], 1, "an interval means nothing"),
    "a nameless cluster": ("c,v", ["a,3", ",4"], ["--value", "v", "--cluster", "c"], 1, "names no cluster"),
    "no such column": ("v", ["3", "4"], ["--value", "w"], 2, "has no column 'w'. There: v."),
    "a level that is none": ("v", ["3", "4"], ["--value", "v", "--level", "1"], 2, "level in (0, 1)"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_judged_is_refused_with_its_place(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    header, rows, options, code, problem = REFUSED[name]
    assert main([table(tmp_path, header, rows), *options]) == code
    shown = capsys.readouterr()
    assert problem in shown.err and not shown.out


def test_a_file_that_is_not_there_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(tmp_path / "none.csv"), "--value", "v"]) == 1
    assert "none.csv: cannot be read" in capsys.readouterr().err


@pytest.mark.parametrize("left_out", [None, *COPIED_WITH])
def test_it_works_alone_with_what_it_says_it_needs_and_with_nothing_less(
    left_out: str | None, tmp_path: Path
) -> None:
    for name in ("engine/stats/bootstrap.py", *COPIED_WITH):
        if name != left_out:
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, tmp_path / name)
    file = table(tmp_path, "v", ["1", "2", "4"])
    command = [sys.executable, "-W", "error", "-m", "engine.stats.bootstrap", file, "--value", "v"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode == 0) == (left_out is None), done.stderr
    assert left_out is not None or done.stdout.startswith("value             2.33333\n")
