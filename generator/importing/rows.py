"""Numbers of tables and logs: one row a case, named by some of its columns, or the last row of a log."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from generator.importing import document
from generator.importing.found import Found, Left, Lexeme, Taken, refused
from generator.record import strict
from generator.record.encoding import decoded
from generator.report.refusal import Refused

NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
"""A number as JSON writes it, so that it can be kept as it is."""

LOOSE = re.compile(r"[+-]?[0-9.,_\s]*[0-9][0-9.,_\s]*(?:[eE][+-]?[0-9]+)?%?")
"""What a person reads as a number."""

NOTHING = frozenset({"", "na", "n/a", "nan", "none", "null", "inf", "-inf", "infinity", "-infinity"})
"""Cells that say that there is no number."""

UNIT = "unit"
"""The column that states the unit of its row."""


@dataclass(frozen=True)
class Row:
    """One row of a table: its line, and its cells by column."""

    line: int
    cells: dict[str, str]


def table(path: str, data: bytes, keys: Sequence[str] = ()) -> Taken:
    """The numbers of a CSV with a header; rows are named by the key columns, by default the first one."""
    rows = list(_rows(path, decoded(path, data)))
    if not rows:
        raise refused(path, 1, 1, "", "The table holds no row below its header.")
    keys = _keys(path, rows, keys)
    taken = Taken("CSV")
    for row, name in zip(rows, _names(path, rows, keys), strict=True):
        for column, cell in row.cells.items():
            if column not in (*keys, UNIT):
                _take_cell(taken, path, row, (*name, column), cell)
    return replace(taken, numbers=_without_value(taken.numbers))


def _rows(path: str, text: str) -> Iterator[Row]:
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        header = [name.strip() for name in next(reader, [])]
        for at, name in enumerate(header, 1):
            if not name or header.count(name) > 1:
                raise refused(path, 1, at, name, "Each column needs a name of its own in the first row.")
        while (start := reader.line_num + 1) and (cells := next(reader, None)) is not None:
            if not cells:
                continue
            if len(cells) != len(header):
                message = f"The row has {len(cells)} cells and the header {len(header)}."
                raise refused(path, start, 1, "", message)
            yield Row(start, dict(zip(header, (cell.strip() for cell in cells), strict=True)))
    except csv.Error as error:
        raise refused(path, reader.line_num or 1, 1, "", f"Not CSV: {error}.") from None


def _keys(path: str, rows: list[Row], keys: Sequence[str]) -> tuple[str, ...]:
    """The columns that name the rows; none where there is one row and none was asked for."""
    columns = list(rows[0].cells)
    for key in keys:
        if key not in columns:
            raise refused(path, 1, 1, key, f"No column is called {key}. There are: {', '.join(columns)}.")
    if keys:
        return tuple(keys)
    first = [row.cells[columns[0]] for row in rows]
    if not any(map(LOOSE.fullmatch, first)) and len(set(first)) == len(first):
        return (columns[0],)
    if len(rows) == 1:
        return ()
    message = f"The first column does not name the rows. Say which do: --key COLUMN, of {', '.join(columns)}."
    raise refused(path, 1, 1, columns[0], message)


def _names(path: str, rows: list[Row], keys: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """The names of each row; a key that is a number is told by its column."""
    seen: dict[tuple[str, ...], int] = {}
    for row in rows:
        name = tuple(_key(column, row.cells[column]) for column in keys)
        if name in seen:
            message = f"Line {seen[name]} has this name already. Add a further column with --key."
            raise refused(path, row.line, 1, " ".join(name), message)
        seen[name] = row.line
        yield name


def _key(column: str, cell: str) -> str:
    return f"{column} {cell}" if LOOSE.fullmatch(cell) else cell


def _take_cell(taken: Taken, path: str, row: Row, tokens: tuple[str, ...], cell: str) -> None:
    column = list(row.cells).index(tokens[-1]) + 1
    if NUMBER.fullmatch(cell) and strict.in_range(cell):
        taken.numbers.append(Found(tokens, Lexeme(cell), row.line, column, row.cells.get(UNIT, "")))
    elif cell.lower() in NOTHING:
        taken.absent[tokens] = f'the file says "{cell}"' if cell else "the cell is empty"
    elif LOOSE.fullmatch(cell):
        message = "The number is not written as JSON writes one (such as 0.50 or 1e-05). Write it so."
        raise refused(path, row.line, column, cell, message)
    else:
        taken.left.append(Left(tokens, row.line, "text"))


def _without_value(numbers: list[Found]) -> list[Found]:
    """A column called value gives the number of its row, where it is the only one of the row."""
    rows = [each.tokens[:-1] for each in numbers]
    return [
        replace(each, tokens=row) if each.tokens[-1] == "value" and row and rows.count(row) == 1 else each
        for each, row in zip(numbers, rows, strict=True)
    ]


def log(path: str, data: bytes, keys: Sequence[str] = ()) -> Taken:
    """The numbers of a log, one JSON object a line: the last of each name, or all, named by key fields."""
    taken = Taken("metrics log")
    last: dict[tuple[str, ...], Found] = {}
    for line, below in _lines(path, data):
        prefix = tuple(_field(path, below, line, key) for key in keys)
        for each in below.numbers:
            if each.tokens[1:] or each.tokens[0] not in keys:
                found = replace(each, tokens=(*prefix, *each.tokens), line=line)
                if keys and found.tokens in last:
                    first = last[found.tokens].line
                    message = f"Line {first} has this name already. Add a further field with --key."
                    raise refused(path, line, each.column, " ".join(found.tokens), message)
                last[found.tokens] = found
        taken.left += [replace(each, line=line) for each in below.left]
    taken.numbers += last.values()
    return taken


def _lines(path: str, data: bytes) -> Iterator[tuple[int, Taken]]:
    for number, line in enumerate(data.split(b"\n"), 1):
        if not line.strip():
            continue
        below = Taken("")
        try:
            node = document.parsed(path, line)
        except Refused as wrong:
            raise Refused(replace(each, line=number) for each in wrong.refusals) from None
        if node.kind != "object":
            raise refused(path, number, 1, "", "A line of a log is one JSON object.")
        document.members(below, node)
        yield number, below


def _field(path: str, below: Taken, line: int, key: str) -> str:
    found = next((each.lexeme for each in below.numbers if each.tokens == (key,)), None)
    if found is None:
        raise refused(path, line, 1, key, f"The line has no number called {key}, by which lines are named.")
    return f"{key} {found}"
