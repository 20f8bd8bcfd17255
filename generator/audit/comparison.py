"""Compares plain strings with the pages that they may repeat, now that every page is known."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from generator.audit.echo import Passages
from generator.audit.folder import Folder
from generator.audit.reading import Echo, Reading
from generator.report.refusal import Refusal

ECHO_LIMIT = 20_000
"""Characters of the longest plain string with a numeral that is compared with what it repeats."""


@dataclass
class Comparison:
    """The pages that plain strings may repeat; what repeats pages that are not read again still does."""

    folder: Folder
    readings: Mapping[str, Reading]
    repeated: set[tuple[Echo, bool]] = field(default_factory=set)
    passages: dict[tuple[str, ...], Passages] = field(default_factory=dict)

    def compare(self, echoes: Iterable[tuple[str, Echo, bool]]) -> None:
        """Refuse what repeats nothing; a string comes with its file, and whether it is of a search index."""
        for shown, echo, search in echoes:
            if self.folder.has_room(shown):
                with self.folder.bounded(shown.removeprefix(self.folder.prefix)):
                    self._compare(shown, echo, search)

    def _compare(self, shown: str, echo: Echo, search: bool) -> None:
        """Refuse each numeral of a plain string that repeats no bound number of its pages."""
        same = self.folder.only is None or self.folder.only.isdisjoint(echo.pages)
        if same and (echo, search) in self.repeated:
            return
        before = len(self.folder.refusals)
        repeated = [self.readings[page] for page in echo.pages if page in self.readings]
        if len(echo.text) > ECHO_LIMIT and not any(_repeats_lines(echo.text, each) for each in repeated):
            message = f"A plain string of more than {ECHO_LIMIT} characters is not compared with its page."
            at = self.folder.place(shown, echo.offset)
            self.folder.keep(Refusal(shown, *at, "too-large", echo.text.strip()[:160], message))
            return
        passages = self._passages(echo.pages, repeated)
        for start, end, kind in echo.spans:
            if passages.repeats(echo.text, start, end, alone=search):
                continue
            if search and any(_repeats_lines(echo.text, reading) for reading in repeated):
                continue
            code = "untraced-number" if kind in ("digit", "identifier", "roman") else "untraced-word"
            message = (
                f'"{echo.text[start:end]}" repeats no bound number of a page. Bind it where the page says it.'
            )
            line, column = self.folder.place(shown, echo.offset)
            self.folder.keep(Refusal(shown, line, column, code, echo.text.strip()[:160], message))
        if same and len(self.folder.refusals) == before:
            self.repeated.add((echo, search))

    def _passages(self, pages: tuple[str, ...], readings: Iterable[Reading]) -> Passages:
        if pages not in self.passages:
            self.passages[pages] = Passages([each for reading in readings for each in reading.bounds])
        return self.passages[pages]


def _repeats_lines(text: str, reading: Reading) -> bool:
    """Whether a string of the search index repeats a verbatim block of a page."""
    packed = " ".join(text.split())
    return any(packed in " ".join(lines.text.split()) for lines in reading.lines)
