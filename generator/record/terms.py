"""Names that contain digits: exact strings that pass the gate, each with its reason."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path

from generator.report.refusal import Refusal, Refused

PATH = "findings/terms.toml"

_HEADER = re.compile(r"\[\[\s*term\s*\]\]")


@dataclass(frozen=True)
class Term:
    """A name, why it may carry a numeral, and the line of its entry."""

    text: str
    reason: str
    line: int


def read(root: Path) -> tuple[Term, ...]:
    """The terms of a record, none where it has no such file; raises Refused with the place of any fault."""
    file = root / PATH
    if not file.is_file():
        return ()
    try:
        text = file.read_bytes().decode("utf-8")
        table = tomllib.loads(text)
    except UnicodeDecodeError:
        raise Refused([Refusal(PATH, 1, 1, "bad-encoding", "", "The file is not UTF-8.")]) from None
    except tomllib.TOMLDecodeError as error:
        raise Refused([_unreadable(error)]) from None
    except RecursionError:
        message = "Brackets are nested deeper than can be read."
        raise Refused([Refusal(PATH, 1, 1, "bad-front-matter", "", message)]) from None
    return _entries(table, _lines(text))


def _unreadable(error: tomllib.TOMLDecodeError) -> Refusal:
    """The fault of the reader at the place it names."""
    place = re.search(r"\(at line (\d+), column (\d+)\)", str(error))
    line, column = (int(place[1]), int(place[2])) if place else (1, 1)
    message = f"Not TOML: {str(error).partition(' (at')[0]}."
    return Refusal(PATH, line, column, "bad-front-matter", "", message)


def _lines(text: str) -> list[int]:
    """The line of every [[term]] header, in order."""
    return [number for number, line in enumerate(text.split("\n"), 1) if _HEADER.match(line.strip())]


def _entries(table: dict[str, object], lines: list[int]) -> tuple[Term, ...]:
    refusals = [
        _fault(1, key, "The file holds [[term]] entries and nothing else.") for key in table if key != "term"
    ]
    found = table.get("term", [])
    if not isinstance(found, list):
        raise Refused([_fault(1, "term", "Write each name as a [[term]] entry.")])
    terms: dict[str, Term] = {}
    for entry, line in zip(found, [*lines, *[1] * len(found)], strict=False):
        fault = _entry_fault(entry)
        if fault:
            refusals.append(_fault(line, str(entry)[:60], fault))
        elif entry["text"] in terms:
            refusals.append(_fault(line, entry["text"], "The name is entered twice.", code="duplicate-id"))
        else:
            terms[entry["text"]] = Term(entry["text"], entry["reason"], line)
    if refusals:
        raise Refused(refusals)
    return tuple(terms.values())


def _entry_fault(entry: object) -> str:
    if not isinstance(entry, dict) or set(entry) != {"text", "reason"}:
        return "An entry has exactly the keys text and reason."
    if not all(isinstance(value, str) and value.strip() for value in entry.values()):
        return "Text and reason are strings that say something."
    return ""


def _fault(line: int, text: str, message: str, *, code: str = "bad-front-matter") -> Refusal:
    return Refusal(PATH, line, 1, code, text, message)
