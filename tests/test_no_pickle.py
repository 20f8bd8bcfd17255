"""No pickle is written or read anywhere in the repository."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
MODULES = {"pickle", "dill", "cloudpickle", "joblib", "shelve", "marshal"}
CALLS = {("torch", "load"), ("torch", "save"), ("pandas", "read_pickle"), ("pd", "read_pickle")}


def found(text: str) -> Iterator[str]:
    """Imports and calls that would write or read pickles."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names if each.name.partition(".")[0] in MODULES)
        elif isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] in MODULES:
            yield str(node.module)
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            if (node.value.id, node.attr) in CALLS:
                yield f"{node.value.id}.{node.attr}"
        elif isinstance(node, ast.keyword) and node.arg == "allow_pickle" and not _is_false(node.value):
            yield "allow_pickle"


def _is_false(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is False


def test_no_code_pickles() -> None:
    files = [
        file for name in ("engine", "generator", "benchmarks", "docs") for file in (ROOT / name).rglob("*.py")
    ]
    assert len(files) > 200
    assert [(file.name, each) for file in files for each in found(file.read_text("utf-8"))] == []


@pytest.mark.parametrize(
    "text", ["import pickle", "from joblib import load", "torch.load(a)", "np.load(a, allow_pickle=True)"]
)
def test_each_way_to_pickle_is_seen(text: str) -> None:
    assert list(found(text))
