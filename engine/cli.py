"""The `engine` command: parse, call, print, return. Heavy imports happen where they are used."""

from __future__ import annotations

import json
import os
import sys
from functools import partial
from pathlib import Path
from typing import Any

import click

from engine.coding.amber_cli import amber
from engine.coding.census_cli import census
from engine.coding.cli import lockstep
from engine.contract.errors import EngineError, UnknownName
from engine.lab_cli import lab
from engine.spill.cli import spill

ROOT = Path(__file__).resolve().parents[1]


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def cli() -> None:
    """Experiments on what speculative decoding gives away, and the payloads they emit."""


@cli.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option(
    "--names",
    type=click.Choice(["built", "committed", "card"]),
    help="Print only names: what runs here, has payloads, or needs a graphics card.",
)
def list_(as_json: bool, names: str | None) -> None:
    """Show the experiments and models, and what is present."""
    from engine.decode.registry import entries
    from engine.experiments.names import EXPERIMENTS

    models = [
        {"name": m.name, "title": m.title, "role": m.role, "present": m.present} for m in entries().values()
    ]
    experiments: list[dict[str, Any]] = [
        {
            "name": row.name,
            "record": row.record,
            "question": row.question,
            "state": row.state,
            "models": list(row.models),
            "minutes": row.minutes,
            "card": row.card,
            "payloads": {name: (ROOT / "payloads" / f"{name}.json").is_file() for name in row.payloads},
        }
        for row in EXPERIMENTS
    ]
    if names is not None:
        for row, shown in zip(EXPERIMENTS, experiments, strict=True):
            there = all(shown["payloads"].values())
            here = row.built and row.card == (names == "card")
            if here and (there or names != "committed"):
                click.echo(row.name)
        return
    if as_json:
        click.echo(json.dumps({"experiments": experiments, "models": models}, indent=2))
        return
    click.echo("Models")
    for model in models:
        state = "present" if model["present"] else f"absent (engine fetch {model['name']})"
        click.echo(f"  {model['name']:<16} {model['role']:<8} {state:<40} {model['title']}")
    click.echo("Experiments")
    for row, shown in zip(EXPERIMENTS, experiments, strict=True):
        click.echo(f"  {row.name:<24} {row.needs}; {row.question}")
        for name, there in shown["payloads"].items():
            click.echo(f"    {'committed' if there else 'not run  '}  {name}")


@cli.command()
@click.option("--out", type=click.Path(path_type=Path), help="Also write experiments.json into this folder.")
def experiments(out: Path | None) -> None:
    """Print the list of experiments that the record is held against, as JSON."""
    from engine.experiments import names

    if out is not None:
        from engine.contract.store import write_text

        _writable(out)
        write_text(out / names.FILE, names.published())
    click.echo(names.published(), nl=False)


@cli.command()
@click.argument("model")
def fetch(model: str) -> None:
    """Download or train MODEL into the user cache; resumes where it was stopped."""
    from engine.decode.fetch import fetch as get

    found = get(model)
    click.echo(f"{found.name} is present in {found.folder}")


@cli.command()
@click.argument("name")
@click.option(
    "--out", type=click.Path(path_type=Path), default=ROOT / "payloads", help="Folder for the payloads."
)
@click.option("--quick", is_flag=True, help="Only rehearse it, in a minute or two; never published.")
@click.option("--on", "where", type=click.Choice(["ray"]), help="Spread its tasks over a Ray cluster.")
@click.option("--threads", type=click.IntRange(min=1), help="Threads of each task there.")
def run(name: str, out: Path, quick: bool, where: str | None, threads: int | None) -> None:
    """Run experiment NAME and write its payloads; a run that was killed goes on."""
    from engine.experiments.names import find
    from engine.experiments.table import load, rehearsal
    from engine.run import in_turn
    from engine.run import run as execute

    row = find(name)
    if threads is not None and where is None:
        raise click.UsageError("--threads goes with --on; here, set OMP_NUM_THREADS.")
    if quick and out.resolve() == (ROOT / "payloads").resolve():
        raise click.UsageError("A rehearsal goes elsewhere than into the record: give --out.")
    _writable(out)
    make, executor = partial(rehearsal if quick else load, row), in_turn
    if where == "ray":
        from engine.cluster import OnRay

        executor = OnRay(make, row.apart, threads)
    for path in execute(row.name, make(), out, executor):
        click.echo(f"wrote {path}")


@cli.command()
@click.argument("names", nargs=-1)
def check(names: tuple[str, ...]) -> None:
    """Recompute every number of payloads or findings NAMES (all of them by default) from committed state."""
    from engine.check import main as recompute

    sys.exit(recompute(names))


@cli.command()
@click.argument("made", type=click.Path(path_type=Path, exists=True, file_okay=False))
def compare(made: Path) -> None:
    """Compare payloads re-made in folder MADE with the committed ones, number by number."""
    from engine.compare import main as judge

    sys.exit(judge(made))


@cli.command()
@click.argument("names", nargs=-1)
@click.option(
    "--out", type=click.Path(path_type=Path), help="Also write critic/RECORD.json into this folder."
)
@click.option(
    "--root",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    default=ROOT,
    help="Folder that holds findings/ and payloads/.",
)
def critic(names: tuple[str, ...], out: Path | None, root: Path) -> None:
    """Judge the labels of records or findings NAMES (all by default) again, with other statistics."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # products this small only wait for each other
    from engine.critic.run import main as judge

    if out is not None:
        _writable(out)
    sys.exit(judge(root, names, out))


@cli.command(context_settings={"ignore_unknown_options": True, "help_option_names": []})
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def bootstrap(arguments: tuple[str, ...]) -> None:
    """Intervals of a column of a CSV file, clustered; `engine bootstrap --help` tells more."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # products this small only wait for each other
    from engine.stats.command import main as judge

    sys.exit(judge(arguments))


@cli.command()
@click.argument("names", nargs=-1)
@click.option("--out", type=click.Path(path_type=Path), help="Folder for the zips.")
@click.option(
    "--verify",
    "copy",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="Check the zips in a folder against the committed sums, and pack nothing.",
)
def archive(names: tuple[str, ...], out: Path | None, copy: Path | None) -> None:
    """Pack raw harvests, which git leaves out: NAMES, or all that are finished; state their sums."""
    from engine import archive as archives

    if (out is None) == (copy is None) or (copy and names):
        raise click.UsageError("Give --out with the harvests to pack, or --verify alone.")
    if copy is not None:
        found = archives.verify(copy, archives.read_sums(archives.SUMS))
        for each in found:
            click.echo(f"{each.word:<10} {each.name}")
        click.echo(f"{sum(each.good for each in found)} of {len(found)} are as committed.")
        sys.exit(0 if found and all(each.good for each in found) else 1)
    assert out is not None
    _writable(out)
    paths = [archives.pack(name, out) for name in archives.require(names)]
    archives.state(paths, archives.SUMS)
    for path in paths:
        click.echo(f"wrote {path}")
    click.echo(f"Commit {archives.SUMS}.")


@cli.command()
def schema() -> None:
    """Print the JSON Schema of payloads."""
    from engine.contract.payload import json_schema

    click.echo(json.dumps(json_schema(), indent=2, ensure_ascii=False))


cli.add_command(lockstep)
cli.add_command(amber)
cli.add_command(census)
cli.add_command(lab)
cli.add_command(spill)


def _writable(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / ".writable"
        probe.touch()
        probe.unlink()
    except OSError as error:
        click.echo(
            f"engine: {folder}: cannot be written: {error.strerror}. Choose another with --out.", err=True
        )
        sys.exit(2)


def main() -> None:
    """Run the command line; a refusal prints its place and remedy and exits 1."""
    try:
        cli(standalone_mode=True)
    except EngineError as error:
        click.echo(f"engine: {error}", err=True)
        sys.exit(2 if isinstance(error, UnknownName) else 1)
    except ModuleNotFoundError as error:
        if (error.name or "engine").partition(".")[0] == "engine":
            raise
        click.echo(f"engine: {error.name} is not installed. Run: pip install -e '.[engine]'", err=True)
        sys.exit(2)
    except KeyboardInterrupt:
        click.echo("engine: stopped; what was finished is kept, start it again to go on.", err=True)
        sys.exit(1)
