"""The verifier and the testbed work from an empty folder with the files their pages name."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
NEEDED = ("engine/contract/errors.py", "engine/contract/seeds.py", "engine/decode/verifier.py")
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
