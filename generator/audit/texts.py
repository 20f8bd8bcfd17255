"""Judges the texts of one page: runs of text, spoken attributes, stylesheets, linked data."""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from generator.audit import stylesheet, surface
from generator.audit.address import resolve
from generator.audit.echo import Bound
from generator.audit.fault import LIMIT, LONGEST, Crowded
from generator.audit.flow import Flow, Stretch, misuses
from generator.audit.reading import Context, Echo, Reading
from generator.gate.numerals import Hit, Judgement
from generator.report.refusal import Refusal

_LEFTOVER = re.compile(r"\{\{|\}\}|\{%|%\}|\{#")


@dataclass(frozen=True)
class Around:
    """Where on the page a text stands, as far as that decides what passes."""

    echo: bool = False
    heading: bool = False
    illustration: bool = False


class Texts:
    """The texts of one page, and what was found in them."""

    def __init__(self, path: str, shown_path: str, html: str, context: Context) -> None:
        self.html = html
        self.shown_path = shown_path
        self.context = context
        self.reading = Reading(path)
        self.linked: list[tuple[int, str, str]] = []
        """Values of the linked data: offset, the id of the number that each names, what it says."""

    def refuse(self, offset: int, code: str, message: str, text: str | None = None) -> None:
        if len(self.reading.refusals) >= LIMIT:
            raise Crowded.refusals()
        line, column, shown = place(self.html, offset)
        self.reading.refusals.append(
            Refusal(self.shown_path, line, column, code, (shown if text is None else text)[:160], message)
        )

    def crowded(self, message: str, offset: int | None = None) -> None:
        """One refusal for all that was not judged, where the last one stands."""
        last = self.reading.refusals[-1:]
        line, column = (last[0].line, last[0].column) if last else (1, 1)
        if offset is not None:
            line, column, _ = place(self.html, offset)
        self.reading.refusals.append(Refusal(self.shown_path, line, column, "too-large", "", message))

    def run(self, flow: Flow, around: Around) -> None:
        """A run of text between block borders."""
        text = flow.text
        if not text.strip():
            return
        if len(text) > LONGEST:
            self.crowded(str(Crowded.text()), flow.at(0)[1])
            return
        judgement = self.context.judge(text)
        if judgement.refused or judgement.unknown or judgement.names or judgement.ids:
            self._judge(flow, text, judgement, around)
        for leftover in _LEFTOVER.finditer(text) if not around.illustration else ():
            message = f'"{leftover[0]}" is left over from a template.'
            self.refuse(flow.at(leftover.start())[1], "leftover-template", message, text.strip())
        for misuse in misuses(flow, text):
            self.refuse(flow.at(misuse.index)[1], misuse.code, misuse.message)
        if any(piece.shown for piece in flow.pieces) or flow.claims:
            self.reading.bounds.append(Bound(*flow.shown()))

    def _judge(self, flow: Flow, text: str, judgement: Judgement, around: Around) -> None:
        self._exempt(judgement)
        for hit in judgement.unknown:
            self.refuse(flow.at(hit.start)[1], "unknown-id", unresolved(hit))
        left = [hit for hit in judgement.refused if not self._passes(flow, hit, around)]
        if around.echo and left:
            pages = (self.reading.path, *flow.targets)
            self.reading.echoes.append(Echo(flow.at(left[0].start)[1], text, spans(left), pages))
            return
        for hit in left:
            self.refuse(flow.at(hit.start)[1], *wrong(hit))

    def _passes(self, flow: Flow, hit: Hit, around: Around) -> bool:
        """Code shows words freely and digits where it is an illustration; claims bind their constants."""
        if surface.is_error_heading(self.reading.path, around.heading):
            self.reading.exempt["theme", surface.ERROR_HEADING] += 1
            return True
        piece, _ = flow.at(hit.start)
        if piece.code and hit.kind != "digit":
            flow.claims.append(Stretch(hit.start, hit.end, frozenset()))  # and its echo may repeat it
            return True
        if piece.code and around.illustration:
            self.reading.exempt["illustration", "code"] += 1
            flow.claims.append(Stretch(0, flow.size, frozenset()))
            return True
        claims = [claim for claim in flow.claims if claim.start <= hit.start and hit.end <= claim.end]
        return bool(hit.relation) and any(hit.relation in claim.constants for claim in claims)

    def _exempt(self, judgement: Judgement) -> None:
        for name in judgement.names:
            self.reading.exempt["name", name] += 1
        for _, _, known in judgement.ids:
            self.reading.exempt["id", known] += 1

    def spoken(self, name: str, given: Mapping[str, str], offset: int, around: Around) -> None:
        """Attributes that are seen or heard, and those of the theme that are read by programs."""
        if (where := surface.theme_place(name, given)) and self.context.judge(given["content"]).refused:
            self.reading.exempt["theme", where] += 1
        for key, text in surface.spoken(name, given):
            judgement = self.context.judge(text)
            self._exempt(judgement)
            if judgement.refused and surface.is_footnote_return(key, given):
                self.reading.exempt["footnote", "way back"] += 1
            elif judgement.refused and (name == "meta" or around.echo or "href" in given):
                self._echo(text, judgement, offset, given)
            else:
                self._attribute(f" ({key} of <{name}>).", text, judgement, offset)
            for leftover in _LEFTOVER.finditer(text):
                message = f'"{leftover[0]}" is left over from a template.'
                self.refuse(offset, "leftover-template", message, text)

    def _echo(self, text: str, judgement: Judgement, offset: int, given: Mapping[str, str]) -> None:
        """An attribute that may repeat a passage of this page or of the one it links to."""
        pages = [self.reading.path]
        if "href" in given:
            pages.append(resolve(self.reading.path, given["href"])[0])
        self.reading.echoes.append(Echo(offset, text, spans(judgement.refused), tuple(pages)))

    def _attribute(self, where: str, text: str, judgement: Judgement, offset: int) -> None:
        for hit in judgement.refused:
            code, message = wrong(hit)
            self.refuse(offset, code, message[:-1] + where, text)
        for hit in judgement.unknown:
            self.refuse(offset, "unknown-id", unresolved(hit), text)

    def style(self, css: str, start: int) -> None:
        if re.search("<[a-zA-Z!/]", css):
            self.refuse(start, "bad-page", "A stylesheet holds no markup.")
        for offset, text, made in stylesheet.printed(css):
            if made:
                message = f"The stylesheet prints {text}…), which no source stands for."
                self.refuse(start + offset, "untraced-number", message)
            for hit in self.context.judge(text).refused if not made else ():
                self.refuse(start + offset, *wrong(hit))

    def linked_data(self, content: str, start: int) -> None:
        """JSON-LD: every string and number is read by machines as what the page says."""
        try:
            data = json.loads(content)
            self.linked += ((start, *each) for each in named(data))
            texts = list(scalars(data))
        except (ValueError, RecursionError):
            self.refuse(start, "bad-page", "The linked data is not JSON.")
            return
        for text in texts:
            hits = self.context.judge(text).refused
            if hits and not re.match(r"https?://\S+$", text):
                self.reading.echoes.append(Echo(start, text, spans(hits), (self.reading.path,)))


def spans(hits: Sequence[Hit]) -> tuple[tuple[int, int, str], ...]:
    return tuple((hit.start, hit.end, hit.kind) for hit in hits)


def place(text: str, offset: int) -> tuple[int, int, str]:
    """Line and column of an offset, and what stands around it on its line."""
    starts = _starts(text)
    line = bisect_right(starts, offset)
    start = starts[line - 1]
    around = text[start if offset - start < 80 else offset - 60 : offset + 100].partition("\n")[0]
    return line, offset - start + 1, around


@lru_cache(maxsize=4)
def _starts(text: str) -> list[int]:
    """Where each line starts; a page that is refused at every line is not counted anew for each."""
    return [0, *(match.end() for match in re.finditer("\n", text))]


def _names(item: Any) -> bool:
    """Whether a part of the linked data is a value that names a number of its page."""
    return (
        isinstance(item, dict)
        and item.keys() == {"@type", "@id", "value"}
        and all(isinstance(each, str) for each in item.values())
        and item["@type"] == "PropertyValue"
        and item["@id"].startswith("#")
    )


def named(value: Any) -> Iterator[tuple[str, str]]:
    """The values of a JSON value that name a number: its id, and what they say."""
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if _names(item):
            yield item["@id"][1:], item["value"]
        elif isinstance(item, dict | list):
            waiting.extend(item.values() if isinstance(item, dict) else item)


def scalars(value: Any) -> Iterator[str]:
    """Every string and number of a JSON value, as text, but for values that name a number of the page."""
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if _names(item):
            continue
        if isinstance(item, dict):
            waiting.extend(inner for key, inner in item.items() if not key.startswith("@"))
        elif isinstance(item, list):
            waiting.extend(item)
        elif isinstance(item, str):
            yield item
        elif isinstance(item, int | float) and not isinstance(item, bool):
            yield str(item)


def wrong(hit: Hit) -> tuple[str, str]:
    """Code and message for a numeral that nothing binds."""
    code = "untraced-number" if hit.kind in ("digit", "identifier", "roman") else "untraced-word"
    shown = " ".join(hit.text.split())
    if hit.relation:
        return code, f'"{shown}" has no trace, and no claim around it names {hit.relation}.'
    return code, f'"{shown}" has no trace in the finished page.'


def unresolved(hit: Hit) -> str:
    return f"{hit.text} is no finding, kill criterion or erratum of this record."
