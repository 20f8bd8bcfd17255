"""The table of cases, and sources and sites made from a few lines of text to try them on."""

from __future__ import annotations

import json
from pathlib import Path

from generator.audit import verify
from generator.gate.source import check_sources
from generator.record import front_matter
from generator.record.source import Source
from generator.record.terms import Term
from generator.report.refusal import Report
from generator.selftest.cases import Case, cases, rendered

__all__ = ["Case", "audited", "cases", "judged", "rendered"]

IDS = frozenset({"F-01", "F-22", "K-3", "E-4"})


def source(body: str, front: str = "", path: str = "site_src/page.md") -> Source:
    """A page with a body and, where given, a front matter."""
    head = f"---\n{front}\n---\n" if front else ""
    read = front_matter.parse(path, front, 2) if front else front_matter.FrontMatter({}, {})
    return Source(path, "page", head + body, read.values, read.places, body, head.count("\n") + 1)


def judged(body: str, terms: tuple[str, ...] = (), front: str = "") -> Report:
    """What the source side says of a body under terms, less what it says of unused terms."""
    report = check_sources([source(body, front)], [Term(text, "a name", 1) for text in terms], IDS)
    report.refusals = [each for each in report.refusals if each.code != "unused-term"]
    return report


PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>A page</title>
</head>
<body>
{body}
</body>
</html>
"""


def audited(folder: Path, html: str, terms: tuple[str, ...] = (), name: str = "page.html") -> Report:
    """What the output side says of one page of a record that knows the ids and the terms."""
    for each in sorted(IDS):
        where = folder / "findings" / ("errata" if each.startswith("E") else "") / f"{each}.md"
        where.parent.mkdir(parents=True, exist_ok=True)
        where.write_text(f"---\nid: {each}\n---\n", "utf-8")
    entries = "".join(f'[[term]]\ntext = {json.dumps(text)}\nreason = "a name"\n' for text in terms)
    (folder / "findings" / "terms.toml").write_text(entries, "utf-8")
    (folder / "site").mkdir(exist_ok=True)
    (folder / "site" / name).write_text(PAGE.replace("{body}", html), "utf-8")
    return verify(folder, folder / "site")
