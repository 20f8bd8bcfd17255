"""The text that a server can send after each round: whole code points only.

A token may end within a code point; until the rest has come, decoding shows a replacement character, and what
ends in one is held back, as servers do.
"""

from __future__ import annotations

from collections.abc import Sequence

from engine.decode.models import Chat

INCOMPLETE = "\N{REPLACEMENT CHARACTER}"
LONGEST = 4
"""Tokens after which an incomplete end is sent as it is: no code point has more bytes."""


class Deltas:
    """The text of one answer, round by round."""

    def __init__(self, chat: Chat) -> None:
        self.chat, self.sent, self.pending = chat, list[int](), list[int]()

    def push(self, tokens: Sequence[int]) -> str:
        """Take a round; returns the text that can be sent now, which may be empty."""
        self.pending += tokens
        text = self._unsent()
        if text.endswith(INCOMPLETE) and not self._hopeless():
            return ""
        self.sent, self.pending = self.pending, []
        return text

    def finish(self) -> str:
        """What is left when the answer ends, incomplete or not."""
        text = self._unsent()
        self.sent, self.pending = self.pending or self.sent, []
        return text

    def _hopeless(self) -> bool:
        """Whether the last tokens alone are incomplete already, beyond what one code point can need."""
        last = self.pending[-LONGEST:]
        return len(last) == LONGEST and all(self.chat.text([token]).startswith(INCOMPLETE) for token in last)

    def _unsent(self) -> str:
        """The pending tokens' text, read after the tokens before them, on which spaces may depend."""
        if not self.pending:
            return ""
        before = self.chat.text(self.sent)
        return self.chat.text([*self.sent, *self.pending])[len(before) :]


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
