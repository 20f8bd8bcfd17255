"""A critic judges committed state: one that read other bytes than stand here says nothing about them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping

from generator.record.payload import Payload
from generator.record.source import Source
from generator.report.refusal import Refusal


def check(payloads: Mapping[str, Payload], sources: Iterable[Source]) -> Iterator[Refusal]:
    """Refuse critics whose inputs name a payload or a source of the record by another digest than it has."""
    critics = [each for each in payloads.values() if each.kind == "critic"]
    if critics:
        digests = {path: each.sha256 for path, each in payloads.items()}
        digests |= {each.path: hashlib.sha256(each.text.encode()).hexdigest() for each in sources}
        for critic in critics:
            yield from _stale(critic, digests)


def agrees(payloads: Mapping[str, Payload], identifier: str, label: str) -> bool:
    """Whether some critic recomputed a label of a finding, by its name (status, verdict), as published."""
    where = f"/labels/{identifier}/{label}/agrees"
    return any(_is_true(each, where) for each in payloads.values() if each.kind == "critic")


def _is_true(critic: Payload, where: str) -> bool:
    try:
        return critic.at(where).kind == "true"
    except KeyError:
        return False


def _stale(critic: Payload, digests: Mapping[str, str]) -> Iterator[Refusal]:
    for judged in critic.at("/provenance/inputs").items:
        path, digest = judged.members["path"].text, judged.members["sha256"]
        if digests.get(path, digest.text) != digest.text:
            message = f"{path} has changed since the critic judged it. Run the critic again."
            yield Refusal(critic.path, digest.line, digest.column, "stale-critic", path, message)
