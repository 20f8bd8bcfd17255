"""The SARIF 2.1.0 form, for code scanning."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from urllib.parse import quote

from generator.report.refusal import CODES, Refusal, Report

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
RESULT_LIMIT = 25_000
"""Results in one run beyond which code scanning takes none at all."""


def render(report: Report) -> str:
    """The report as one SARIF log that ends in a line feed."""
    codes = list(CODES)
    results = [
        *_results(sorted(set(report.refusals)), "error", codes),
        *_results(sorted(set(report.warnings)), "warning", codes),
    ]
    run: dict[str, object] = {
        "tool": {"driver": {"name": "findings", "rules": [_rule(code) for code in codes]}},
        "columnKind": "unicodeCodePoints",
        "results": results[:RESULT_LIMIT],
    }
    if len(results) > RESULT_LIMIT:
        run["properties"] = {"resultsLeftOut": len(results) - RESULT_LIMIT}
    document = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
    return json.dumps(document, ensure_ascii=False, indent=2) + "\n"


def _rule(code: str) -> dict[str, object]:
    return {"id": code, "shortDescription": {"text": CODES[code]}}


def _results(refusals: Iterable[Refusal], level: str, codes: list[str]) -> Iterator[dict[str, object]]:
    for refusal in refusals:
        region: dict[str, object] = {"startLine": refusal.line, "startColumn": refusal.column}
        if refusal.text:
            region["snippet"] = {"text": refusal.text}
        place = {"artifactLocation": {"uri": quote(refusal.path)}, "region": region}
        yield {
            "ruleId": refusal.code,
            "ruleIndex": codes.index(refusal.code),
            "level": level,
            "message": {"text": refusal.message},
            "locations": [{"physicalLocation": place}],
        }
