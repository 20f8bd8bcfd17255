"""markdown-it-py with places: every inline token knows where its text starts. Its one door is here
and in `markdown`, which walks the tokens."""

from __future__ import annotations

from typing import Any, Literal

from markdown_it import MarkdownIt
from markdown_it.parser_inline import ParserInline
from markdown_it.rules_inline.state_inline import StateInline
from markdown_it.token import Token


class _State(StateInline):
    """Notes, in `meta["at"]` of each token, the offset in the inline source at which it started."""

    def __init__(self, src: str, md: MarkdownIt, env: Any, tokens: list[Token]) -> None:
        self._at = 0
        super().__init__(src, md, env, tokens)

    def append_pending(self, text: str) -> None:
        if not self._pending and not self._pending_buffer:
            self._at = self.pos
        super().append_pending(text)

    def pushPending(self) -> Token:
        token = super().pushPending()
        token.meta["at"] = self._at
        return token

    def push(self, ttype: str, tag: str, nesting: Literal[-1, 0, 1]) -> Token:
        token = super().push(ttype, tag, nesting)
        token.meta["at"] = self.pos
        return token


class _Inline(ParserInline):
    def parse(self, src: str, md: MarkdownIt, env: Any, tokens: list[Token]) -> list[Token]:
        state = _State(src, md, env, tokens)
        self.tokenize(state)
        for rule in self.ruler2.getRules(""):
            rule(state)
        return state.tokens


class _Markdown(MarkdownIt):
    def normalizeLink(self, url: str) -> str:
        """The target as it stands: it is not judged, so nothing is spent on encoding it."""
        return url


NESTING = 60
"""Levels of quotations and lists that are read; markdown-it-py drops what lies deeper."""


def parser() -> MarkdownIt:
    """CommonMark with tables and strikethrough; indented code is read as prose, as in an admonition."""
    markdown = _Markdown("zero")
    markdown.inline = _Inline()
    markdown.configure("commonmark").enable(["table", "strikethrough"])
    markdown.options["maxNesting"] = NESTING
    markdown.disable(["code", "text_join", "fragments_join"])
    return markdown
