"""`engine lab`: the arithmetic of drafting on the command line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from engine import lab as model
from engine.contract.errors import BadData, EngineError

SCHEMA = Path(__file__).parent / "lab_schema.json"
FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print the whole report as JSON.")
@click.option("--schema", is_flag=True, help="Print the JSON Schema of reports and notebooks.")
@click.option("--mode", type=click.Choice(model.MODES), help="How acceptance varies.")
@click.option("--meaning", type=click.Choice(model.MEANINGS), help="What the given acceptance is a share of.")
@click.option("--draft-length", type=float, help="Tokens drafted a round.")
@click.option("--acceptance", type=float, help="Acceptance, under --mode constant.")
@click.option("--rates", help="Acceptance by position, under --mode positions, with commas between.")
@click.option("--paste", type=FILE, help="A file with vLLM's metrics or log, AIPerf's record, or a list.")
@click.option("--kept", type=float, help="First shape of the Beta law, under --mode spread.")
@click.option("--refused", type=float, help="Second shape of the Beta law.")
@click.option("--prompt-rounds", type=float, help="Rounds a prompt, under --mode spread.")
@click.option("--draft", type=float, help="Milliseconds a drafted token.")
@click.option("--verify", type=float, help="Milliseconds a check.")
@click.option("--growth", type=float, help="Milliseconds that each checked token adds to a check.")
@click.option("--plain", type=float, help="Milliseconds a token without a draft.")
@click.option("--rounds", type=float, help="Rounds simulated.")
@click.option("--seed", type=float, help="Seed of the simulation.")
def lab(
    as_json: bool, schema: bool, rates: str | None, paste: Path | None, **options: float | str | None
) -> None:
    """Say when a draft model helps and when it hurts, by formula and by simulation."""
    if schema:
        click.echo(SCHEMA.read_text("utf-8"), nl=False)
        return
    given: dict[str, Any] = {name: value for name, value in options.items() if value is not None}
    try:
        given = {**_listed(rates, paste), **given}
        found = model.report(given)
    except model.Unusable as unusable:
        raise _refusal(unusable, paste) from None
    click.echo(model.text(found) if as_json else _told(found), nl=False)


def _listed(rates: str | None, paste: Path | None) -> dict[str, Any]:
    """Settings that a list or a pasted file brings; options that are given go before them."""
    if rates is None and paste is None:
        return {}
    if rates is not None and paste is not None:
        raise click.UsageError("Give --rates or --paste, not both.")
    try:
        read = model.pasted(rates if paste is None else paste.read_text("utf-8"))  # type: ignore[arg-type]
    except UnicodeDecodeError:
        raise BadData(str(paste), "The file is no text in UTF-8.", "Give metrics or a record.") from None
    found = {"mode": "positions", "rates": read["rates"], "draft_length": len(read["rates"])}
    return found if read["meaning"] is None else {**found, "meaning": read["meaning"]}


def _refusal(unusable: model.Unusable, paste: Path | None) -> EngineError:
    field, _, problem = str(unusable).partition(": ")
    place = str(paste) if field == "paste" and paste else f"--{field.replace('_', '-')}"
    return BadData(place, "This cannot be used.", problem)


def _told(found: dict[str, Any]) -> str:
    """The report in a few lines."""
    of = found["interval"]
    interval = f"{of['low']:.3f} to {of['high']:.3f}" if of else "not known: all groups are alike, or one"
    words = {"faster": "faster than without", "slower": "slower than without", "even": "as fast as without"}
    even, best = found["break_even"], found["best"]
    lines = (
        ("expected", f"{found['expected']:.3f} tokens a check"),
        ("observed", f"{found['observed']:.3f} tokens a check ({interval})"),
        ("round", f"{found['round_cost']:.3f} milliseconds"),
        ("speedup", f"{found['speedup']:.3f}, {words[found['verdict']]}"),
        ("break-even", "no acceptance reaches it" if even is None else f"acceptance {even:.3f}"),
        ("best length", f"{best['draft_length']} tokens, speedup {best['speedup']:.3f}"),
    )
    return "".join(f"{name:<12} {value}\n" for name, value in lines)
