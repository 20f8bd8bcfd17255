"""The server over real TLS sockets: what a listener reads is what was sent, and the server holds."""

from __future__ import annotations

import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from loopback_site import CHAT, LETTERS, Site, Written, body

from engine.contract.errors import BadData
from engine.contract.seeds import Stream
from engine.decode.drafts.lookup import Lookup
from engine.decode.scheme import Chain, Nothing, Request, Speculative
from engine.spill.capture import Frame, ask, by_gap, by_record, capture, differing, plain_lengths, recovery
from engine.spill.mitigate import Event, Mitigation, size_of
from engine.spill.relay import Relay
from engine.spill.server import LARGEST_BODY
from engine.spill.server_events import Framing, Head
from engine.spill.server_running import HOST, listen, loopback
from engine.spill.tls import Authority

MITIGATIONS = ("none", "token", "fixed:16", "random:6", "aggregate:3", "constant:8", "obfuscation:8")


def until(condition: Any, patience: float = 20.0) -> None:
    """Wait for what another thread does."""
    end = time.monotonic() + patience
    while not condition():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.01)


def lengths(site: Site, events: list[Event], mitigation: Mitigation) -> list[int]:
    """What the records of these events ought to be."""
    head = Head("chatcmpl-000000000000", 1_700_000_000, site.service.scheme.name, mitigation.filling)
    return [Framing.of(head).record(event) for event in events]


@pytest.mark.parametrize("mitigation", MITIGATIONS)
def test_the_records_on_the_wire_are_those_that_follow_from_the_rounds(serve: Any, mitigation: str) -> None:
    site = serve(Written(), mitigation, period=0.005)
    context = site.authority.client_context()
    frame = Frame.learn(capture(site.relay, context, body("xy", 9)))
    found = capture(site.relay, context, body("abc", 14, seed=3))
    sent, chosen = site.service.served[-1], Mitigation.parse(mitigation)
    read = [group.length for group in by_record(frame.rounds(found))]
    assert differing(lengths(site, sent.events, chosen), read) == 0
    assert found.answer.text == "".join(sent.pieces) == LETTERS[:14]
    assert sum(sent.counts) == 14
    until(lambda: sent.ended == "whole")


def test_what_the_relay_counts_is_what_the_client_decrypts(serve: Any) -> None:
    site = serve(Written())
    found = capture(site.relay, site.authority.client_context(), body())
    plain = plain_lengths(found.records)
    start = Frame.learn(found).before - 2
    assert plain[start : start + len(found.answer.plain)] == found.answer.plain


def test_without_filling_sizes_show_and_with_it_all_are_alike(serve: Any) -> None:
    shown = {}
    for mitigation in ("none", "fixed:32"):
        site = serve(Written(), mitigation)
        found = capture(site.relay, site.authority.client_context(), body(tokens=18))
        shown[mitigation] = {group.length for group in by_record(Frame.learn(found).rounds(found))}
    assert len(shown["none"]) > 1 == len(shown["fixed:32"])


def test_rounds_sent_token_by_token_are_read_back_from_gaps(serve: Any) -> None:
    site = serve(Written(pause=0.15), "token")
    found = capture(site.relay, site.authority.client_context(), body(tokens=9))
    groups = by_gap(Frame.learn(found).rounds(found), 0.07)
    truth = site.service.served[-1].counts
    assert truth == [1, 3, 2, 1, 2]
    assert recovery(truth, [group.records for group in groups]).wrong <= 1  # a busy machine may stretch one
    assert recovery(truth, [1] * 9).invented == 4


@pytest.mark.parametrize("drafted", [True, False])
def test_a_tiny_model_is_served_as_it_decodes(serve: Any, tiny: Any, drafted: bool) -> None:
    _, target = tiny(3)
    drafter = (lambda _: Chain(Lookup(), 4)) if drafted else (lambda _: Nothing())
    scheme = Speculative("lookup" if drafted else "plain", 5, target, drafter)
    site = serve(scheme)
    found = capture(site.relay, site.authority.client_context(), body("abcabc", 16))
    request = Request(tuple(CHAT.prompt("abcabc")), 16, CHAT.end, 0.0, "server/0")
    wanted = list(scheme.rounds(request))
    assert site.service.served[-1].counts == [len(tokens) for tokens in wanted]
    assert found.answer.text == "".join(CHAT.text(list(tokens)) for tokens in wanted)
    assert drafted == (max(site.service.served[-1].counts) > 1)


def test_many_clients_at_once_all_get_their_own_answer(serve: Any) -> None:
    site = serve(Written(pause=0.002), slots=3)
    context, starts = site.authority.client_context(), "abcdefghijklmnop"
    with ThreadPoolExecutor(16) as pool:
        asked = [
            pool.submit(ask, (HOST, site.running.port), context, body(letter, 12), 60.0) for letter in starts
        ]
        answers = [each.result() for each in asked]
    assert [answer.text[0] for answer in answers] == list(starts)
    assert all(answer.whole and len(answer.text) == 12 for answer in answers)
    assert len({answer.id for answer in answers}) == 16
    assert site.service.waiting == 0


def test_clients_beyond_the_queue_are_told_to_come_back(serve: Any) -> None:
    site = serve(Written(pause=0.5), slots=1, queue=0)
    context = site.authority.client_context()
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(ask, (HOST, site.running.port), context, body(tokens=6), 60.0)
        until(lambda: site.service.waiting == 1)
        refused = ask((HOST, site.running.port), context, body())
        assert refused.status == 503 and b"come back" in refused.raw
        assert first.result().whole


def leave(site: Site, content: bytes) -> None:
    """Send bytes, read a little, and hang up."""
    with (
        socket.create_connection((HOST, site.running.port)) as plain,
        site.authority.client_context().wrap_socket(plain, server_hostname="127.0.0.1") as secure,
    ):
        secure.sendall(content)
        secure.recv(100)


def request_bytes(tokens: int) -> bytes:
    """A request as it goes over the wire."""
    import json

    content = json.dumps(body(tokens=tokens)).encode()
    head = f"POST /v1/chat/completions HTTP/1.1\r\nHost: a\r\nContent-Length: {len(content)}\r\n\r\n"
    return head.encode() + content


def test_a_client_that_hangs_up_frees_its_slot_and_stops_the_decoding(serve: Any) -> None:
    site = serve(Written(pause=0.05), slots=1)
    leave(site, request_bytes(1000))
    until(lambda: site.service.served and site.service.served[0].ended == "left")
    assert len(site.service.served[0].counts) < 300
    assert ask((HOST, site.running.port), site.authority.client_context(), body()).whole


def test_a_client_that_never_reads_is_given_up_and_others_are_served(serve: Any) -> None:
    site = serve(Written(sizes=(1,)), "fixed:16000", stall=0.5, slots=2)
    with (
        socket.create_connection((HOST, site.running.port)) as plain,
        site.authority.client_context().wrap_socket(plain, server_hostname="127.0.0.1") as secure,
    ):
        secure.sendall(request_bytes(1024))
        until(lambda: site.service.served and site.service.served[0].ended == "stalled")
        assert ask((HOST, site.running.port), site.authority.client_context(), body(tokens=2)).whole
    assert len(site.service.served[0].counts) < 1024
    until(lambda: site.service.waiting == 0)


def test_a_slow_reader_gets_everything(serve: Any) -> None:
    site = serve(Written(sizes=(1,)), "fixed:16000", stall=20.0)
    got, context = b"", site.authority.client_context()
    with (
        socket.create_connection((HOST, site.running.port)) as plain,
        context.wrap_socket(plain, server_hostname="127.0.0.1") as secure,
    ):
        secure.sendall(request_bytes(200))
        time.sleep(0.3)
        while b"[DONE]" not in got[-200:]:
            got += secure.recv(16_384)
    assert got.count(b'"content":') == 201
    until(lambda: site.service.served[0].ended == "whole")


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"stream": False}, "stream"),
        ({"messages": []}, "messages"),
        ({"messages": [{"role": "system", "content": "x"}]}, "messages.0.role"),
        ({"max_tokens": 0}, "max_tokens"),
        ({"max_tokens": "9"}, "max_tokens"),
        ({"temperature": 3.0}, "temperature"),
        ({"messages": [{"role": "user", "content": "x" * 8001}]}, "messages.0.content"),
        ({"messages": [{"role": "user", "content": "x" * 2 * LARGEST_BODY}]}, "body"),
    ],
)
def test_a_request_that_cannot_be_served_is_refused_with_its_field(
    serve: Any, change: dict[str, Any], field: str
) -> None:
    site = serve(Written())
    answer = ask((HOST, site.running.port), site.authority.client_context(), body() | change)
    assert answer.status == 400 and field.encode() in answer.raw
    assert not site.service.served


def test_a_certificate_of_another_authority_is_refused(serve: Any) -> None:
    site = serve(Written())
    with pytest.raises(BadData, match="certificate that is not trusted"):
        ask((HOST, site.running.port), Authority.make().client_context(), body())
    assert ask((HOST, site.running.port), site.authority.client_context(), body()).whole


def test_a_client_that_speaks_no_tls_harms_nobody(serve: Any) -> None:
    site = serve(Written())
    with socket.create_connection((HOST, site.relay.port)) as plain:
        plain.sendall(request_bytes(4))
        plain.settimeout(20)
        assert not plain.recv(100).startswith(b"HTTP")
    until(lambda: site.relay.connections[0].problem is not None)
    assert "no TLS record" in str(site.relay.connections[0].problem)
    assert capture(site.relay, site.authority.client_context(), body()).answer.whole


def test_nobody_behind_the_relay_is_told_as_such(authority: Authority) -> None:
    free = listen(0)
    port = free.getsockname()[1]
    free.close()
    with Relay(port) as relay, pytest.raises(BadData, match="gives no answer"):
        capture(relay, authority.client_context(), body())


def test_a_port_that_is_taken_is_refused() -> None:
    with listen(0) as taken, pytest.raises(BadData, match="cannot be served"):
        listen(taken.getsockname()[1])


@pytest.mark.parametrize("host", ["10.0.0.1", "example.org", "0.0.0.0", "::", "169.254.1.1", ""])
def test_an_address_that_is_not_this_machine_is_refused(host: str) -> None:
    with pytest.raises(BadData, match="no loopback address"):
        loopback(host)


@pytest.mark.parametrize(("host", "wanted"), [("localhost", HOST), ("127.0.0.1", HOST), ("[::1]", "::1")])
def test_loopback_addresses_are_taken(host: str, wanted: str) -> None:
    assert loopback(host) == wanted


def test_a_capture_that_is_cut_short_is_refused(serve: Any) -> None:
    site = serve(Written())
    found = capture(site.relay, site.authority.client_context(), body())
    frame = Frame.learn(found)
    half = type(found)(found.records[: frame.before + 1], found.answer)
    for read in (Frame.learn, frame.rounds):
        with pytest.raises(BadData, match="a capture"):
            read(half)


def test_filling_is_drawn_afresh_for_another_seed(serve: Any) -> None:
    site = serve(Written(), "random:48")
    for seed in (1, 1, 2):
        capture(site.relay, site.authority.client_context(), body(seed=seed))
    first, again, other = ([event.filling for event in s.events] for s in site.service.served)
    assert first == again != other
    assert first[0] == int(Stream(20261130, "filling/1").below(49, 1)[0])


def test_a_client_may_ask_for_obfuscation_where_the_operator_has_none(serve: Any) -> None:
    site = serve(Written())
    asked = body(stream_options={"include_obfuscation": True})
    found = capture(site.relay, site.authority.client_context(), asked)
    contents = [event for event in found.answer.events if "obfuscation" in event]
    assert len(contents) == 12 and len({len(event["obfuscation"]) for event in contents}) > 3


def test_no_thread_is_left_behind(authority: Authority) -> None:
    from engine.spill.server import Service
    from engine.spill.server_running import Running

    before = threading.active_count()
    with (
        Running(Service(Written(), CHAT), authority.server_context()) as running,
        Relay(running.port) as relay,
    ):
        assert capture(relay, authority.client_context(), body()).answer.whole
    until(lambda: threading.active_count() <= before + 4)  # workers of the decoder's pool stay a while


def test_sizes_of_text_are_those_inside_json() -> None:
    assert [size_of(text) for text in ("a", "\n", '"', "é", "😀", "")] == [1, 2, 2, 2, 4, 0]
