"""A relay on loopback that counts bytes: what passes between a client and a server, as TLS records.

It needs no rights, changes nothing, and keeps no content: the headers of records and their times only.
"""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from dataclasses import dataclass, field
from types import TracebackType

from engine.contract.errors import BadData
from engine.spill.server_running import HOST, PATIENCE, listen
from engine.spill.tls import Record, RecordReader

PIECE = 65_536


@dataclass
class Passed:
    """One connection: records that the client sent and records that the server sent."""

    up: RecordReader
    down: RecordReader
    done: threading.Event = field(default_factory=threading.Event)
    problem: str | None = None

    @property
    def records(self) -> list[Record]:
        """What the server sent."""
        return self.down.records


class Relay:
    """Listens on a free loopback port and passes every connection on, from `with` to its end."""

    def __init__(self, port: int, host: str = HOST) -> None:
        self.upstream = (host, port)
        self.socket = listen(0)
        self.socket.listen(256)
        self.port: int = self.socket.getsockname()[1]
        self.connections: list[Passed] = []
        self._open: set[socket.socket] = set()
        self._thread = threading.Thread(target=self._accept, daemon=True)

    def __enter__(self) -> Relay:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for each in [self.socket, *self._open]:
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()
        self._thread.join(PATIENCE)

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self.socket.accept()
            except OSError:
                return
            passed = Passed(RecordReader("the client"), RecordReader("the server"))
            self.connections.append(passed)
            threading.Thread(target=self._pass, args=(client, passed), daemon=True).start()

    def _pass(self, client: socket.socket, passed: Passed) -> None:
        try:
            server = socket.create_connection(self.upstream, timeout=PATIENCE)
        except OSError as error:
            passed.problem = f"{self.upstream[0]}:{self.upstream[1]}: {error}"
            client.close()
            passed.done.set()
            return
        server.settimeout(None)
        self._open |= {client, server}
        for each in (client, server):
            each.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        up = threading.Thread(target=_copy, args=(client, server, passed.up, passed), daemon=True)
        up.start()
        _copy(server, client, passed.down, passed)
        up.join(PATIENCE)
        self._open -= {client, server}
        client.close()
        server.close()
        passed.done.set()


def _copy(source: socket.socket, sink: socket.socket, reader: RecordReader, passed: Passed) -> None:
    """Pass bytes on until one side ends; then end the other side as well."""
    try:
        while data := source.recv(PIECE):
            _note(reader, data, passed)
            sink.sendall(data)
    except OSError:
        pass
    for each in (source, sink):
        with contextlib.suppress(OSError):
            each.shutdown(socket.SHUT_RDWR)


def _note(reader: RecordReader, data: bytes, passed: Passed) -> None:
    if passed.problem is None:
        try:
            reader.read(data, time.perf_counter())
        except BadData as error:
            passed.problem = str(error)
