"""Faults of errata: each note beside a corrected statement or number taken away, one at a time."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import partial

from generator.selftest.fault import Fault
from generator.selftest.workplace import Workplace

_NOTE = re.compile(r'<aside class="erratum-note".*?</aside>', re.DOTALL)
_NAME = re.compile(r">(E-[0-9]+)</a>")


def notes(workplace: Workplace) -> Iterator[Fault]:
    """Every note of an erratum, on whatever page it stands."""
    for path in workplace.pages:
        for note in _NOTE.finditer(workplace.text(path)):
            name = _NAME.search(note[0])
            line = note.string.count("\n", 0, note.start()) + 1
            what = f"{name[1] if name else 'a note'} taken away"
            yield Fault(
                "a page: note of an erratum missing",
                path,
                line,
                what,
                {"bad-erratum": 1},
                partial(_without, path, note),
            )


def _without(path: str, note: re.Match[str]) -> Mapping[str, str]:
    return {path: note.string[: note.start()] + note.string[note.end() :]}
