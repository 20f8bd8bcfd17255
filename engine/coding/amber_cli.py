"""`engine amber`: any bytes in, the same bytes out, with a small model on either side."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from engine.coding import amber_format
from engine.coding.cli import FILE, OUT, opened
from engine.contract.errors import BadData

if TYPE_CHECKING:  # torch is loaded by the commands that ask a model
    from engine.coding.amber_journal import Journal

DRAFT = "smollm2-draft"


@click.group()
def amber() -> None:
    """Archive text as a draft model's mistakes; the draft alone gives it back."""


@amber.command()
@click.argument("file", type=FILE)
@click.option(
    "--coder",
    type=click.Choice(amber_format.CODERS),
    required=True,
    help="Tell each token by its rank, or by the draft's probabilities.",
)
@click.option("--out", type=OUT, required=True, help="Where the archive goes.")
@click.option("--model", default=DRAFT, show_default=True, help="The draft.")
@click.option(
    "--rows",
    type=click.IntRange(1, 512),
    default=32,
    show_default=True,
    help="Chunks side by side, here and when it is unpacked.",
)
@click.option("--margins/--no-margins", default=True, show_default=True, help="Keep how near each rank was.")
def pack(file: Path, coder: str, out: Path, model: str, rows: int, margins: bool) -> None:
    """Pack FILE into an archive; a run that was stopped goes on."""
    from engine.coding import amber as archives
    from engine.coding.canary import Environment
    from engine.coding.llama_predictor import fetched

    settings = archives.Settings(cast(amber_format.Coder, coder), rows=rows, margins=margins)
    with opened(file, out) as (source, sink):
        data = source.read()
        predictor, tokenizer = fetched(model)
        key = f"{settings} {predictor.sha256.hex()} {Environment.here()}"
        with _journal(out, data, key) as journal, _bar("packing") as watch:
            packed = amber_format.dump(archives.pack(data, predictor, tokenizer, settings, journal, watch))
        sink.write(packed)
    click.echo(f"wrote {out}: {len(data)} bytes in {len(packed)}")


@amber.command()
@click.argument("file", type=FILE)
@click.option("--out", type=OUT, required=True, help="Where the bytes go.")
@click.option("--model", default=DRAFT, show_default=True, help="The draft that packed it.")
def unpack(file: Path, out: Path, model: str) -> None:
    """Unpack the archive FILE; nothing is written unless all of it comes out right."""
    with opened(file, out) as (source, sink):
        packed = source.read()
        archive = _parsed(file, packed)
        from engine.coding import amber as archives
        from engine.coding.canary import Environment
        from engine.coding.llama_predictor import fetched

        predictor, tokenizer = fetched(model)
        here = str(Environment.here())
        with _placed(file), _journal(out, packed, here) as journal, _bar("unpacking") as watch:
            data = archives.unpack(archive, predictor, tokenizer, journal, watch)
        sink.write(data)
    click.echo(f"wrote {out}: {len(data)} bytes")


@amber.command()
@click.argument("file", type=FILE)
def info(file: Path) -> None:
    """Show what the archive FILE says, once it is found whole; no model is asked."""
    archive = _parsed(file, file.read_bytes())
    head = archive.header
    told = [record for record in archive.records if record.tokens]
    shown = {
        "coder": head.coder,
        "bytes": head.size,
        "chunks": f"{len(archive.records)}, {len(archive.records) - len(told)} of them kept as bytes",
        "tokens": sum(record.tokens for record in told),
        "code": f"{sum(len(record.code) for record in archive.records)} bytes",
        "margins": f"{sum(len(record.margins) for record in archive.records)} bytes",
        "rows": head.rows,
        "guard": f"{head.guard} / 4096 of a logit",
        "model": head.model.hex(),
        "tokenizer": head.tokenizer.hex(),
        "canary": head.canary.hex(),
        "packed by": head.environment,
    }
    for name, value in shown.items():
        click.echo(f"{name:<10} {value}")


def _parsed(file: Path, packed: bytes) -> amber_format.Archive:
    with _placed(file):
        return amber_format.parse(packed)


@contextmanager
def _placed(file: Path) -> Iterator[None]:
    """Refusals of an archive name its file."""
    try:
        yield
    except BadData as error:
        place = error.place.replace("archive", str(file), 1)
        raise BadData(place, error.problem, error.remedy) from None


@contextmanager
def _journal(out: Path, data: bytes, key: str) -> Iterator[Journal]:
    """Kept groups of this work beside its output; they go when it is whole, and stay when it is stopped."""
    from engine.coding.amber_journal import Journal

    whole = f"{key} {hashlib.sha256(data).hexdigest()}"
    journal = Journal(out.with_name(f".{out.name}.part"), whole)
    yield journal
    journal.close()


@contextmanager
def _bar(label: str) -> Iterator[Callable[[int], object]]:
    from tqdm import tqdm

    with tqdm(desc=label, unit=" tokens", disable=None) as bar:
        yield bar.update
