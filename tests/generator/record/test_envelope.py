"""Two implementations of JSON Schema say the same of every document that a record could hold."""

from __future__ import annotations

import copy
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from generator.record import envelope, misfit, strict

FILE = Path(__file__).parents[3] / "payloads/acceptance/lookup-greedy.json"
PAYLOAD = "specdec-sidechannels/payload/1"

SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.decimals(allow_nan=False, allow_infinity=False),
    st.sampled_from(["", "tokens", "a b", "é", "0" * 40, "0" * 64, PAYLOAD, "x\n", "A", "a-b", "1"]),
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=2),
        st.dictionaries(st.sampled_from(["value", "unit", "low", "a", "A b", "1", "x\n"]), inner, max_size=2),
    ),
    max_leaves=4,
)


def small() -> dict[str, Any]:
    """A payload of this record with few results and rows."""
    data = FILE.read_bytes()
    document: Any = strict.load(FILE.name, data, data.decode())
    document["results"] = dict(list(document["results"].items())[:2])
    if "rows" in document.get("state", {}):
        document["state"]["rows"] = document["state"]["rows"][:2]
    return dict(document)


def places(value: object) -> list[tuple[str | int, ...]]:
    """The paths of everything below a value."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [(key, *rest) for key, inner in pairs for rest in ((), *places(inner))]


HONEST = small()
PLACES = places(HONEST)


def put(path: tuple[str | int, ...], value: object, *, instead: bool) -> object:
    """The payload with a value in the place of another, or under a new key beside it."""
    document: Any = copy.deepcopy(HONEST)
    owner = document
    for key in path[:-1]:
        owner = owner[key]
    if instead or isinstance(owner, list):
        owner[path[-1]] = value
    else:
        owner[f"{path[-1]}_too"] = value
    return document


def test_the_payload_obeys() -> None:
    assert list(misfit.faults(envelope.obeyed(PAYLOAD), HONEST)) == []
    assert list(envelope.faults(PAYLOAD, HONEST)) == []


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(PLACES), VALUES, st.booleans())
def test_a_changed_payload_is_refused_for_the_same_reasons(
    path: tuple[str | int, ...], value: object, instead: bool
) -> None:
    document = put(path, value, instead=instead)
    assert list(envelope.faults(PAYLOAD, document)) == list(misfit.faults(envelope.obeyed(PAYLOAD), document))


@pytest.mark.parametrize("path", [path for path in PLACES if len(path) < 3], ids=str)
def test_a_missing_field_is_refused_for_the_same_reasons(path: tuple[str | int, ...]) -> None:
    document: Any = copy.deepcopy(HONEST)
    owner = document
    for key in path[:-1]:
        owner = owner[key]
    del owner[path[-1]]
    assert list(envelope.faults(PAYLOAD, document)) == list(misfit.faults(envelope.obeyed(PAYLOAD), document))


def test_an_integer_written_as_a_decimal_is_none() -> None:
    document = put(("seeds", "root"), Decimal("3.0"), instead=True)
    assert [where for where, _ in envelope.faults(PAYLOAD, document)] == ["/seeds/root"]


def test_a_whole_number_written_as_a_decimal_is_a_number_to_the_fast_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(misfit, "faults", None)
    name = next(iter(HONEST["results"]))
    for whole in ("0.0", "1.0", "-2.00"):
        document = put(("results", name), {"value": Decimal(whole), "unit": "tokens"}, instead=True)
        assert list(envelope.faults(PAYLOAD, document)) == []
