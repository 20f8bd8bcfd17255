"""The GitHub form: as many annotations as GitHub shows, the rest in the log, the full list as a step summary.

GitHub shows ten errors and ten warnings of a step and drops what follows, and it shows nothing of a
summary over its limit.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path

from generator.report import text
from generator.report.refusal import Refusal, Report

ANNOTATION_LIMIT = 10
"""Errors of one step that become annotations, and as many warnings."""

SUMMARY_LIMIT = 1_000_000
"""Bytes of a step summary beyond which GitHub shows none of it."""

_MARKED = "\\`*_{}[]|#!~$"


def render(report: Report) -> str:
    """Workflow commands, then what is beyond the limit as plain lines, then the count.

    Also appends the full list to the file that GITHUB_STEP_SUMMARY names.
    """
    refusals, warnings = sorted(set(report.refusals)), sorted(set(report.warnings))
    lines = [_command("error", each) for each in refusals[:ANNOTATION_LIMIT]]
    lines += [_command("warning", each) for each in warnings[:ANNOTATION_LIMIT]]
    rest = [text.line(each) for each in refusals[ANNOTATION_LIMIT:]]
    rest += [text.line(each, "warning: ") for each in warnings[ANNOTATION_LIMIT:]]
    return "\n".join([*lines, *_inert(rest), *_summarised(report), text.summary(report)]) + "\n"


def _inert(lines: Sequence[str]) -> Iterator[str]:
    """Lines in which GitHub looks for no commands, whatever they hold."""
    if lines:
        token = secrets.token_hex(16)
        yield f"::stop-commands::{token}"
        yield from lines
        yield f"::{token}::"


def _summarised(report: Report) -> Iterator[str]:
    """Write the step summary where one is set; a warning where that fails."""
    target = os.environ.get("GITHUB_STEP_SUMMARY")
    if not target:
        return
    try:
        with Path(target).open("a", encoding="utf-8", newline="") as file:
            file.write(summary(report, SUMMARY_LIMIT - file.tell()))
    except OSError as error:
        yield f"::warning::{_data(f'The step summary cannot be written: {error.strerror}.')}"


def summary(report: Report, limit: int = SUMMARY_LIMIT) -> str:
    """Every refusal and warning as a Markdown table, cut with a note where it would be too long.

    Empty where not even its head fits.
    """
    title = f"### {text.summary(report)}\n"
    rows = [_row(refusal) for refusal in (*sorted(set(report.refusals)), *sorted(set(report.warnings)))]
    if not rows:
        return title
    head = f"{title}\n| place | code | what |\n| --- | --- | --- |\n"
    left = limit - len(head.encode()) - 100
    if left < 0:
        return ""
    kept: list[str] = []
    for row in rows:
        left -= len(row.encode())
        if left < 0:
            return head + "".join(kept) + f"\n{len(rows) - len(kept)} more do not fit here; see the log.\n"
        kept.append(row)
    return head + "".join(kept) + "\n"


def _command(level: str, refusal: Refusal) -> str:
    place = f"file={_property(refusal.path)},line={refusal.line},col={refusal.column}"
    return f"::{level} {place},title={_property(refusal.code)}::{_data(refusal.message)}"


def _data(value: str) -> str:
    return value.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(value: str) -> str:
    return _data(value).replace(":", "%3A").replace(",", "%2C")


def _row(refusal: Refusal) -> str:
    """One row; the place is set as code, or GitHub would show the `:100:` in it as a picture."""
    place = f"<code>{_cell(f'{refusal.path}:{refusal.line}:{refusal.column}')}</code>"
    return f"| {place} | {_cell(refusal.code)} | {_cell(refusal.message)} |\n"


def _cell(value: str) -> str:
    """Text that no Markdown or HTML in it can leave its cell."""
    plain = " ".join(escape(value, quote=False).split())
    return "".join(f"\\{char}" if char in _MARKED else char for char in plain)
