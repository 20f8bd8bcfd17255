"""The source side of the gate against its rivals, on the same Markdown; and how long a large record takes.

Planted are the forms of the table of cases that are plain Markdown; a form counts as caught where a program
reports anything at all in it. Speed is the processor time of whole processes (each runs on one core) on the
READMEs of `false_alarms.toml`.
"""

from __future__ import annotations

import json
import re
import resource
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.metadata import distribution
from pathlib import Path
from statistics import median

from benchmarks import false_alarms, record, rivals
from benchmarks.measure import process, seconds
from benchmarks.section import replace
from generator.selftest.cases import cases

FINDINGS = 1000
ROUNDS = 3
"""Times that each program is timed, by turns."""

CHECKS = 3
NUMERALS = ("untraced-number", "untraced-word")
_TEMPLATE = re.compile(r"\{\{|\}\}|\{%|%\}|\{#")


@dataclass(frozen=True)
class Row:
    """One program: what it caught, and its seconds."""

    name: str
    caught: int
    starting: float
    per_megabyte: float


def forms() -> list[str]:
    """Every refused form of the table that is plain Markdown; templates and ids mean nothing to a rival."""
    return [
        body
        for case in cases("source")
        if case.code in NUMERALS
        for body in case.refused
        if not _TEMPLATE.search(body)
    ]


def prose() -> str:
    """The READMEs of the corpus, all of each, with template marks taken out."""
    packages, _ = false_alarms.judgements()
    texts = (distribution(package.split()[0]).metadata["Description"] for package in packages)
    return _TEMPLATE.sub(" ", "\n\n".join(texts))


def caught_by_us(planted: list[str], folder: Path) -> int:
    """How many forms the source side refuses, each a page of one record that knows no names."""
    names = [f"form-{index}.md" for index in range(len(planted))]
    _record(folder, dict(zip(names, planted, strict=True)))
    report = json.loads(rivals.answer(rivals.ours(folder), folder))
    refused = {each["path"] for each in report["refusals"] if each["code"] in NUMERALS}
    return sum(f"site_src/{name}" in refused for name in names)


def caught_by(tool: rivals.Tool, planted: list[str], folder: Path) -> int:
    """How many forms a rival reports, each a file of its own, so that none hides another."""
    data, caught = _data(folder), 0
    for index, body in enumerate(planted):
        file = folder / f"form-{index}.md"
        file.write_text(body + "\n", "utf-8")
        caught += tool.caught(rivals.answer(tool.command(file, data), folder))
        file.unlink()
    return caught


def rows(folder: Path) -> list[Row]:
    """Ours first, then each rival."""
    planted, text = forms(), prose()
    commands: dict[str, tuple[list[str], list[str]]] = {}
    caught: dict[str, int] = {}
    own = "findings check"
    caught[own] = caught_by_us(planted, folder / "forms")
    empty, full = folder / "empty", folder / "full"
    _record(empty, {"page.md": "Words.\n"})
    _record(full, {"page.md": text})
    commands[own] = (rivals.ours(empty), rivals.ours(full))
    for tool in rivals.tools(rivals.install()):
        place = folder / tool.name.split()[0]
        place.mkdir()
        caught[tool.name] = caught_by(tool, planted, place)
        short, long = place / "short.md", place / "long.md"
        short.write_text("Words.\n", "utf-8")
        long.write_text(text, "utf-8")
        commands[tool.name] = (tool.command(short, _data(place)), tool.command(long, _data(place)))
    times = _timed(commands, folder)
    size = len(text.encode("utf-8")) / 1e6
    return [Row(name, caught[name], start, (whole - start) / size) for name, (start, whole) in times.items()]


def _timed(commands: dict[str, tuple[list[str], list[str]]], folder: Path) -> dict[str, tuple[float, float]]:
    """Medians on a word and on the prose; the programs run by turns."""
    taken: dict[str, tuple[list[float], list[float]]] = {name: ([], []) for name in commands}
    for _ in range(ROUNDS):
        for name, pair in commands.items():
            for command, kept in zip(pair, taken[name], strict=True):
                kept.append(_cost(partial(rivals.answer, command, folder)).processor)
    return {name: (median(short), median(long)) for name, (short, long) in taken.items()}


def _record(root: Path, pages: dict[str, str]) -> None:
    for folder in ("site_src", "findings"):
        (root / folder).mkdir(parents=True)
    for name, text in pages.items():
        (root / "site_src" / name).write_text(text, "utf-8")


def _data(folder: Path) -> Path:
    """Data without a number that any form or README states."""
    file = folder / rivals.DATA
    file.write_text('{"value": 987654.321098}\n', "utf-8")
    return file


@dataclass(frozen=True)
class Cost:
    """Seconds of a piece of work on the wall's clock, and of processor time in its processes."""

    wall: float
    processor: float


def _cost(work: Callable[[], object]) -> Cost:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    wall = seconds(work)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return Cost(wall, after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime)


def checking(folder: Path) -> Cost:
    """Medians of `findings check` on a large record, whole process, cold."""
    root = folder / "large"
    record.write(root, FINDINGS)
    check = process(sys.executable, "-m", "generator", "check", "--root", str(root))
    return _median([_cost(check) for _ in range(CHECKS)])


def verifying(folder: Path) -> tuple[Cost, Cost]:
    """Medians of `findings verify` on the site of that record and of plain mkdocs, numbers typed in."""
    root, plain = folder / "large", folder / "plain"
    record.write_plain(plain, root)
    process(sys.executable, "-m", "generator", "build", "--root", str(root))()
    verify = process(sys.executable, "-m", "generator", "verify", "site", "--root", str(root))
    build = process(sys.executable, "-m", "mkdocs", "build", "-q", "-f", str(plain / "mkdocs.yml"))
    ours, theirs = zip(*((_cost(verify), _cost(build)) for _ in range(CHECKS)), strict=True)
    return _median(ours), _median(theirs)


def _median(costs: Sequence[Cost]) -> Cost:
    return Cost(median(each.wall for each in costs), median(each.processor for each in costs))


def table(measured: list[Row], planted: int, large: Cost, audit: tuple[Cost, Cost]) -> str:
    """What is published."""
    ours, theirs = audit
    lines = [
        f"| program | caught of {planted} planted forms | seconds to start | seconds a megabyte of prose |",
        "|---|---|---|---|",
    ]
    lines += [
        f"| {row.name} | {row.caught} ({100 * row.caught / planted:.0f} %) | {row.starting:.2f} "
        f"| **{row.per_megabyte:.2f}** |"
        for row in measured
    ]
    lines += [
        "",
        f"`findings check` on a record of {FINDINGS} findings with {record.NUMBERS} numbers each, whole "
        f"process: {large.wall:.1f} s, of which {large.processor:.1f} s of processor time. `findings verify` "
        f"on its site: {ours.wall:.1f} s ({ours.processor:.1f} s of processor time), where plain mkdocs "
        f"takes {theirs.wall:.1f} s ({theirs.processor:.1f} s) for the same pages with numbers typed in.",
    ]
    return "\n".join(lines)


def main() -> int:
    """Measure and replace the section of `benchmarks/README.md`."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        made = table(rows(folder), len(forms()), checking(folder), verifying(folder))
    print(made)
    replace("rivals of the gate", made)
    return 0


if __name__ == "__main__":
    sys.exit(main())
