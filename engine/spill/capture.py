"""Ask a server through the relay and read its rounds back from the sizes and times of TLS records.

The client knows what it was sent, record by record; the listener knows lengths and times alone. Both are
kept, so that what the listener recovers can be held against the truth.
"""

from __future__ import annotations

import json
import socket
import ssl
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, pairwise, zip_longest
from typing import Any

import h11

from engine.contract.errors import BadData
from engine.spill.relay import Passed, Relay
from engine.spill.server_events import TLS_OVERHEAD
from engine.spill.tls import APPLICATION, Record

PATH = "/v1/chat/completions"
LARGEST = 16_384
PATIENCE = 600.0


@dataclass
class Answer:
    """What the client received: status, the plain length of each record, each event, the text.

    `deltas` says how many events with text each record completed.
    """

    status: int = 0
    plain: list[int] = field(default_factory=list)
    deltas: list[int] = field(default_factory=list)
    events: list[dict[str, Any]] = field(default_factory=list)
    whole: bool = False
    raw: bytes = b""

    @property
    def text(self) -> str:
        """All deltas, joined."""
        return "".join(_delta(event) for event in self.events)

    @property
    def id(self) -> str:
        """The answer's own id."""
        return str(self.events[0]["id"]) if self.events else ""


@dataclass(frozen=True)
class Capture:
    """One answer on the wire: the server's application records, and what the client made of them."""

    records: tuple[Record, ...]
    answer: Answer


@dataclass(frozen=True)
class Frame:
    """How many of a connection's records come before the first round and after the last.

    They are the same for every answer of one server: a listener learns them from an answer of its own.
    """

    before: int
    after: int

    @classmethod
    def learn(cls, capture: Capture) -> Frame:
        """From one answer that the listener asked for, knowing what each of its records held.

        Raises `BadData` where no row of records has the lengths of what was received, or none held text.
        """
        wanted = [held + TLS_OVERHEAD for held in capture.answer.plain]
        seen = [record.length for record in capture.records]
        told = [place for place, deltas in enumerate(capture.answer.deltas) if deltas]
        for start in range(len(seen) - len(wanted), -1, -1):
            if told and seen[start : start + len(wanted)] == wanted:
                return cls(start + told[0], len(seen) - start - told[-1] - 1)
        raise BadData(
            "a capture", "does not hold what was received.", "Capture the whole connection, TLS 1.3."
        )

    def rounds(self, capture: Capture) -> tuple[Record, ...]:
        """The records that carry rounds; `BadData` for a capture that was cut short."""
        last = len(capture.records) - self.after
        if last < self.before:
            raise BadData("a capture", "ends before its answer does.", "Capture the whole connection.")
        return capture.records[self.before : last]


@dataclass(frozen=True)
class Group:
    """Records that came together: when the last was there (s), their lengths summed, how many."""

    at: float
    length: int
    records: int


def by_record(records: Sequence[Record]) -> list[Group]:
    """One round a record."""
    return [Group(r.at, r.length, 1) for r in records]


def by_gap(records: Sequence[Record], gap: float) -> list[Group]:
    """Records less than `gap` seconds after the one before belong to its round."""
    groups: list[list[Record]] = []
    for record in records:
        if groups and record.at - groups[-1][-1].at < gap:
            groups[-1].append(record)
        else:
            groups.append([record])
    return [Group(g[-1].at, sum(r.length for r in g), len(g)) for g in groups]


def gaps(groups: Sequence[Group]) -> list[int]:
    """Microseconds between rounds: the trace of time alone."""
    return [round(1e6 * (b.at - a.at)) for a, b in pairwise(groups)]


@dataclass(frozen=True)
class Recovery:
    """Rounds there were, those that a listener missed, and those it made up."""

    rounds: int
    missed: int
    invented: int

    @property
    def wrong(self) -> int:
        """Missed and invented together."""
        return self.missed + self.invented


def recovery(truth: Sequence[int], read: Sequence[int]) -> Recovery:
    """Compare rounds by where they end, in tokens. `truth` and `read` are tokens a round."""
    real, found = set(accumulate(truth)), set(accumulate(read))
    return Recovery(len(real), len(real - found), len(found - real))


def differing(wanted: Sequence[int], seen: Sequence[int]) -> int:
    """Positions at which two rows of sizes differ, counting those that one lacks."""
    return sum(a != b for a, b in zip_longest(wanted, seen))


def capture(
    relay: Relay, context: ssl.SSLContext, body: dict[str, Any], patience: float = PATIENCE
) -> Capture:
    """Ask once through the relay, on a connection of its own.

    Raises `BadData` where the certificate is not trusted, nobody answers, or the answer is cut short.
    """
    known = len(relay.connections)
    answer = ask(("127.0.0.1", relay.port), context, body, patience)
    passed = _own(relay.connections[known:])
    return Capture(tuple(r for r in passed.records if r.type == APPLICATION), answer)


def _own(new: Sequence[Passed]) -> Passed:
    if len(new) != 1:
        raise BadData("the relay", f"saw {len(new)} connections in place of one.", "Let nobody else use it.")
    new[0].done.wait(PATIENCE)
    if new[0].problem is not None:
        raise BadData("the relay", f"lost the stream: {new[0].problem}", "Capture it again.")
    return new[0]


def ask(
    address: tuple[str, int], context: ssl.SSLContext, body: dict[str, Any], patience: float = PATIENCE
) -> Answer:
    """One request over TLS, read record by record."""
    place = f"https://{address[0]}:{address[1]}"
    try:
        with (
            socket.create_connection(address, timeout=patience) as plain,
            context.wrap_socket(plain, server_hostname="127.0.0.1") as secure,
        ):
            secure.sendall(_request(body))
            return _read(secure)
    except ssl.SSLCertVerificationError as error:
        raise BadData(
            place, f"shows a certificate that is not trusted: {error.verify_message}.", "Give its authority."
        ) from None
    except (OSError, h11.RemoteProtocolError) as error:
        raise BadData(place, f"gives no answer: {error}.", "Start the server; try again.") from None


def _request(body: dict[str, Any]) -> bytes:
    content = json.dumps(body).encode()
    head = f"POST {PATH} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    return f"{head}Content-Length: {len(content)}\r\nConnection: close\r\n\r\n".encode() + content


def _read(secure: ssl.SSLSocket) -> Answer:
    """Read to the end of the answer. One call of `recv` gives at most what one record holds."""
    answer, connection, pending = Answer(), h11.Connection(h11.CLIENT), b""
    connection.send(h11.Request(method="POST", target=PATH, headers=[("Host", "localhost")]))
    connection.send(h11.EndOfMessage())
    while data := _received(secure, answer.whole):
        answer.plain.append(len(data))
        known = len(answer.events)
        connection.receive_data(data)
        for event in iter(connection.next_event, h11.NEED_DATA):
            if isinstance(event, h11.Response):
                answer.status = event.status_code
            elif isinstance(event, h11.Data):
                answer.raw += bytes(event.data)
                pending += bytes(event.data)
                *lines, pending = pending.split(b"\n\n")
                answer.events += list(_events(lines))
            elif isinstance(event, h11.EndOfMessage):
                answer.whole = True
                break
        answer.deltas.append(sum(map(_tells, answer.events[known:])))
    return answer


def _received(secure: ssl.SSLSocket, whole: bool) -> bytes:
    """The next record's content; nothing after the end, however the server ends the connection."""
    try:
        return secure.recv(LARGEST)
    except OSError:
        if whole:
            return b""
        raise


def _events(blocks: Sequence[bytes]) -> Iterator[dict[str, Any]]:
    """The JSON of each event that has some."""
    for block in blocks:
        for line in block.splitlines():
            if line.startswith(b"data: ") and line != b"data: [DONE]":
                yield json.loads(line[6:])


def _tells(event: dict[str, Any]) -> bool:
    """Whether an event carries text, be it empty; the one that names the role does not."""
    delta = (event.get("choices") or [{}])[0].get("delta", {})
    return "role" not in delta and isinstance(delta.get("content"), str)


def _delta(event: dict[str, Any]) -> str:
    choices = event.get("choices") or [{}]
    return str(choices[0].get("delta", {}).get("content") or "")


def plain_lengths(records: Sequence[Record]) -> list[int]:
    """What each record of TLS 1.3 held, by its length."""
    return [record.length - TLS_OVERHEAD for record in records]
