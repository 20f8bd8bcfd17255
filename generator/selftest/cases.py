"""The table of cases: in which forms a number can be written, and what the gate decides of each.

One file holds it for the tests and for the faults that are planted in records. The one door to
python-markdown, which renders a form as the site would.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property
from html import escape
from pathlib import Path
from typing import Any

import markdown

TABLE = Path(__file__).parent / "numerals.toml"
EXTENSIONS = ("attr_list", "footnotes", "tables", "toc", "abbr", "md_in_html", "pymdownx.superfences")
"""Markdown as a record's site renders it."""

NUMERALS = frozenset({"untraced-number", "untraced-word"})
"""Codes of the forms that any surface refuses; others are faults of Markdown."""

_ID = re.compile(r"[FKE]-[0-9]+")
_TEMPLATE = re.compile(r"\{\{.*\}\}|\{% claim", re.DOTALL)


@dataclass(frozen=True)
class Case:
    """One row of the table of cases."""

    row: str
    name: str
    decision: str
    code: str = "untraced-number"
    side: str = ""
    refused: tuple[str, ...] = ()
    passes: tuple[str, ...] = ()
    warns: tuple[str, ...] = ()
    terms: tuple[str, ...] = ()
    hits: tuple[str, ...] = ()


@dataclass(frozen=True)
class Form:
    """A text that the gate must refuse, and the code it is refused with."""

    row: str
    text: str
    code: str
    html: bool = False

    @cached_property
    def plain(self) -> bool:
        """Whether the text shows as it is written wherever it stands."""
        shown = f"<p>{escape(self.text, quote=False)}</p>"
        return self.code in NUMERALS and not self.html and rendered(self.text) == shown

    @property
    def templated(self) -> bool:
        """Whether the text is markup of a template, which no finished page holds."""
        return bool(_TEMPLATE.search(self.text))

    def rendered(self) -> str:
        """The form as HTML."""
        return self.text if self.html else rendered(self.text)


def cases(side: str) -> list[Case]:
    """The cases that concern one side of the gate, source or output."""
    rows = tomllib.loads(TABLE.read_text("utf-8"))["case"]
    made = [_case(row) for row in rows]
    return [case for case in made if case.side in ("", side)]


def _case(row: dict[str, Any]) -> Case:
    values: dict[str, Any] = {key: tuple(v) if isinstance(v, list) else v for key, v in row.items()}
    return Case(**values)


def forms(side: str, names: Collection[str], ids: Collection[str]) -> list[Form]:
    """What one side must refuse in a record that knows these names and ids, which cover some forms."""
    found = [
        Form(case.row, text, case.code, case.side == "output")
        for case in cases(side)
        for text in case.refused
    ]
    return [each for each in found if not _is_known(each, names, ids)]


def rendered(body: str) -> str:
    """A Markdown body as HTML; claims and expressions have no place in it."""
    return markdown.markdown(body, extensions=list(EXTENSIONS))


def _is_known(form: Form, names: Collection[str], ids: Collection[str]) -> bool:
    """Whether a name of the record, or an id that it has, stands in the form and may let it pass."""
    return any(name in form.text for name in names) or (
        form.code == "unknown-id" and any(name in ids for name in _ID.findall(form.text))
    )
