"""A server of a tiny random model, or of written-down rounds, over real TLS sockets."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from loopback_site import CHAT, Site

from engine.decode.scheme import Scheme
from engine.spill.mitigate import Mitigation
from engine.spill.relay import Relay
from engine.spill.server import Service, Settings
from engine.spill.server_running import Running
from engine.spill.tls import Authority


@pytest.fixture(scope="session")
def authority() -> Authority:
    """One authority and one certificate for all tests."""
    return Authority.make()


@pytest.fixture
def serve(authority: Authority) -> Iterator[Callable[..., Site]]:
    """Start a server and its relay; all are stopped after the test."""
    with ExitStack() as stack:

        def start(scheme: Scheme, mitigation: str = "none", **settings: Any) -> Site:
            chosen = Settings(mitigation=Mitigation.parse(mitigation), **settings)
            service = Service(scheme, CHAT, chosen)
            running = stack.enter_context(Running(service, authority.server_context()))
            relay = stack.enter_context(Relay(running.port))
            return Site(service, running, relay, authority)

        yield start
