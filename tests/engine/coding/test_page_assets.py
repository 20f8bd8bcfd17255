"""What the page loads is made from the second implementation and the vectors, and from nothing else."""

from __future__ import annotations

import json
import re

import make_page_assets
import pytest

from engine.coding import conformance


@pytest.mark.parametrize("name", ["lockstep-classic.js", "lockstep-vectors.js"])
def test_the_committed_assets_are_those_that_the_script_makes(name: str) -> None:
    committed = (make_page_assets.ASSETS / name).read_text(encoding="utf-8")
    assert committed == make_page_assets.assets()[name], "run tests/engine/coding/make_page_assets.py"


def test_the_vectors_are_all_there() -> None:
    text = make_page_assets.assets()["lockstep-vectors.js"]
    body = text.split("window.lockstepVectors = ", 1)[1].rstrip().removesuffix(";")
    assert json.loads(body) == conformance.vectors()


def test_the_classic_script_is_the_module_but_for_its_exports() -> None:
    module = (make_page_assets.ASSETS / "lockstep.mjs").read_text(encoding="utf-8")
    made = make_page_assets.classic(module)
    assert re.sub(r"^export ", "", module, flags=re.MULTILINE) in made
    assert not re.search(r"^(import|export)\b", made, re.MULTILINE)
    assert "encode, decode" in made and "judge" in made.rsplit("return", 1)[1]
