"""Reads the figures of a finished page: tables with their numbers, drawings with their paths, labels."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from html import unescape

from generator.audit import predicate
from generator.audit.evidence import Evidence
from generator.audit.fault import Fault, Placed
from generator.audit.predicate import Trace, Unit
from generator.audit.rounding import exact
from generator.audit.tokens import Malformed, attributes, tokens

_FIGURE = re.compile(r"<figure\b[^<>]*\bdata-figure\b[^<>]*>", re.IGNORECASE)
_END = re.compile(r"</figure\s*>", re.IGNORECASE)
DRAWING = re.compile(r"<svg\b[^<>]*\bclass\s*=\s*[\"'][^\"'<>]*\bdrawing\b[^<>]*>", re.IGNORECASE)


@dataclass(frozen=True)
class Drawn:
    """A number that is drawn, from the payloads: exact value, bounds where it has them, unit."""

    value: Fraction
    bounds: tuple[Fraction, Fraction] | None
    unit: Unit | None


@dataclass
class Drawing:
    """An svg element: where it stands, its attributes, and its paths as class and points."""

    offset: int
    given: Mapping[str, str]
    paths: list[tuple[str, str]] = field(default_factory=list)


@dataclass
class Box:
    """A cell, the words of a bar, or a label: where it stands, its text, its marks and its drawings."""

    offset: int
    given: Mapping[str, str] = field(default_factory=dict)
    text: str = ""
    marks: list[Mapping[str, str]] = field(default_factory=list)
    drawings: list[Drawing] = field(default_factory=list)

    @property
    def words(self) -> str:
        return " ".join(self.text.split())

    def number(self, evidence: Evidence) -> Drawn | None:
        """What its marks say of one number, None where it prints none; raises Fault where it prints more."""
        found = [_value(each, evidence) for each in self.marks]
        if not found:
            return None
        (value, unit), *others = found
        if len(others) == 2:
            return Drawn(value, (others[0][0], others[1][0]), unit)
        if others:
            raise Fault("place-mismatch", "A drawn cell prints one number, or one with its interval.")
        return Drawn(value, None, unit)


@dataclass
class Figure:
    """One figure element: its kind, the head and the rows of its table, its bars, plot and labels."""

    kind: str
    offset: int
    head: list[Box] = field(default_factory=list)
    rows: list[list[Box]] = field(default_factory=list)
    bars: list[Box] = field(default_factory=list)
    plots: list[Drawing] = field(default_factory=list)
    labels: list[Box] = field(default_factory=list)
    legend: list[Box] = field(default_factory=list)

    @property
    def body(self) -> list[list[Box]]:
        """The rows below the head."""
        return [row for row in self.rows if row]


def figures(html: str) -> Iterator[Figure]:
    """Every figure of a page; raises Placed where a drawing cannot be read."""
    for start in _FIGURE.finditer(html):
        end = _END.search(html, start.end())
        if end is None:
            raise misdrawn(start.start(), "The figure has no end.")
        yield _Reader(html, start.start(), attributes(start[0][7:-1])["data-figure"]).read(end.start())


def astray(html: str) -> Iterator[int]:
    """Where drawings stand that belong to no figure, and so to no table."""
    spans = [
        (start.start(), end.start() if (end := _END.search(html, start.end())) else len(html))
        for start in _FIGURE.finditer(html)
    ]
    for drawing in DRAWING.finditer(html):
        if not any(first < drawing.start() < last for first, last in spans):
            yield drawing.start()


def misdrawn(offset: int, message: str, code: str = "place-mismatch") -> Placed:
    """A drawing that stands elsewhere than its numbers say, or cannot be read."""
    return Placed(offset, code, message)


class _Reader:
    """Walks the tokens of one figure element."""

    def __init__(self, html: str, start: int, kind: str) -> None:
        self.html = html
        self.figure = Figure(kind, start)
        self._boxes: list[tuple[str, Box | None]] = []
        self._svg: Drawing | None = None

    def read(self, end: int) -> Figure:
        try:
            for token in tokens(self.html, self.figure.offset, end):
                if token.lastgroup == "attributes":
                    self._open(token["name"].lower(), attributes(token["attributes"]), token)
                elif token.lastgroup == "end":
                    self._close(token["end"].lower())
                elif token.lastgroup == "text" and (box := self._box):
                    box.text += unescape(token[0])
        except Malformed as error:
            raise misdrawn(error.offset, str(error), "bad-page") from None
        return self.figure

    @property
    def _box(self) -> Box | None:
        """The innermost box that is open."""
        return next((box for _, box in reversed(self._boxes) if box), None)

    def _open(self, name: str, given: Mapping[str, str], token: re.Match[str]) -> None:
        offset, classes = token.start(), given.get("class", "").split()
        if self._svg is not None or name in ("path", "svg"):
            self._draw(name, given, offset)
        elif name == "tr":
            self.figure.rows.append([])
        elif name in ("td", "th", "span", "p", "li"):
            self._boxes.append((name, self._opened(name, given, classes, offset)))
        elif name == "data" and classes in (["num"], ["num", "derived"]) and (box := self._box):
            box.marks.append(given)

    def _opened(self, name: str, given: Mapping[str, str], classes: list[str], offset: int) -> Box | None:
        """A box that is kept, None for an element that only groups."""
        kept: list[Box] | None = None
        if name in ("td", "th"):
            kept = self.figure.head if name == "th" else self.figure.rows[-1] if self.figure.rows else None
        elif name == "span" and "bar" in classes:
            kept = self.figure.bars
        elif name == "p" and {"tick", "point"} & set(classes):
            kept = self.figure.labels
        elif name == "li":
            kept = self.figure.legend
        if kept is None:
            return None
        kept.append(Box(offset, given))
        return kept[-1]

    def _close(self, name: str) -> None:
        if name == "svg":
            self._svg = None
        elif self._boxes and self._boxes[-1][0] == name:
            self._boxes.pop()

    def _draw(self, name: str, given: Mapping[str, str], offset: int) -> None:
        """A drawing, or a path of one; nothing else is drawn."""
        if name == "svg" and self._svg is None:
            self._svg = Drawing(offset, given)
            box = self._box
            (box.drawings if box else self.figure.plots).append(self._svg)
        elif name == "path" and self._svg is not None and set(given) == {"class", "d"}:
            self._svg.paths.append((" ".join(given["class"].split()), given["d"]))
        else:
            message = f"A drawing is made of paths with a class and points; <{name[:20]}> here is not one."
            raise misdrawn(offset, message)


def _value(given: Mapping[str, str], evidence: Evidence) -> tuple[Fraction, Unit | None]:
    """The exact value behind a mark and its unit, from the payload bytes; raises Fault or KeyError."""
    if "data-expression" in given:
        operand = Trace(evidence, literals=False).operand(predicate.parse(given["data-expression"]))
        return operand.value, operand.unit
    path, pointer = given["data-src"], given["data-ptr"]
    found = evidence.value(path, pointer, given["data-sha256"])
    if found.kind != "number":
        raise Fault("unknown-field", f"{pointer} is {found.kind}, and cannot be drawn.")
    unit = evidence.unit(path, pointer)
    return exact(found.written.decode()), ((unit, 1),) if unit else ()
