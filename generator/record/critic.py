"""A critic judges committed state: one that read other bytes than stand here says nothing about them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from generator.record.payload import Payload
from generator.report.refusal import Refusal


def check(payloads: Mapping[str, Payload]) -> Iterator[Refusal]:
    """Refuse critics whose provenance names a payload of the record by another digest than it has."""
    for critic in payloads.values():
        if critic.kind == "critic":
            yield from _stale(critic, payloads)


def _stale(critic: Payload, payloads: Mapping[str, Payload]) -> Iterator[Refusal]:
    for judged in critic.at("/provenance/inputs").items:
        path, digest = judged.members["path"].text, judged.members["sha256"]
        if path in payloads and payloads[path].sha256 != digest.text:
            message = f"{path} has changed since the critic judged it. Run the critic again."
            yield Refusal(critic.path, digest.line, digest.column, "stale-critic", path, message)
