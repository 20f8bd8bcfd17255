"""Certificates for loopback, TLS contexts, and the headers of TLS records.

The one door to trustme. Record headers are read as RFC 8446, 5.1 gives them: type, version, length.
"""

from __future__ import annotations

import ssl
from dataclasses import dataclass, field
from pathlib import Path

import trustme

from engine.contract.errors import BadData

HEADER = 5
LONGEST = 2**14 + 256
APPLICATION = 23
TYPES = (20, 21, 22, APPLICATION)


@dataclass(frozen=True)
class Authority:
    """A certificate authority of our own and a server certificate for loopback, made afresh."""

    authority: trustme.CA
    server: trustme.LeafCert

    @classmethod
    def make(cls) -> Authority:
        """New keys, never written unless asked for."""
        authority = trustme.CA()
        return cls(authority, authority.issue_cert("localhost", "127.0.0.1", "::1"))

    def server_context(self) -> ssl.SSLContext:
        """A context that serves this certificate, TLS 1.3 only."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_3
        self.server.configure_cert(context)
        return context

    def client_context(self) -> ssl.SSLContext:
        """A context that trusts this authority and nobody else."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        self.authority.configure_trust(context)
        return context

    def write(self, path: Path) -> None:
        """Write the authority's certificate, for clients in other processes."""
        self.authority.cert_pem.write_to_path(str(path))


def trusting(path: Path) -> ssl.SSLContext:
    """A client context that trusts the authority in a PEM file; `BadData` where it is none."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    try:
        context.load_verify_locations(path)
    except (OSError, ssl.SSLError) as error:
        raise BadData(
            str(path), f"is no certificate: {error}.", "Give the file that the server wrote."
        ) from None
    return context


@dataclass(frozen=True)
class Record:
    """One TLS record: when its last byte was seen (s), its type, and its length without the header."""

    at: float
    type: int
    length: int


@dataclass
class RecordReader:
    """Finds the records in a stream of bytes that comes in pieces; keeps headers only."""

    place: str
    records: list[Record] = field(default_factory=list)
    _header: bytearray = field(default_factory=bytearray)
    _left: int = 0  # bytes of the current record still to come

    def read(self, data: bytes, at: float) -> None:
        """Take in what came at `at` seconds; `BadData` for bytes that are no TLS."""
        place = 0
        while place < len(data):
            if self._left == 0:
                wanted = HEADER - len(self._header)
                self._header += data[place : place + wanted]
                place += wanted
                if len(self._header) < HEADER:
                    return
                self._left = self._length()
            taken = min(self._left, len(data) - place)
            self._left -= taken
            place += taken
            if self._left == 0:
                kind, length = self._header[0], int.from_bytes(self._header[3:5], "big")
                self.records.append(Record(at, kind, length))
                self._header.clear()

    @property
    def whole(self) -> bool:
        """Whether the stream ended between records."""
        return self._left == 0 and not self._header

    def _length(self) -> int:
        kind, major, length = self._header[0], self._header[1], int.from_bytes(self._header[3:5], "big")
        if kind not in TYPES or major != 3 or not 0 < length <= LONGEST:
            raise BadData(
                self.place,
                f"sends bytes {self._header.hex(' ')} that head no TLS record.",
                "Listen to HTTPS.",
            )
        return length
