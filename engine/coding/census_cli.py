"""`engine census`: does a model's ranking of tokens repeat here?"""

from __future__ import annotations

import json
import os
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from engine.coding.census import TORCH, Changes, Reading, Setting, compare, read, settings
from engine.contract.errors import BadData

PIECE = 1024
"""Bytes of a text that is read at once."""


@click.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path), required=False)
@click.option("--model", default="smollm2-draft", show_default=True, help="Whose ranking.")
@click.option("--in", "names", multiple=True, help="Only these environments; all by default.")
@click.option(
    "--rows", type=click.IntRange(1, 512), default=25, show_default=True, help="Texts side by side."
)
@click.option("--threads", type=click.IntRange(1, 512), default=2, show_default=True, help="Of the baseline.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def census(
    file: Path | None, model: str, names: tuple[str, ...], rows: int, threads: int, as_json: bool
) -> None:
    """Rank the tokens of FILE in one environment after another, and say what changes.

    Without FILE only the canary is told: a digest of the ranking of a fixed text, which others can compare.
    """
    baseline = Setting(rows=rows, threads=threads)
    texts = _texts(file, model)
    known = settings(baseline, os.environ.get(TORCH))
    unknown = sorted(set(names) - set(known))
    if unknown:
        raise click.BadParameter(f"{unknown[0]} is unknown; known: {', '.join(known)}.", param_hint="--in")
    before = read(model, baseline, texts)
    lines = {"baseline": _canary(before)}
    for name in (names or tuple(known)) if texts else names:
        lines[name] = _line(before, model, known[name], texts)
    click.echo(json.dumps(lines, indent=2) if as_json else "\n".join(_row(*each) for each in lines.items()))


def _texts(file: Path | None, model: str) -> list[list[int]]:
    from engine.coding.chunks import chunks
    from engine.coding.llama_predictor import fetched

    tokenizer = fetched(model)[1]
    data = file.read_bytes() if file else b""
    cut = [list(chunk.tokens) for chunk in chunks(data, tokenizer, PIECE) if chunk.tokens]
    if file and not cut:
        raise BadData(str(file), "holds no text that the tokenizer gives back.", "Give a text in UTF-8.")
    return cut


def _canary(reading: Reading) -> dict[str, Any]:
    return {"canary": reading.canary, "environment": reading.environment["words"]}


def _line(before: Reading, model: str, setting: Setting, texts: list[list[int]]) -> dict[str, Any]:
    try:
        after = read(model, setting, texts)
    except BadData as error:
        return {"absent": error.problem}
    return _canary(after) | asdict(total(compare(before, after)))


def total(changes: list[Changes]) -> Changes:
    """Counts of all texts together, and the smallest of their smallest margins."""
    return Changes(
        tokens=sum(each.tokens for each in changes),
        flips=sum(each.flips for each in changes),
        moved=sum(each.moved for each in changes),
        smallest=min((each.smallest for each in changes), default=0),
    )


def _row(name: str, line: dict[str, Any]) -> str:
    if "absent" in line:
        return f"{name:<16} not here: {line['absent']}"
    counts = ""
    if "tokens" in line:
        counts = f"{line['flips']:>6} flips {line['moved']:>6} ranks of {line['tokens']} tokens  "
    return f"{name:<16} {counts}canary {line['canary'][:16]}…  {line['environment']}"
