"""`engine lockstep`: any bytes in, the same bytes out. The one place where coded bytes meet files."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, NoReturn

import click

from engine.coding import container
from engine.coding.profiles import AdaptiveBytes, StaticBytes, profile_of
from engine.contract.errors import BadData

FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
OUT = click.Path(dir_okay=False, path_type=Path)
MODELS = click.Choice(["static", "adaptive"])


@click.group()
def lockstep() -> None:
    """Pack files with an integer coder whose bytes are the same on every machine."""


@lockstep.command()
@click.argument("file", type=FILE)
@click.option("--model", type=MODELS, required=True, help="Whether the counts of bytes stand or follow.")
@click.option("--out", type=OUT, required=True, help="Where the container goes.")
def pack(file: Path, model: str, out: Path) -> None:
    """Pack FILE into a container."""
    with opened(file, out) as (source, sink):
        profile = StaticBytes.of(source) if model == "static" else AdaptiveBytes()
        source.seek(0)
        with _watched(source, "packing") as watched:
            counts = container.pack(watched, sink, profile)
    click.echo(f"wrote {out}: {counts.size} bytes in {out.stat().st_size}")


@lockstep.command()
@click.argument("file", type=FILE)
@click.option("--out", type=OUT, required=True, help="Where the bytes go.")
def unpack(file: Path, out: Path) -> None:
    """Unpack the container FILE; nothing is written unless all of it is whole."""
    try:
        with opened(file, out) as (source, sink), _watched(source, "unpacking") as watched:
            counts = container.unpack(watched, sink, profile_of)
    except BadData as error:
        raise BadData(str(file), error.problem, error.remedy) from None
    click.echo(f"wrote {out}: {counts.size} bytes")


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
def _watched(source: BinaryIO, label: str) -> Iterator[container.Source]:
    """The source, with a progress bar where somebody is looking."""
    if not sys.stderr.isatty():
        yield source
        return
    length = os.fstat(source.fileno()).st_size
    with click.progressbar(length=length, label=label, file=sys.stderr) as bar:
        yield _Watched(source, bar.update)


class _Watched:
    def __init__(self, source: BinaryIO, tell: Callable[[int], None]) -> None:
        self._source, self._tell = source, tell

    def read(self, size: int, /) -> bytes:
        data = self._source.read(size)
        self._tell(len(data))
        return data


def _misuse(message: str) -> NoReturn:
    click.echo(f"engine: {message}", err=True)
    sys.exit(2)
