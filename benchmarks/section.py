"""Sections of `benchmarks/README.md` that a run replaces, each between two marks."""

from __future__ import annotations

from pathlib import Path

README = Path(__file__).with_name("README.md")


def replace(name: str, text: str) -> None:
    """Write a section anew; raises ValueError where its marks are missing."""
    start, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
    whole = README.read_text("utf-8")
    if start not in whole or end not in whole:
        raise ValueError(f"{README} has no section between {start} and {end}.")
    before, after = whole.split(start)[0], whole.split(end)[1]
    README.write_text(f"{before}{start}\n{text}\n{end}{after}", "utf-8")
