"""The streams: which addresses the target touches at each position, one file a stream.

S1 (`tap`) and S2 (`pages`) rank by values, so neither is a pure address stream; S3 (`experts`) and the
address-only form of S2 (`schedule`) are. A file of this folder that defines `STREAM` is a stream.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from pkgutil import iter_modules

from engine.observe.streams.stream import Stream


def _found() -> Iterator[tuple[str, Stream]]:
    for file in iter_modules(__path__):
        made: Stream | None = getattr(import_module(f"{__name__}.{file.name}"), "STREAM", None)
        if made is not None:
            yield made.name, made


STREAMS: dict[str, Stream] = dict(sorted(_found()))
"""Every stream by its name."""
