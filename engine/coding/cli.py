"""`engine lockstep`: any bytes in, the same bytes out. The one place where coded bytes meet files."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import BinaryIO, NoReturn

import click

from engine.coding import container
from engine.coding.profiles import AdaptiveBytes, StaticBytes, profile_of
from engine.contract.errors import BadData

LANGUAGE = ("smollm2",)
"""Language models of the registry that may be asked for."""
Tell = Callable[[int], None]
FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
OUT = click.Path(dir_okay=False, path_type=Path)
MODELS = click.Choice(["static", "adaptive", *LANGUAGE])


@click.group()
def lockstep() -> None:
    """Pack files with an integer coder whose bytes are the same on every machine."""


@lockstep.command()
@click.argument("file", type=FILE)
@click.option("--model", type=MODELS, required=True, help="Counts of bytes, or a language model's.")
@click.option("--batch", type=click.IntRange(1, 256), default=32, help="Rows of a language model at a time.")
@click.option("--out", type=OUT, required=True, help="Where the container goes.")
def pack(file: Path, model: str, batch: int, out: Path) -> None:
    """Pack FILE into a container."""
    with opened(file, out) as (source, sink), _watched(source, "packing") as bar:
        profile, watched = _packing(source, model, batch, bar)
        counts = container.pack(watched, sink, profile)
    click.echo(f"wrote {out}: {counts.size} bytes in {out.stat().st_size}")


@lockstep.command()
@click.argument("file", type=FILE)
@click.option("--out", type=OUT, required=True, help="Where the bytes go.")
def unpack(file: Path, out: Path) -> None:
    """Unpack the container FILE; nothing is written unless all of it is whole."""
    try:
        with opened(file, out) as (source, sink), _watched(source, "unpacking") as bar:
            language = container.read_header(source).name in LANGUAGE
            source.seek(0)
            watched = source if language else _Watched(source, bar)
            counts = container.unpack(watched, sink, _language(bar) if language else profile_of)
    except BadData as error:
        raise BadData(str(file), error.problem, error.remedy) from None
    click.echo(f"wrote {out}: {counts.size} bytes")


@lockstep.command()
@click.option("--receipt", "folder", type=click.Path(path_type=Path), help="Also write a payload into it.")
def vectors(folder: Path | None) -> None:
    """Judge the coder by its conformance vectors under this interpreter."""
    from engine.coding import receipt
    from engine.contract import store

    report = receipt.own()
    faults = {name: fault for name, fault in report["faults"].items() if fault}
    for name, fault in faults.items():
        click.echo(f"FAIL {name}: {fault}")
    click.echo(
        f"{len(faults)} of {len(report['faults'])} vectors fail under {report['implementation']} "
        f"{report['version']} on {report['system']}"
    )
    if folder is not None:
        name = f"tools/vectors-{receipt.system(report)}"
        command = ["engine", "lockstep", "vectors", "--receipt", "payloads"]
        store.write(folder / f"{name}.json", receipt.receipt(name, command, {"here": report}))
        click.echo(f"wrote {folder / name}.json")
    sys.exit(1 if faults else 0)


def _packing(
    source: BinaryIO, model: str, batch: int, bar: Tell
) -> tuple[container.Profile, container.Source]:
    """The profile, and the source as it has to be read for the bar to move."""
    if model in LANGUAGE:
        from engine.coding.language import packing

        return packing(model, os.fstat(source.fileno()).st_size, batch, bar), source
    profile = StaticBytes.of(source) if model == "static" else AdaptiveBytes()
    source.seek(0)
    return profile, _Watched(source, bar)


def _language(bar: Tell) -> Callable[[container.Header], container.Profile]:
    from engine.coding.language import unpacking

    return partial(unpacking, tell=bar)


@contextmanager
def opened(file: Path, out: Path) -> Iterator[tuple[BinaryIO, BinaryIO]]:
    """The input, and an output that takes its name only when all of it is written; else exit 2."""
    if out.exists() and out.samefile(file):
        _misuse(f"{out}: would replace its own input. Choose another with --out.")
    temporary = None
    try:
        with file.open("rb") as source:
            handle, name = tempfile.mkstemp(dir=out.parent, prefix=f".{out.name}.")
            temporary = Path(name)
            with os.fdopen(handle, "wb") as sink:
                yield source, sink
                sink.flush()
                os.fsync(sink.fileno())
        temporary.chmod(0o644)
        temporary.replace(out)
    except OSError as error:
        _misuse(f"{out}: cannot be written from {file}: {error.strerror}. Choose another with --out.")
    finally:
        if temporary:
            temporary.unlink(missing_ok=True)


@contextmanager
def _watched(source: BinaryIO, label: str) -> Iterator[Tell]:
    """What hears of bytes done; a progress bar where somebody is looking."""
    if not sys.stderr.isatty():
        yield lambda size: None
        return
    length = os.fstat(source.fileno()).st_size
    with click.progressbar(length=length, label=label, file=sys.stderr) as bar:
        yield bar.update


class _Watched:
    def __init__(self, source: BinaryIO, tell: Tell) -> None:
        self._source, self._tell = source, tell

    def read(self, size: int, /) -> bytes:
        data = self._source.read(size)
        self._tell(len(data))
        return data


def _misuse(message: str) -> NoReturn:
    click.echo(f"engine: {message}", err=True)
    sys.exit(2)
