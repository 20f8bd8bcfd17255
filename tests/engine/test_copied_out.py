"""Each tool works from an empty folder with the files its page names."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NEEDED = ("engine/contract/errors.py", "engine/contract/seeds.py", "engine/decode/verifier.py")
AMBER = """
import hashlib
import numpy as np
from engine.coding import amber, amber_format
from engine.coding.amber import Settings


class Bigrams:
    sha256, vocabulary, first = hashlib.sha256(b"bigrams").digest(), 257, 256

    def __init__(self):
        self.table = np.random.default_rng(1).normal(size=(257, 257)).astype(np.float32)

    def begin(self, rows, capacity):
        return self

    def step(self, tokens):
        return self.table[list(tokens)]


class Bytes:
    sha256 = hashlib.sha256(b"bytes").digest()

    def tokens(self, text):
        return list(text.encode())

    def text(self, tokens):
        return bytes(tokens).decode()


data = b"the cat sat on the mat. " * 9 + bytes(range(200, 256))
for coder in ("ranks", "lockstep"):
    packed = amber_format.dump(amber.pack(data, Bigrams(), Bytes(), Settings(coder, rows=3, piece=40)))
    print(amber.unpack(amber_format.parse(packed), Bigrams(), Bytes()) == data)
"""
PROGRAMS = {
    "verifier": (
        NEEDED,
        "import numpy as np\nfrom engine.decode.verifier import *\n"
        "print(verify(Proposal((1,), np.eye(2)[[1]]), np.eye(2)[[1, 0]], Draws(1, 'x')))",
        "Verdict(accepted=1, token=0)\n",
    ),
    "tree": (
        (*NEEDED, "engine/decode/tree.py"),
        "import numpy as np\nfrom engine.decode.tree import *\n"
        "print(verify_tree_greedy(Tree((1, 0), (ROOT, 0)), np.array([1, 1, 0])))",
        "Path(nodes=(0,), token=1)\n",
    ),
    "testbed": (
        (*NEEDED, "engine/observe/testbed.py"),
        "from engine.observe.testbed import World\nprint(round(World.with_margin(0.01).margin, 9))",
        "0.01\n",
    ),
    "amber": (
        (
            *(
                f"engine/coding/{name}.py"
                for name in ("amber", "amber_format", "amber_journal", "amber_ranks")
            ),
            *(f"engine/coding/{name}.py" for name in ("amber_rows", "amber_symbols", "canary", "chunks")),
            *(f"engine/coding/{name}.py" for name in ("frequencies", "lockstep", "predictor")),
            *(f"engine/contract/{name}.py" for name in ("errors", "payload", "store")),
        ),
        AMBER,
        "True\nTrue\n",
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_tool_works_alone_in_an_empty_folder(name: str, tmp_path: Path) -> None:
    files, program, shown = PROGRAMS[name]
    page = (ROOT / f"site_src/tools/{'verifier' if name == 'tree' else name}.md").read_text("utf-8")
    for file in files:
        assert file in page
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / file, tmp_path / file)
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True)
    assert done.stdout == shown, done.stderr


@pytest.mark.model
def test_the_census_works_with_the_three_folders_its_page_names(tmp_path: Path) -> None:
    page = (ROOT / "site_src/tools/census.md").read_text("utf-8")
    for folder in ("engine/coding", "engine/contract", "engine/decode"):
        assert f"`{folder}`" in page
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__"))
    program = "from engine.coding.census_cli import census; census(['--model', 'smollm2', '--json'])"
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True)
    assert set(json.loads(done.stdout)) == {"baseline"}, done.stderr
