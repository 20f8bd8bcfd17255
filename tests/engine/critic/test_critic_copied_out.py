"""The critic works from an empty folder with the folders that its page names, on any record."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]
FOLDERS = ("engine/critic", "engine/contract")
PROGRAM = """
import sys
from pathlib import Path
from engine.critic.run import main
sys.exit(main(Path(sys.argv[1]), ["F-01"], None))
"""


def test_the_critic_judges_a_label_of_a_record_from_a_folder_of_its_own(tmp_path: Path) -> None:
    page = (ROOT / "site_src/adopt.md").read_text("utf-8")
    for folder in FOLDERS:
        assert f"`{folder}`" in page
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__"))
    command = [sys.executable, "-c", PROGRAM, str(ROOT)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "F-01" in done.stdout
    assert str(ROOT / "engine") not in done.stderr
