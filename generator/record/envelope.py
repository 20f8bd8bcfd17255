"""The JSON Schemas of payloads and of the lists beside them, as package data. The one door to jsonschema-rs.

Whether a document obeys is asked of a compiled validator, which takes a hundredth of the time. Where it says
no, another implementation says where and why, and has the last word.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from functools import cache
from importlib.resources import files
from typing import Any

from jsonschema_rs import Draft202012Validator

EXPERIMENTS = "specdec-sidechannels/experiments/1"
"""The schema id of the list of experiments."""

MANIFEST = "specdec-sidechannels/manifest/1"
"""The schema id of what a release consists of."""

BESIDE = {EXPERIMENTS: "experiments", MANIFEST: "manifest"}
"""Schemas of documents that are no payloads, by schema id."""


@cache
def schema() -> Mapping[str, Any]:
    """The schema of every payload kind, as the engine emits it."""
    return _read("payload")


def _read(name: str) -> Mapping[str, Any]:
    text = files("generator.record").joinpath(f"schema/{name}.schema.json").read_text("utf-8")
    loaded: Mapping[str, Any] = json.loads(text, object_hook=_closed)
    return loaded


def _closed(schema: dict[str, Any]) -> dict[str, Any]:
    """A mapping whose keys have a pattern takes no other keys; pydantic means that and does not emit it."""
    return {"additionalProperties": False, **schema} if "patternProperties" in schema else schema


@cache
def kinds() -> Mapping[str, str]:
    """Schema ids and the reference of the definition that each obeys."""
    mapping: Mapping[str, str] = schema()["discriminator"]["mapping"]
    return mapping


_OWN = re.compile(
    r"(?!specdec-sidechannels/)[a-z0-9][a-z0-9.-]*(?:/[a-z0-9][a-z0-9.-]*)*/payload/[1-9][0-9]*"
)


def is_own(schema_id: str) -> bool:
    """Whether a schema id is that of somebody else's payloads, such as some-lab/payload/1."""
    return len(schema_id) <= 200 and _OWN.fullmatch(schema_id) is not None


@cache
def obeyed(schema_id: str) -> Mapping[str, Any]:
    """The schema that a document with this schema id obeys."""
    if schema_id in BESIDE:
        return _read(BESIDE[schema_id])
    if is_own(schema_id):
        return _opened(schema_id)
    return {"$ref": kinds()[schema_id], "$defs": schema()["$defs"]}


def _opened(schema_id: str) -> Mapping[str, Any]:
    """The envelope alone: what a measured payload holds at least; members of its owner's may stand beside."""
    definitions = dict(schema()["$defs"])
    measured, leaf = definitions["Measured"], definitions["Leaf"]
    named = {**measured["properties"], "schema": {"const": schema_id}}
    definitions["Leaf"] = {**leaf, "additionalProperties": True}
    return {**measured, "properties": named, "additionalProperties": True, "$defs": definitions}


@cache
def _validator(schema_id: str) -> Draft202012Validator:
    return Draft202012Validator(dict(obeyed(schema_id)))


NUDGE = Decimal("1e-9")
"""How far a whole number written as a decimal is moved, towards the inside of any range that ends there."""


def faults(schema_id: str, document: object) -> Iterator[tuple[str, str]]:
    """Pointer and message of everything in the document that its schema refuses."""
    validator, moved = _validator(schema_id), _nudged(document)
    if validator.is_valid(document) and (moved is document or validator.is_valid(moved)):
        return
    from generator.record import misfit

    yield from misfit.faults(obeyed(schema_id), document)


def _nudged(document: object) -> object:
    """The document, numbers such as 3.0 moved off the whole: integers to the standard, and none to a record.

    The same object where there are none. What is accepted both as it stands and moved has no such number
    where an integer is asked for; what is not is left to the slower implementation.
    """
    if isinstance(document, dict):
        members = {key: _nudged(value) for key, value in document.items()}
        return members if any(members[key] is not value for key, value in document.items()) else document
    if isinstance(document, list):
        items = [_nudged(value) for value in document]
        return items if any(a is not b for a, b in zip(items, document, strict=True)) else document
    if isinstance(document, Decimal) and document == document.to_integral_value():
        return document - NUDGE if document > 0 else document + NUDGE
    return document
