"""Names that pass although they hold a numeral: exact strings, the longest first; and record ids."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator

ID = re.compile(r"(?<![\w/:-])[FKE]-[0-9]+(?![\w]|[.,-][0-9])")
"""The id of a finding, a kill criterion or an erratum in running text."""


class Names:
    """A set of exact names, compiled once; a name stands only between characters that do not continue it."""

    def __init__(self, texts: Iterable[str]) -> None:
        self.texts = tuple(sorted(set(texts), key=lambda text: (-len(text), text)))
        pattern = "|".join(map(_bounded, self.texts))
        self._expression = re.compile(pattern) if pattern else None

    def spans(self, text: str, start: int = 0, end: int = sys.maxsize) -> Iterator[tuple[int, int, str]]:
        """Start, end and name of every occurrence in a stretch; where two start together the longer one."""
        if self._expression is not None:
            for match in self._expression.finditer(text, start, end):
                yield match.start(), match.end(), " ".join(match[0].split())


def _bounded(text: str) -> str:
    """A name with its edges; a space in it matches any run of white space, as HTML prints it."""
    pattern = r"[ \t\r\n]+".join(re.escape(word) for word in text.split())
    before = r"(?<!\w)" if text[:1].isalnum() else ""
    after = r"(?!\w)" if text[-1:].isalnum() else ""
    return before + pattern + after
