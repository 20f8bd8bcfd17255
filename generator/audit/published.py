"""The list of every published number beside the pages: it says what they say, and leaves none of them out."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Any

from generator.audit.evidence import Evidence
from generator.audit.fault import Fault

PATH = "numbers.json"
SCHEMA = "specdec-sidechannels/numbers/1"
SIZE_LIMIT = 512 * 1024 * 1024
"""Bytes of the longest list that is read."""


def entry(given: Mapping[str, str], text: str) -> dict[str, Any]:
    """What the list has to say of a mark that was proved."""
    said: dict[str, Any] = {"shown": text, "value": given["value"], "form": given["data-format"]}
    if "data-expression" in given:
        return said | {"expression": json.loads(given["data-expression"])}
    span = [int(each) for each in given["data-span"].split("-")]
    where = {"path": given["data-src"], "pointer": given["data-ptr"], "line": int(given["data-line"])}
    return said | where | {"bytes": span}


def digest(entries: Mapping[str, Any]) -> str:
    """One digest for the numbers of a page, empty where it has none."""
    if not entries:
        return ""
    text = json.dumps(entries, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def faults(data: bytes, pages: Mapping[str, str], evidence: Evidence) -> Iterator[tuple[str, str]]:
    """Code and message of everything in which a list differs from the pages, given their digests by path."""
    try:
        found = json.loads(data)
        listed, payloads = found["pages"], found["payloads"]
        told = {path: digest(entries) for path, entries in listed.items()}
        known = {path: (each["sha256"], each["swhid"]) for path, each in payloads.items()}
    except (ValueError, RecursionError, KeyError, TypeError, AttributeError):
        yield "bad-page", "The list of numbers is not of a form that can be read. Build again."
        return
    if found.keys() != {"schema", "pages", "payloads"} or found["schema"] != SCHEMA:
        yield "bad-page", "The list of numbers says more than the numbers. Build again."
    for path in sorted({*told, *(path for path, each in pages.items() if each)}):
        if told.get(path, "") != pages.get(path, ""):
            yield "display-mismatch", f"The numbers of {path[:160]} are not those that the page shows."
    for path, stated in sorted(known.items()):
        try:
            file = evidence.read(path)
        except Fault as fault:
            yield fault.code, fault.message
            continue
        blob = hashlib.sha1(b"blob %d\0" % len(file.data) + file.data).hexdigest()
        if stated != (file.sha256, f"swh:1:cnt:{blob}"):
            yield "payload-changed", f"{path} has other digests than those in the list of numbers."
