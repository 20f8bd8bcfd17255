"""The reference that the site shows is what the code says today."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGES = [*(ROOT / "site_src/reference").glob("*.md"), ROOT / "site_src/adopt.md"]
SCRIPT = ROOT / "docs/reference/write.py"


def texts() -> dict[str, str]:
    spec = importlib.util.spec_from_file_location("write_reference", SCRIPT)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    made: dict[str, str] = module.texts()
    return made


MADE = texts()


@pytest.mark.parametrize("path", MADE)
def test_each_text_of_the_reference_is_what_the_code_gives(path: str) -> None:
    written = (ROOT / path).read_text("utf-8")
    assert written == MADE[path], "Write it again: python docs/reference/write.py"


def test_every_text_of_the_reference_is_shown_by_a_page() -> None:
    pages = "".join(file.read_text("utf-8") for file in PAGES)
    assert set(re.findall(r'verbatim "(docs/reference/[^"]+)"', pages)) == set(MADE)


def test_commands_and_codes_are_all_in_it() -> None:
    from generator.cli import main
    from generator.report.refusal import CODES

    for name in main.commands:
        assert f"Usage: findings {name}" in MADE["docs/reference/findings.txt"]
    for code in CODES:
        assert f"{code} " in MADE["docs/reference/refusals.txt"]
