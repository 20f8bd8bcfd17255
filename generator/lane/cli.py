"""The commands of findings lane: parse, call, print, return. Exit 0 done, 1 refused, 2 misuse."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import NoReturn

import click

from generator.record.repository import ask, run
from generator.record.root import find_root
from generator.report import text
from generator.report.refusal import Refusal, Refused

_root = click.option(
    "--root",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="The record. Default: the nearest parent that holds findings/.",
)


@click.group()
def lane() -> None:
    """Work on a registered record in one lane: plan, preflight, commit, handoff."""


@lane.command()
@click.argument("paths", metavar="PATH…", nargs=-1, required=True)
@click.option("--why", required=True, help="What the work is for.")
@_root
def plan(paths: tuple[str, ...], why: str, root: Path | None) -> None:
    """Say which registered paths the work will touch, in docs/lane/plan.json."""
    from generator.lane import guard
    from generator.lane import plan as plans

    found = _found(root)
    try:
        made = plans.make(found, paths, why, Path.cwd() if root is None else found)
        plans.write(found, made)
    except plans.Unplannable as unplannable:
        _misuse(str(unplannable))
    except OSError as error:
        _misuse(f"{plans.PATH} cannot be written: {error.strerror}.")
    registered = guard.frozen(found)
    for path in made.paths:
        free = not path.endswith("/") and path not in registered and not path.startswith(guard.BARS)
        click.echo(f"  {path}{'  (not registered; needs no plan)' if free else ''}")
    click.echo(f"Planned in {plans.PATH}; findings lane commit takes it along.")


@lane.command()
@_root
def preflight(root: Path | None) -> None:
    """Run the gate, the critic where there is one, and the check."""
    from generator.lane import preflight as steps

    passed = True
    for step in steps.run(_found(root)):
        for line in step.said:
            click.echo(line)
        click.echo(f"{step.name}: {'passed' if step.passed else 'FAILED'}, {step.outcome}")
        passed = passed and step.passed
    sys.exit(0 if passed else 1)


@lane.command()
@_root
def guard(root: Path | None) -> None:
    """Refuse the commit that is being made where it touches registered paths outside the plan."""
    _finish(_guarded(_found(root)))


@lane.command()
@click.option("-m", "--message", required=True, help="Why, as a sentence.")
@_root
def commit(message: str, root: Path | None) -> None:
    """Commit what is staged, and the plan with it, unless it touches registered paths outside the plan."""
    from generator.lane.plan import PATH

    found = _found(root)
    if (found / PATH).is_file():
        ask(found, "add", "--", PATH)
    refusals = _guarded(found)
    if refusals:
        _finish(refusals)
    sys.exit(1 if run(found, "commit", "-m", message) else 0)


@lane.command()
@_root
def install(root: Path | None) -> None:
    """Have git run the guard before each commit in this clone; a foreign hook stays as it is."""
    from generator.lane import hook

    try:
        click.echo(f"{hook.install(_found(root))} runs findings lane guard before each commit.")
    except hook.Foreign as foreign:
        click.echo(str(foreign), err=True)
        sys.exit(1)
    except OSError as error:
        _misuse(f"{error.filename} cannot be written: {error.strerror}.")


@lane.command()
@click.option("--decision", "decisions", multiple=True, metavar="TEXT", help="What was decided; repeatable.")
@click.option("--next", "steps", multiple=True, metavar="TEXT", help="What is next; repeatable.")
@_root
def handoff(decisions: tuple[str, ...], steps: tuple[str, ...], root: Path | None) -> None:
    """Write decisions and next steps to docs/lane/, dated, and close the plan."""
    from generator.lane import handoff as handoffs
    from generator.lane import plan as plans

    found = _found(root)
    if not any(each.strip() for each in (*decisions, *steps)):
        _misuse("Say what was decided with --decision, or what is next with --next.")
    file = found / plans.PATH
    try:
        planned = plans.parse(file.read_bytes() if file.is_file() else b"")
        written = handoffs.write(found, planned, decisions, steps)
    except Refused as refused:
        _finish(refused.refusals)
    except OSError as error:
        _misuse(f"{plans.FOLDER} cannot be written: {error.strerror}.")
    click.echo(f"Written: {written.relative_to(found)}. The plan is closed; commit {plans.FOLDER}.")


def _guarded(root: Path) -> tuple[Refusal, ...]:
    """What stands against the commit that is staged."""
    from generator.lane import guard as guards

    try:
        return tuple(guards.check(root))
    except Refused as refused:
        return refused.refusals
    except guards.NoRepository as nowhere:
        _misuse(str(nowhere))


def _found(root: Path | None) -> Path:
    """The record's folder, from the option or from where the command was called."""
    found = root or find_root(Path.cwd())
    if found is None or not (found / "findings").is_dir():
        _misuse("There is no record here: no folder findings/ in this folder or above it.")
    return found.resolve()


def _finish(refusals: Iterable[Refusal]) -> NoReturn:
    """Print refusals, and end with 1 where there are any."""
    found = sorted(set(refusals))
    for each in found:
        click.echo(text.line(each))
    sys.exit(1 if found else 0)


def _misuse(message: str) -> NoReturn:
    click.echo(f"Error: {message}", err=True)
    sys.exit(2)
