"""The GitHub form: an annotation for each refusal, and the full list as a step summary."""

from __future__ import annotations

import os
from html import escape
from pathlib import Path

from generator.report import text
from generator.report.refusal import Refusal, Report

SUMMARY_LIMIT = 1_000_000
"""Bytes of a step summary beyond which GitHub shows none of it."""


def render(report: Report) -> str:
    """Workflow commands, one a line; also appends the summary where GITHUB_STEP_SUMMARY names a file."""
    target = os.environ.get("GITHUB_STEP_SUMMARY")
    if target:
        with Path(target).open("a", encoding="utf-8", newline="") as file:
            file.write(summary(report))
    lines = [_command("error", refusal) for refusal in sorted(set(report.refusals))]
    lines += [_command("warning", warning) for warning in sorted(set(report.warnings))]
    return "\n".join([*lines, text.summary(report)]) + "\n"


def summary(report: Report) -> str:
    """Every refusal and warning as a Markdown table, cut with a note where it would be too long."""
    head = f"### {text.summary(report)}\n\n| place | code | what |\n| --- | --- | --- |\n"
    rows = [_row(refusal) for refusal in (*sorted(set(report.refusals)), *sorted(set(report.warnings)))]
    left = SUMMARY_LIMIT - len(head.encode()) - 100
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
    cells = (f"{refusal.path}:{refusal.line}:{refusal.column}", refusal.code, refusal.message)
    return "| " + " | ".join(_cell(cell) for cell in cells) + " |\n"


def _cell(value: str) -> str:
    """Text that no Markdown or HTML in it can leave its cell."""
    plain = " ".join(escape(value, quote=False).split())
    return "".join(f"\\{char}" if char in "\\`*_{}[]|#!~$" else char for char in plain)
