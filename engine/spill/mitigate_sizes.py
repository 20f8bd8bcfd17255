"""What a listener sees of an answer under a mitigation, computed from its rounds, and what it costs.

No socket is opened: the events are those the server would send, their lengths those the wire would carry
(`engine.experiments.spill_wire` holds both against a capture).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from engine.contract.seeds import Stream
from engine.spill.attack import Integers
from engine.spill.mitigate import Event, Mitigation, Shaper, size_of
from engine.spill.server_events import Framing, Head

MODEL = "model-name"


@dataclass(frozen=True)
class Seen:
    """One answer on the wire: bytes and records of each burst, and its cost.

    `sent` bytes of all records, `text` bytes of the answer itself, `waited` byte-rounds between a token's
    round and the burst that carried it.
    """

    lengths: tuple[int, ...]
    records: tuple[int, ...]
    sent: int
    text: int
    waited: int


def framing(mitigation: Mitigation) -> Framing:
    """Bytes around the text of the server's events under a mitigation."""
    return Framing.of(Head(f"chatcmpl-{0:012d}", 1_700_000_000, MODEL, mitigation.filling))


def bursts(rounds: Sequence[Sequence[str]], mitigation: Mitigation, draws: Stream) -> list[list[Event]]:
    """The events of an answer, those written at one moment together. `rounds`: texts of tokens, by round."""
    shaper = Shaper(mitigation, draws)
    sent = [shaper.round(pieces) for pieces in rounds]
    rest = shaper.end()
    return [burst for burst in sent if burst] + ([[event] for event in rest])


def seen(rounds: Sequence[Sequence[str]], mitigation: Mitigation, draws: Stream) -> Seen:
    """What a listener sees of one answer."""
    around, groups = framing(mitigation), bursts(rounds, mitigation, draws)
    lengths = tuple(sum(around.record(event) for event in group) for group in groups)
    return Seen(
        lengths=lengths,
        records=tuple(len(group) for group in groups),
        sent=sum(lengths),
        text=sum(size_of(piece) for pieces in rounds for piece in pieces),
        waited=sum(event.waited for group in groups for event in group),
    )


def tight(sizes: Sequence[int], step: int) -> int:
    """The smallest multiple of `step` that holds the largest round, in bytes of JSON text."""
    return max(-(-max(sizes) // step), 1) * step


def vectors(answers: Sequence[Seen], mitigation: Mitigation, length: int) -> Integers:
    """Lengths of bursts, with their numbers of records where there are several. (N, L or 2 L)"""
    sizes = _padded([answer.lengths for answer in answers], length)
    if not mitigation.by_token:
        return sizes
    records = _padded([answer.records for answer in answers], length)
    return np.stack([sizes, records], axis=2).reshape(len(answers), 2 * length)  # a burst's two side by side


def _padded(rows: Sequence[Sequence[int]], length: int) -> Integers:
    out = np.zeros((len(rows), length), dtype=np.int64)
    for row, values in zip(out, rows, strict=True):
        row[: min(len(values), length)] = values[:length]
    return out
