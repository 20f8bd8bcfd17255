"""Payload documents are closed, strict and exact."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from engine.contract.payload import ADAPTER, Lexeme, json_schema, lexeme
from engine.contract.store import dump

ROOT = Path(__file__).parents[3]
SCHEMA = ROOT / "generator" / "record" / "schema" / "payload.schema.json"
Change = Callable[[dict[str, Any]], Any]


def test_a_good_document_is_accepted_and_keeps_every_value(document: dict[str, Any]) -> None:
    made = ADAPTER.validate_python(document).model_dump(by_alias=True, exclude_none=True)
    assert made == document
    assert list(made) == list(document)


def at(path: str, value: Any) -> Change:
    """A change that puts `value` at a dotted place."""

    def change(document: dict[str, Any]) -> None:
        place: Any = document
        *way, last = path.split(".")
        for key in way:
            place = place[int(key)] if isinstance(place, list) else place[key]
        place[int(last) if isinstance(place, list) else last] = value

    return change


def without(key: str) -> Change:
    """A change that takes a field away."""
    return lambda document: document.pop(key)


REFUSED = {
    "unknown field of the document": at("extra", 1),
    "unknown field of a leaf": at("results.margin.note", "x"),
    "unknown field of the provenance": at("provenance.host", "x"),
    "unknown field of the state": at("state.scale", 10),
    "the model's own name for the schema field": lambda d: d.update(schema_=d.pop("schema")),
    "unknown schema": at("schema", "specdec-sidechannels/payload/2"),
    "schema missing": without("schema"),
    "question missing": without("question"),
    "provenance missing": without("provenance"),
    "NaN": at("results.margin.value", float("nan")),
    "infinity": at("results.margin.high", float("inf")),
    "minus infinity in the settings": at("config.level", float("-inf")),
    "bool as a number": at("results.margin.value", True),
    "bool in the state": at("state.rows.0.1", False),
    "bool as a seed": at("seeds.root", True),
    "number as a bool": at("provenance.dirty", 0),
    "text as a number": at("results.margin.value", "0.006860"),
    "float in the state": at("state.rows.0.1", 5.0),
    "lexeme in the state": at("state.rows.0.1", Lexeme("5.0")),
    "float seed": at("seeds.root", 7.0),
    "array among the results": at("results.margin", [1]),
    "unit missing": at("results.margin", {"value": 1}),
    "empty unit": at("results.margin.unit", ""),
    "key that is no identifier": at("results.top-1", {"value": 1, "unit": "x"}),
    "name without a record": at("name", "one"),
    "name that climbs": at("name", "../one"),
    "short commit": at("provenance.commit", "abc"),
    "short digest": at("provenance.models.0.sha256", "a" * 63),
    "digest in capitals": at("provenance.inputs.0.sha256", "B" * 64),
    "digest with a newline": at("provenance.inputs.0.sha256", "b" * 64 + "\n"),
    "digest that is no text": at("provenance.models.0.sha256", 1),
    "unknown statistic": at("results.margin.statistic", {"kind": "mean", "numerator": [], "stream": "x"}),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_a_payload_may_not_hold_is_refused(document: dict[str, Any], name: str) -> None:
    REFUSED[name](document)
    with pytest.raises(ValidationError):
        ADAPTER.validate_python(document)


CRITIC = {
    "schema": "specdec-sidechannels/critic/1",
    "regime": {"program": "a reader", "version": "1", "independence": "none"},
    "labels": {
        "F-01": {
            "status": {
                "source": "findings/F-01.md",
                "rules": {"holds": "a.results.margin > 0"},
                "published": "holds",
                "recomputed": "neither",
                "agrees": False,
                "problems": ["by the recomputed numbers its rules give 'neither'"],
                "numbers": {"payloads/trial/one.json#/results/margin/value": "recomputed"},
                "fragility": {"clusters": 2, "tried": 1, "removed": {"trial/one": [0]}},
            }
        }
    },
}


ALLOWED = {
    "interval ends as whole numbers": at("results.margin.low", 0),
    "float value": at("results.margin.value", 0.5),
    "command as one string": at("provenance.command", "engine run trial"),
    "nested settings": at("config.draft", {"layers": [0, 1], "rate": Lexeme("8e-4")}),
    "no state": without("state"),
    "machine number": at("results.margin.machine", True),
    "rehearsal": at("schema", "specdec-sidechannels/rehearsal/1"),
    "critic": lambda d: d.update(CRITIC),
}


@pytest.mark.parametrize("name", ALLOWED)
def test_what_a_payload_may_hold_is_accepted(document: dict[str, Any], name: str) -> None:
    ALLOWED[name](document)
    dump(ADAPTER.validate_python(document))


def test_a_document_cannot_be_changed_after_it_was_made(document: dict[str, Any]) -> None:
    made = ADAPTER.validate_python(document)
    with pytest.raises(ValidationError, match="frozen"):
        made.question = "Another?"


@pytest.mark.parametrize("text", ["0.006860", "-0", "1E+5", "1e-05", "12345678901234567890.10", "-0.50"])
def test_a_lexeme_is_kept_as_it_was_written(text: str) -> None:
    assert str(Lexeme(text)) == text


@pytest.mark.parametrize(
    "text", ["NaN", "Infinity", "-inf", "1e999", "", " 1", "1 ", "01", "+1", ".5", "1.", "0x10", "1_000", "१"]
)
def test_what_is_no_finite_json_number_is_no_lexeme(text: str) -> None:
    with pytest.raises(ValueError, match="finite JSON number"):
        Lexeme(text)


@pytest.mark.parametrize("value", [0.1, 1 / 3, 1e-300, 1.7976931348623157e308, 5e-324, 1e16, -2.5, 2.0])
def test_the_lexeme_of_a_float_reads_back_as_that_float(value: float) -> None:
    assert float(lexeme(value)) == value


def test_the_schema_the_generator_carries_is_the_one_the_models_emit() -> None:
    assert json.dumps(json_schema(), indent=2, ensure_ascii=False) + "\n" == SCHEMA.read_text("utf-8")


def test_every_field_of_the_schema_says_what_it_holds() -> None:
    for name, definition in json_schema()["$defs"].items():
        for field, described in definition.get("properties", {}).items():
            assert described.get("description") or "$ref" in described, f"{name}.{field}"
        assert definition.get("description") or "properties" not in definition, name
