"""How a server may send the rounds of an answer: as they come, padded, gathered, or at a constant rate.

The same shaper serves the live server and the judgement of mitigations at full size, so that what is judged
is what would be sent. Sizes are bytes of JSON text: what a piece of text takes up inside an event.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args

from engine.contract.errors import BadData
from engine.contract.seeds import Stream

Kind = Literal["none", "token", "fixed", "random", "aggregate", "constant", "obfuscation"]
SIZED = ("fixed", "random", "aggregate", "constant", "obfuscation")
FIELDS = {"fixed": "p", "random": "p", "constant": "p", "obfuscation": "obfuscation"}
"""The key that holds filling, by kind; the others send none."""


@dataclass(frozen=True)
class Mitigation:
    """What is done to hide the sizes of rounds.

    `none` one event a round. `token` one event a token, written back to back. `fixed` fills each event's text
    to a multiple of `size` bytes. `random` adds 0 … `size` bytes. `aggregate` gathers `size` rounds an event.
    `constant` sends `size` bytes a tick of the clock, filled. `obfuscation` adds 0 … `size` bytes to each
    token's own event.
    """

    kind: Kind = "none"
    size: int = 0

    @classmethod
    def parse(cls, text: str) -> Mitigation:
        """From `none`, `token`, or `KIND:SIZE`; `BadData` tells what there is."""
        kind, _, size = text.partition(":")
        known = ", ".join(f"{name}:N" if name in SIZED else name for name in get_args(Kind))
        whole = size.isdecimal() and 0 < int(size) <= 16_000
        if kind not in get_args(Kind) or (kind in SIZED) != bool(size) or (bool(size) and not whole):
            raise BadData(f"mitigation {text!r}", "is not known.", f"One of: {known}, with N in 1 … 16000.")
        return cls(kind, int(size or 0))  # type: ignore[arg-type]

    def __str__(self) -> str:
        return f"{self.kind}:{self.size}" if self.size else self.kind

    @property
    def by_token(self) -> bool:
        """Whether each token has an event of its own."""
        return self.kind in ("token", "obfuscation")

    @property
    def filling(self) -> str | None:
        """The key of the event that holds filling."""
        return FIELDS.get(self.kind)


@dataclass(frozen=True)
class Event:
    """One event on the wire: its text, bytes of filling, and how long its bytes had waited.

    `waited` is summed over the bytes of the text, in rounds (ticks for a constant rate).
    """

    text: str
    filling: int = 0
    waited: int = 0


def size_of(text: str) -> int:
    """Bytes that `text` takes up inside a JSON string."""
    return len(json.dumps(text, ensure_ascii=False).encode()) - 2


@dataclass
class Shaper:
    """Turns rounds, in order, into events. `draws` is only read where filling is random."""

    mitigation: Mitigation
    draws: Stream
    _held: list[tuple[str, int]] = field(default_factory=list)  # text and the round it came in
    _round: int = 0

    def round(self, pieces: Sequence[str]) -> list[Event]:
        """What is sent when a round's tokens, one text each, are there."""
        self.receive(pieces)
        if self.mitigation.kind == "constant":
            return [self.tick()]
        self._round += 1
        if self.mitigation.kind == "aggregate" and self._round % self.mitigation.size:
            return []
        return self._flush()

    def end(self) -> list[Event]:
        """What is still to be sent after the last round."""
        if self.mitigation.kind != "constant":
            return self._flush()
        events = []
        while self._held:
            events.append(self.tick())
        return events

    def receive(self, pieces: Sequence[str]) -> None:
        """Hold a round's text for later ticks; for a server with a clock of its own."""
        self._held += [(piece, self._round) for piece in pieces]

    @property
    def empty(self) -> bool:
        """Whether nothing is held back."""
        return not self._held

    def tick(self) -> Event:
        """One event of a constant rate: as much of the held text as fits, filled."""
        room, text, waited = self.mitigation.size, "", 0
        while self._held and room:
            piece, came = self._held[0]
            taken = _fitting(piece, room)
            if not taken and piece:
                break
            rest = piece[len(taken) :]
            self._held[:1] = [(rest, came)] if rest else []
            text, room = text + taken, room - size_of(taken)
            waited += size_of(taken) * (self._round - came)
        if not text and self._held and room == self.mitigation.size:
            raise BadData(str(self.mitigation), "is narrower than a character.", "Choose a larger size.")
        self._round += 1
        return Event(text, room, waited)

    def _flush(self) -> list[Event]:
        held, self._held = self._held, []
        if not held:
            return []
        if self.mitigation.by_token:
            return [Event(piece, self._filling(size_of(piece))) for piece, _ in held]
        text = "".join(piece for piece, _ in held)
        waited = sum(size_of(piece) * (self._round - 1 - came) for piece, came in held)
        return [Event(text, self._filling(size_of(text)), waited)]

    def _filling(self, size: int) -> int:
        kind, most = self.mitigation.kind, self.mitigation.size
        if kind == "fixed":
            return max(-(-size // most), 1) * most - size
        return int(self.draws.below(most + 1, 1)[0]) if kind in ("random", "obfuscation") else 0


def _fitting(text: str, room: int) -> str:
    """The longest beginning of `text` that takes up at most `room` bytes."""
    if size_of(text) <= room:
        return text
    end = 0
    for end, letter in enumerate(text):  # noqa: B007
        room -= size_of(letter)
        if room < 0:
            break
    return text[:end]
