"""The JSON form: one document with refusals, warnings and counts."""

from __future__ import annotations

import json
from dataclasses import asdict

from generator.report.refusal import Refusal, Report


def render(report: Report) -> str:
    """The report as one JSON document that ends in a line feed."""
    document = {
        "refusals": _rows(report.refusals),
        "warnings": _rows(report.warnings),
        "counts": {
            "numbers": report.numbers,
            "derived": report.derived,
            "claims": report.claims,
            "computed": report.computed,
            "exempt": dict(sorted(report.exempt.items())),
            "pages": report.pages,
        },
    }
    return json.dumps(document, ensure_ascii=False, indent=2) + "\n"


def _rows(refusals: list[Refusal]) -> list[dict[str, object]]:
    keys = ("code", "path", "line", "column", "text", "message")
    return [{key: row[key] for key in keys} for row in map(asdict, sorted(set(refusals)))]
