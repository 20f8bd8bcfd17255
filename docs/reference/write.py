"""Writes the reference that the site shows as it is: commands, payload fields, refusal codes, layers, Python.

python docs/reference/write.py from the root of the repository; a test compares what it would write.
"""

from __future__ import annotations

import ast
import json
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from shlex import join
from shutil import copy
from tempfile import TemporaryDirectory
from typing import Any

import click
from click.testing import CliRunner

from engine.cli import cli as engine
from generator.cli import main as findings
from generator.report.refusal import CODES

sys.path.insert(0, str(Path(__file__).parent))
import python_api

ROOT = Path(__file__).resolve().parents[2]
FOLDER = "docs/reference"
WIDTH = 96
FILES = ROOT / "tests/generator/importing/files"
IMPORTS = {
    "lm-eval": "lm_eval.json --unit *=share --unit original=prompts --unit effective=prompts",
    "inspect": "inspect.json --unit accuracy=share",
    "table": "table.csv --key model --key task --unit accuracy=share --unit latency_ms=ms",
    "log": "metrics.jsonl --key step --unit *=nats",
}
"""Files and options of the imports that the tutorial shows, by name."""


def texts() -> dict[str, str]:
    """Every text of the reference by its path."""
    made = {
        "findings.txt": "\n".join(_commands(findings, "findings")),
        "engine.txt": "\n".join(_commands(engine, "engine")),
        "payload.txt": "\n".join(_payload()),
        "refusals.txt": "\n".join(f"{code:<24} {meaning}" for code, meaning in CODES.items()) + "\n",
        "layers.txt": "\n".join(_layers()),
        **python_api.texts(),
        **{f"import-{name}.txt": _imported(given) for name, given in IMPORTS.items()},
    }
    return {f"{FOLDER}/{name}": text for name, text in made.items()}


def _commands(command: click.Command, name: str) -> Iterator[str]:
    """The help of a command and of all below it."""
    context = click.Context(command, info_name=name, terminal_width=WIDTH, max_content_width=WIDTH)
    yield command.get_help(context) + "\n"
    if isinstance(command, click.Group):
        for each in command.list_commands(context):
            below = command.get_command(context, each)
            if below is not None and not below.hidden:
                yield from _commands(below, f"{name} {each}")


def _payload() -> Iterator[str]:
    """Each definition of the schema with its fields: name, whether it must be there, what it is."""
    path = ROOT / "generator/record/schema/payload.schema.json"
    schema = json.loads(path.read_text("utf-8"))
    kinds = {each.rpartition("/")[2]: key for key, each in schema["discriminator"]["mapping"].items()}
    for name, definition in sorted(schema["$defs"].items(), key=lambda item: (item[0] not in kinds, item[0])):
        yield f"{name}{f' ({kinds[name]})' if name in kinds else ''}: {definition.get('description', '')}"
        required = definition.get("required", ())
        for field, about in definition.get("properties", {}).items():
            need = "required" if field in required else "optional"
            said = " ".join(about.get("description", "").split())
            yield f"  {field:<16} {need}  {_type(about):<24} {said}".rstrip()
        for pattern, about in definition.get("patternProperties", {}).items():
            yield f"  {pattern:<16} any       {_type(about)}"
        yield ""


def _type(about: dict[str, Any]) -> str:
    if "$ref" in about:
        return str(about["$ref"].rpartition("/")[2])
    if "anyOf" in about:
        return " or ".join(dict.fromkeys(map(_type, about["anyOf"])))
    if about.get("type") == "array":
        return f"list of {_type(about.get('items', {}))}"
    return str(about.get("type", "text" if "const" in about else "any"))


def _layers() -> Iterator[str]:
    """The layers that are held in CI, the highest first, with what each package is for."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    for contract in project["tool"]["importlinter"]["contracts"]:
        yield contract["name"]
        for layer in contract.get("layers", ()):
            for module in layer.split(" | "):
                yield f"  {module:<24} {_purpose(module)}".rstrip()
            yield "  —"
    yield ""


def _purpose(module: str) -> str:
    path = ROOT / module.replace(".", "/")
    file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    said = ast.get_docstring(ast.parse(file.read_text("utf-8"))) if file.is_file() else ""
    return (said or "").partition("\n")[0]


def _imported(line: str) -> str:
    """What an import into an empty record prints, after its command line."""
    name, *options = line.split()
    with TemporaryDirectory() as folder:
        root = Path(folder)
        (root / "findings").mkdir()
        copy(FILES / name, root)
        arguments = ["import", "--root", str(root), str(root / name), *options]
        printed = CliRunner().invoke(findings, arguments, catch_exceptions=False).output
    return f"$ {join(['findings', 'import', name, *options])}\n{printed}"


if __name__ == "__main__":
    for path, text in texts().items():
        (ROOT / path).parent.mkdir(exist_ok=True)
        (ROOT / path).write_text(text, "utf-8")
