"""An HTTPS server that streams a speculative decoder's rounds, in the shape of the common chat API.

The one door to starlette. It exists to be listened to on loopback: every answer it gives is also logged
as it was meant, so that what a listener recovers can be held against it.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import time
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal

import anyio
import anyio.to_thread
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect
from starlette.requests import Request as HttpRequest
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import Message as AsgiMessage
from starlette.types import Send

from engine.contract.seeds import Stream
from engine.decode.models import Chat
from engine.decode.scheme import Request, Scheme
from engine.spill.deltas import Deltas
from engine.spill.mitigate import Event, Mitigation, Shaper
from engine.spill.server_events import DONE, Head

LARGEST_BODY = 64 * 1024
LOGGED = 10_000
NOTHING = Mitigation()
OBFUSCATION = Mitigation("obfuscation", 32)
"""What a client gets that asks for obfuscation."""


class Said(BaseModel):
    """One message of a chat."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)
    role: Literal["user"]
    content: str = Field(min_length=1, max_length=8_000)


class StreamOptions(BaseModel):
    """What a client may choose about the stream: a field of random length on each token's own event."""

    model_config = ConfigDict(extra="ignore", strict=True, frozen=True)
    include_obfuscation: bool = False


class Asked(BaseModel):
    """The body of a request: one user message, streamed."""

    model_config = ConfigDict(extra="ignore", strict=True, frozen=True, allow_inf_nan=False)
    messages: list[Said] = Field(min_length=1, max_length=1)
    stream: Literal[True]
    max_tokens: int = Field(default=64, ge=1, le=1024)
    temperature: float = Field(default=0.0, ge=0.0, le=2.0)
    seed: int = Field(default=0, ge=0)
    stream_options: StreamOptions = StreamOptions()

    def mitigation(self, operators: Mitigation) -> Mitigation:
        """The operator's choice, or the client's where the operator sends sizes as they are."""
        asked = self.stream_options.include_obfuscation and operators.kind in ("none", "token")
        return OBFUSCATION if asked else operators


@dataclass(frozen=True)
class Settings:
    """How the server runs. `period`: clock of a constant rate (s). `stall`: how long a reader may pause (s).

    `slots` answers are decoded at once, `queue` more may wait; beyond that a client is told to come back.
    """

    mitigation: Mitigation = NOTHING
    period: float = 0.1
    slots: int = 4
    queue: int = 64
    stall: float = 30.0
    root: int = 20261130


@dataclass
class Served:
    """One answer as it was meant: tokens of each round, the events sent, when each round was there (s)."""

    id: str
    counts: list[int] = field(default_factory=list)
    pieces: list[str] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    times: list[float] = field(default_factory=list)
    ended: Literal["open", "whole", "left", "stalled", "failed"] = "open"


@dataclass
class Service:
    """What the application holds: a scheme, its tokenizer, its settings, and what it served."""

    scheme: Scheme
    chat: Chat
    settings: Settings = Settings()
    served: deque[Served] = field(default_factory=lambda: deque(maxlen=LOGGED))
    waiting: int = 0
    _number: Iterator[int] = field(default_factory=itertools.count)

    def __post_init__(self) -> None:
        self._slots = asyncio.Semaphore(self.settings.slots)

    def application(self) -> Starlette:
        """The ASGI application."""
        return Starlette(
            routes=[
                Route("/v1/chat/completions", self.complete, methods=["POST"]),
                Route("/v1/models", self.models),
            ]
        )

    async def models(self, _: HttpRequest) -> Response:
        """The one model there is."""
        return JSONResponse({"object": "list", "data": [{"id": self.scheme.name, "object": "model"}]})

    async def complete(self, request: HttpRequest) -> Response:
        """Stream one answer; a refusal says which field is wrong."""
        try:
            asked = Asked.model_validate_json(await _body(request))
        except ClientDisconnect:
            return Response(status_code=499)
        except ValidationError as error:
            found = error.errors()[0]
            return _refused(400, f"{'.'.join(map(str, found['loc'])) or 'body'}: {found['msg']}")
        if self.waiting >= self.settings.slots + self.settings.queue:
            return _refused(503, "all slots are taken; come back in a second", {"Retry-After": "1"})
        served = Served(id=f"chatcmpl-{next(self._number):012d}")
        self.served.append(served)
        return Steady(self.stream(asked, served), served, self.settings.stall)

    async def stream(self, asked: Asked, served: Served) -> AsyncIterator[bytes]:
        """The events of one answer, as bytes, one piece a write."""
        mitigation = asked.mitigation(self.settings.mitigation)
        head = Head(served.id, int(time.time()), self.scheme.name, mitigation.filling)
        self.waiting += 1
        try:
            yield head.opening()
            async with self._slots:
                rounds = self._rounds(asked)
                shaper = Shaper(mitigation, self._draws(asked))
                paced = mitigation.kind == "constant"
                events = (
                    self._paced(rounds, shaper, served) if paced else self._direct(rounds, shaper, served)
                )
                async with contextlib.aclosing(events):
                    async for event in events:
                        served.events.append(event)
                        yield head.content(event)
            yield head.closing("length" if sum(served.counts) >= asked.max_tokens else "stop")
            yield DONE
            served.ended = "whole"
        except Exception:
            served.ended = "failed"
            raise
        finally:
            self.waiting -= 1
            if served.ended == "open":
                served.ended = "left"

    def _rounds(self, asked: Asked) -> Iterator[tuple[int, ...]]:
        return self.scheme.rounds(
            Request(
                prompt=tuple(self.chat.prompt(asked.messages[0].content)),
                new_tokens=asked.max_tokens,
                end=self.chat.end,
                temperature=asked.temperature,
                seed=f"server/{asked.seed}",
            )
        )

    def _draws(self, asked: Asked) -> Stream:
        return Stream(self.settings.root, f"filling/{asked.seed}")

    async def _texts(
        self, rounds: Iterator[tuple[int, ...]], served: Served
    ) -> AsyncGenerator[list[str], None]:
        """The text of each round's tokens, decoded in a thread; ends the round in progress when left."""
        deltas = Deltas(self.chat)
        try:
            while (tokens := await anyio.to_thread.run_sync(partial(next, rounds, None))) is not None:
                pieces = [deltas.push((token,)) for token in tokens]
                served.counts.append(len(tokens))
                served.times.append(time.perf_counter())
                served.pieces += pieces
                yield pieces
            if rest := deltas.finish():
                served.pieces[-1] += rest
                yield [rest]
        finally:
            rounds.close()  # type: ignore[attr-defined]

    async def _direct(
        self, rounds: Iterator[tuple[int, ...]], shaper: Shaper, served: Served
    ) -> AsyncGenerator[Event, None]:
        """Events as rounds come."""
        async with contextlib.aclosing(self._texts(rounds, served)) as texts:
            async for pieces in texts:
                for event in shaper.round(pieces):
                    yield event
        for event in shaper.end():
            yield event

    async def _paced(
        self, rounds: Iterator[tuple[int, ...]], shaper: Shaper, served: Served
    ) -> AsyncGenerator[Event, None]:
        """Events as the clock strikes, filled where nothing is there."""

        async def collect() -> None:
            async with contextlib.aclosing(self._texts(rounds, served)) as texts:
                async for pieces in texts:
                    shaper.receive(pieces)

        collecting = asyncio.create_task(collect())
        strikes = time.perf_counter()
        try:
            while not (collecting.done() and shaper.empty):
                strikes += self.settings.period
                await asyncio.sleep(max(strikes - time.perf_counter(), 0.0))
                yield shaper.tick()
            await collecting
        finally:
            collecting.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await collecting


class Steady(StreamingResponse):
    """A stream of events that gives up on a reader who does not read."""

    def __init__(self, events: AsyncIterator[bytes], served: Served, stall: float) -> None:
        super().__init__(events, media_type="text/event-stream", headers={"Cache-Control": "no-store"})
        self.served, self.stall = served, stall

    async def stream_response(self, send: Send) -> None:
        """Send all pieces, each within `stall` seconds."""
        events = self.body_iterator

        async def timely(message: AsgiMessage) -> None:
            with anyio.fail_after(self.stall):
                await send(message)

        try:
            await super().stream_response(timely)
        except TimeoutError:
            self.served.ended = "stalled"
        finally:
            await _close(events)


async def _close(events: Any) -> None:
    """Close a generator that is left before its end, so that its slot is free at once."""
    with anyio.CancelScope(shield=True):
        close: Callable[[], Awaitable[None]] = events.aclose
        await close()


async def _body(request: HttpRequest) -> bytes:
    """The body, at most `LARGEST_BODY` of it: a cut one is no JSON and is refused as such."""
    body = b""
    async for piece in request.stream():
        body += piece
        if len(body) > LARGEST_BODY:
            break
    return body[:LARGEST_BODY]


def _refused(status: int, message: str, headers: dict[str, str] | None = None) -> Response:
    error = {"error": {"message": message, "type": "invalid_request_error" if status < 500 else "overloaded"}}
    return Response(json.dumps(error), status, headers, "application/json")
