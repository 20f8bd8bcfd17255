"""The JSON Schemas of payloads and of the lists beside them, as package data. The one door to jsonschema."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError

from generator.record.pointer import unparse

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


@cache
def _validator(schema_id: str) -> Draft202012Validator:
    if schema_id in BESIDE:
        return Draft202012Validator(_read(BESIDE[schema_id]))
    return Draft202012Validator({"$ref": kinds()[schema_id], "$defs": schema()["$defs"]})


def faults(schema_id: str, document: object) -> Iterator[tuple[str, str]]:
    """Pointer and message of everything in the document that its schema refuses."""
    for error in _validator(schema_id).iter_errors(document):
        nearest = _nearest(error)
        yield unparse(str(token) for token in (*nearest.absolute_path, *_keys(nearest))), _short(nearest)


def _nearest(error: ValidationError) -> ValidationError:
    """The cause of an error: where alternatives failed, the first fault of the one that came closest."""
    while error.context:
        branches: dict[object, list[ValidationError]] = {}
        for cause in error.context:
            branches.setdefault(cause.schema_path[0], []).append(cause)
        error = min(branches.values(), key=len)[0]
    return error


def _keys(error: ValidationError) -> list[str]:
    """The offending key itself, where the error is about a key rather than a value."""
    if error.validator == "pattern" and "propertyNames" in error.absolute_schema_path:
        return [str(error.instance)]
    if error.validator == "additionalProperties" and isinstance(error.instance, dict):
        within = error.schema if isinstance(error.schema, Mapping) else {}
        patterns = [re.compile(pattern) for pattern in within.get("patternProperties", {})]
        declared = within.get("properties", {})
        unknown = (key for key in error.instance if key not in declared)
        return [key for key in unknown if not any(pattern.search(key) for pattern in patterns)][:1]
    return []


def _short(error: ValidationError) -> str:
    """The message, without a page of the offending value."""
    return error.message if len(error.message) <= 200 else f"{error.message[:100]} … {error.message[-90:]}"
