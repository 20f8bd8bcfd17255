"""What is served in tests: a tokenizer of letters, a scheme of written-down rounds, requests."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from engine.decode.models import Chat
from engine.decode.scheme import Request
from engine.spill.relay import Relay
from engine.spill.server import Service
from engine.spill.server_running import Running
from engine.spill.tls import Authority

LETTERS = 'abcdefghijklmnopqrstuvwxyz .,"\\\né€😀ABCDEFGHIJ'


class Letters:
    """A tokenizer of one letter a token; its chat format is the message itself."""

    def apply_chat_template(self, messages: list[dict[str, str]], **_: Any) -> list[int]:
        """The known letters of the message."""
        return [LETTERS.index(letter) for letter in messages[0]["content"] if letter in LETTERS] or [0]

    def decode(self, ids: list[int], **_: Any) -> str:
        """The letters."""
        return "".join(LETTERS[i] for i in ids)


CHAT = Chat(Letters(), end=40)


@dataclass(frozen=True)
class Written:
    """A scheme whose rounds are written down: sizes in tokens, repeated until the request is filled."""

    sizes: Sequence[int] = (1, 3, 2)
    pause: float = 0.0
    name: str = "written"
    bound: int = 5
    lossless: bool = True

    def rounds(self, request: Request) -> Iterator[tuple[int, ...]]:
        """Letters in order, from the prompt's first."""
        left, turn, letter = request.new_tokens, 0, request.prompt[0]
        while left:
            size = min(self.sizes[turn % len(self.sizes)], left)
            time.sleep(self.pause)
            yield tuple((letter + i) % 40 for i in range(size))
            left, turn, letter = left - size, turn + 1, letter + size


@dataclass(frozen=True)
class Site:
    """A running server with a relay before it."""

    service: Service
    running: Running
    relay: Relay
    authority: Authority


def body(content: str = "abc", tokens: int = 12, **more: Any) -> dict[str, Any]:
    """A request."""
    return {
        "model": "any",
        "stream": True,
        "max_tokens": tokens,
        "messages": [{"role": "user", "content": content}],
    } | more
