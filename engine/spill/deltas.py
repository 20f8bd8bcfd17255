"""The text that a server can send after each round: whole code points only.

A token may end within a code point; until the rest has come, decoding shows a replacement character, and what
ends in one is held back, as servers do.
"""

from __future__ import annotations

from collections.abc import Sequence

from engine.decode.models import Chat

INCOMPLETE = "\N{REPLACEMENT CHARACTER}"
LONGEST = 4
"""An incomplete end of this many tokens is sent as it is: no code point has more bytes."""


class Deltas:
    """The text of one answer, round by round."""

    def __init__(self, chat: Chat) -> None:
        self.chat, self.sent, self.pending = chat, list[int](), list[int]()

    def push(self, tokens: Sequence[int]) -> str:
        """Take a round; returns the text that can be sent now, which may be empty."""
        self.pending += tokens
        for held in range(min(LONGEST, len(self.pending) + 1)):
            ready = self.pending[: len(self.pending) - held]
            if not self._text(ready).endswith(INCOMPLETE):
                return self._send(ready)
        return self._send(self.pending)

    def finish(self) -> str:
        """What is left when the answer ends, incomplete or not."""
        return self._send(self.pending)

    def _send(self, ready: list[int]) -> str:
        text = self._text(ready)
        if ready:
            self.sent, self.pending = ready, self.pending[len(ready) :]
        return text

    def _text(self, ready: list[int]) -> str:
        """The text of tokens, read after those sent before them, on which spaces may depend."""
        return self.chat.text([*self.sent, *ready])[len(self.chat.text(self.sent)) :]


def sizes(chat: Chat, tokens: Sequence[int], counts: Sequence[int]) -> tuple[int, ...]:
    """UTF-8 bytes of the text of each round; what an incomplete end holds back counts in a later one.

    The last round also has what is left at the end.
    """
    deltas, out, at = Deltas(chat), [], 0
    for count in counts:
        out.append(len(deltas.push(tokens[at : at + count]).encode()))
        at += count
    if out:
        out[-1] += len(deltas.finish().encode())
    return tuple(out)
