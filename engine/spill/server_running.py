"""Run the server in a thread, or in the foreground, on a loopback address. The one door to uvicorn."""

from __future__ import annotations

import ipaddress
import socket
import ssl
import threading
import time
from types import TracebackType

import uvicorn

from engine.contract.errors import BadData
from engine.spill.server import Service

HOST = "127.0.0.1"
BUFFER = 64 * 1024
"""What the system may hold for a reader that does not read, in bytes."""
PATIENCE = 30.0


def loopback(host: str) -> str:
    """The host itself where it is an address of this machine; `BadData` for every other."""
    if host == "localhost":
        return HOST
    try:
        address = ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        address = None
    if address is None or not address.is_loopback:
        raise BadData(host, "is no loopback address.", "Only your own server on this machine may be probed.")
    return str(address)


def listen(port: int) -> socket.socket:
    """A bound socket on loopback, any free port where `port` is 0; `BadData` where it is taken."""
    bound = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)  # else no TCP_NODELAY
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, BUFFER)
    try:
        bound.bind((HOST, port))
        bound.listen(1)
    except OSError as error:
        bound.close()
        raise BadData(
            f"{HOST}:{port}", f"cannot be served: {error.strerror}.", "Choose another port."
        ) from None
    return bound


class Running:
    """A server in a thread of its own, from `with` to its end."""

    def __init__(self, service: Service, context: ssl.SSLContext, port: int = 0) -> None:
        self.service, self.socket = service, listen(port)
        self.port: int = self.socket.getsockname()[1]
        self.server = uvicorn.Server(
            uvicorn.Config(
                service.application(),
                http="h11",
                ws="none",
                lifespan="off",
                log_level="critical",
                ssl_context_factory=lambda _config, _default: context,
                timeout_graceful_shutdown=1,
            )
        )
        self._thread = threading.Thread(target=self.run, daemon=True)

    def run(self) -> None:
        """Serve until stopped."""
        self.server.run(sockets=[self.socket])

    def __enter__(self) -> Running:
        self._thread.start()
        until = time.monotonic() + PATIENCE
        while not self.server.started:
            if time.monotonic() > until or not self._thread.is_alive():
                raise BadData(f"{HOST}:{self.port}", "did not start to serve.", "Try again.")
            time.sleep(0.005)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.server.should_exit = True
        self._thread.join(PATIENCE)
        self.socket.close()
