"""Says where and why a document does not obey its schema. The one door to jsonschema."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError

from generator.record.pointer import unparse


def faults(schema: Mapping[str, Any], document: object) -> Iterator[tuple[str, str]]:
    """Pointer and message of everything in the document that a schema refuses."""
    for error in Draft202012Validator(schema).iter_errors(document):
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
