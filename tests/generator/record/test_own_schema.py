"""A record takes payloads under a schema of its owner's: only the envelope is asked for."""

from __future__ import annotations

from pathlib import Path

import pytest
import sample_record

from generator.record import payload
from generator.report.refusal import Refused

PATH = "payloads/acceptance/lookup.json"
OWN = sample_record.PAYLOAD.replace("specdec-sidechannels/payload/1", "some-lab/llm/payload/3")


def read(root: Path, text: str) -> payload.Payload:
    sample_record.write(root, {PATH: text})
    return payload.read(root, PATH)


def test_a_schema_of_an_owner_may_hold_more_than_the_envelope(tmp_path: Path) -> None:
    text = OWN.replace('"config": {', '"cluster": {"nodes": [1, 2]},\n  "config": {')
    text = text.replace('"value": 1, "unit"', '"value": 1, "seed_runs": [3, 4], "unit"')
    found = read(tmp_path, text)
    assert found.kind == "payload"
    assert found.at("/cluster/nodes/1").lexeme == "2"


LACKING = {
    "results": OWN.replace('"results": {', '"outcomes": {'),
    "provenance": OWN.replace('"provenance": {', '"origin": {'),
    "a unit": OWN.replace('{"value": 1, "unit": "tokens per check"}', '{"value": 1}'),
    "a number under value": OWN.replace('"value": 1,', '"value": "1",'),
}


@pytest.mark.parametrize("what", LACKING)
def test_what_the_envelope_asks_for_is_asked_of_any_owner(tmp_path: Path, what: str) -> None:
    with pytest.raises(Refused) as refused:
        read(tmp_path, LACKING[what])
    assert {each.code for each in refused.value.refusals} == {"bad-payload"}


@pytest.mark.parametrize(
    "schema_id",
    [
        "specdec-sidechannels/payload/2",
        "payload/1",
        "some-lab/rehearsal/1",
        "some-lab/critic/1",
        "Some Lab/payload/1",
    ],
)
def test_an_id_that_is_no_payload_of_an_owner_is_refused(tmp_path: Path, schema_id: str) -> None:
    with pytest.raises(Refused):
        read(tmp_path, OWN.replace("some-lab/llm/payload/3", schema_id))
