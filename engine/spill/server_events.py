"""Server-sent events in the shape of the common chat API, and the sizes they have on the wire."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from engine.spill.mitigate import Event, size_of

DONE = b"data: [DONE]\n\n"
TLS_OVERHEAD = 17
"""Bytes that a record of TLS 1.3 has beyond what is sent: content type and tag (RFC 8446, 5.2)."""
FILLER = "x"


@dataclass(frozen=True)
class Head:
    """What all events of one answer share. Lengths of `id` and `created` do not vary between answers."""

    id: str
    created: int
    model: str
    filling: str | None = None

    def opening(self) -> bytes:
        """The first event: the role, no text."""
        return self._event({"role": "assistant", "content": ""}, None)

    def content(self, event: Event) -> bytes:
        """One event of text."""
        filling = {} if self.filling is None else {self.filling: FILLER * event.filling}
        return self._event({"content": event.text}, None, filling)

    def closing(self, reason: str) -> bytes:
        """The last event: why the answer ends."""
        return self._event({}, reason)

    def _event(self, delta: dict[str, str], reason: str | None, more: dict[str, str] | None = None) -> bytes:
        chunk: dict[str, Any] = {
            "id": self.id,
            "object": "chat.completion.chunk",
            "created": self.created,
            "model": self.model,
            "choices": [{"index": 0, "delta": delta, "finish_reason": reason}],
        }
        text = json.dumps(chunk | (more or {}), ensure_ascii=False, separators=(",", ":"))
        return f"data: {text}\n\n".encode()


@dataclass(frozen=True)
class Framing:
    """Bytes around the text of an event of one head, so that sizes follow without writing events."""

    around: int

    @classmethod
    def of(cls, head: Head) -> Framing:
        """Measured once, on an empty event."""
        return cls(len(head.content(Event(""))))

    def record(self, event: Event) -> int:
        """Length of the TLS record that carries one event."""
        return record_length(self.around + size_of(event.text) + event.filling)


def record_length(sent: int) -> int:
    """Length of the record that carries `sent` bytes of body as one HTTP/1.1 chunk."""
    return sent + len(f"{sent:x}") + 4 + TLS_OVERHEAD
