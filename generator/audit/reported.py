"""Figures of others are shown as reported, each with the sign by which its source hedges it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from html import unescape

from generator.audit.evidence import Evidence
from generator.audit.fault import Fault, Placed
from generator.audit.tokens import attributes
from generator.record import pointer as pointers

SIGNS = {"": "", "=": "", "~": "≈ ", ">": "> ", "<": "< "}
"""What stands before a figure, by its qualifier."""

_MARK = re.compile(r"<data\b([^<>]*)>(?:<a\b[^<>]*>)?[^<]*(?:</a\s*>)?</data\s*>", re.IGNORECASE)
_ANY = r"<data\b[^<>]*>(?:<a\b[^<>]*>)?[^<]*(?:</a\s*>)?</data\s*>[^<]*"
_SHOWN = re.compile(
    r"<span class=\"reported\"><span class=\"reported-word\">reported </span>([^<]*)"
    rf"(?:<span class=\"ci\">)?((?:{_ANY})+)"
)
_PATH = re.compile(r"payloads/[^\s\"'&<>\]]+?\.json")


def judge(html: str, evidence: Evidence) -> Iterator[Placed]:
    """Numbers of others that stand as if they were measured here, or without their sign."""
    told = {path for path in set(_PATH.findall(html)) if _is_reported(path, evidence)}
    if not told:
        return
    signs: dict[int, str] = {}
    for shown in _SHOWN.finditer(html):
        signs |= {mark.start(): shown[1] for mark in _MARK.finditer(html, shown.start(2), shown.end(2))}
    for mark in _MARK.finditer(html):
        found = _field(attributes(mark[1]), told)
        if not found:
            continue
        sign = SIGNS.get(_qualifier(*found, evidence), "")
        if unescape(signs.get(mark.start(), "absent")) != sign:
            message = f'A figure of others stands behind the word "reported" and its sign "{sign.strip()}".'
            yield Placed(mark.start(), "display-mismatch", message)


def _is_reported(path: str, evidence: Evidence) -> bool:
    try:
        return evidence.schema(path).split("/")[1:2] == ["reported"]
    except Fault:
        return False


def _field(given: Mapping[str, str], told: set[str]) -> tuple[str, str] | None:
    """Path and pointer of a mark that shows a figure of others; of a derived one, that it does."""
    if given.get("data-format") in ("text", "key"):
        return None
    if given.get("data-src") in told:
        return given["data-src"], given.get("data-ptr", "")
    paths = _PATH.findall(given.get("data-expression", ""))
    return next(((path, "") for path in paths if path in told), None)


def _qualifier(path: str, pointer: str, evidence: Evidence) -> str:
    """How the source hedges a figure, empty where nothing is said."""
    owner = pointers.unparse(pointers.parse(pointer)[:-1]) if pointer else ""
    try:
        digest = evidence.read(path).sha256
        return evidence.value(path, f"{owner}/qualifier", digest).text if owner else ""
    except Fault:
        return ""
