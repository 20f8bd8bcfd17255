"""Evaluates a source: its prose cut into pieces, every number in it traced, every claim and rule judged."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

from generator.number import claim, exact, expression, figure, printing, template
from generator.number.claim import Judgement
from generator.number.exact import Scope
from generator.number.fragment import Fragment, body, front
from generator.number.number import Leaf, Made, Number
from generator.number.piece import (
    LISTINGS,
    OF_RECORD,
    BarStart,
    ClaimStart,
    End,
    FigureStart,
    Listing,
    Piece,
    Printed,
    Prose,
    StatementStart,
    Verbatim,
)
from generator.number.template import Part
from generator.record import excerpt, experiments, repository
from generator.record.record import Record
from generator.record.source import Source
from generator.report.refusal import Refusal, Refused

REFERENCE = re.compile(r"(?<![\w/:.#-])[FKE]-[0-9]+(?![\w-])")
"""The id of a finding, a kill criterion or an erratum in running text."""

_NAME = re.compile(r"""["']([a-z][a-z0-9-]*)["']\s*""")
_LISTING = re.compile(r"""["']([a-z]+)["']\s*(?:["']([a-z][a-z0-9-]*)["']\s*)?""")
_VERBATIM = re.compile(r"""["']([^"'\n]+)["']\s*(?:([1-9][0-9]*)-([1-9][0-9]*)\s*)?""")


@dataclass(frozen=True)
class Evaluation:
    """A source with everything in it that counts, evaluated."""

    source: Source
    title: tuple[Piece, ...] = ()
    regime: tuple[Piece, ...] = ()
    body: tuple[Piece, ...] = ()
    corrected: tuple[Printed, ...] = ()
    status: Judgement | None = None
    verdict: Judgement | None = None
    statements: tuple[str, ...] = ()
    citations: tuple[Leaf, ...] = field(default=(), repr=False)
    refusals: tuple[Refusal, ...] = ()

    @property
    def claims(self) -> int:
        """Words that are bound to a condition: claims in the text, and the judgements by rule."""
        pieces = (*self.title, *self.regime, *self.body)
        judged = sum(each is not None and each.prefix is not None for each in (self.status, self.verdict))
        return judged + sum(isinstance(piece, ClaimStart) for piece in pieces)

    @property
    def printed(self) -> Iterator[Number]:
        """Every number that the source prints, in order."""
        for piece in (*self.title, *self.regime, *self.corrected, *self.body):
            if isinstance(piece, Printed):
                yield piece.number
            elif isinstance(piece, FigureStart):
                yield from (number for _, number in piece.layout.labels)


def evaluate(record: Record, source: Source) -> Evaluation:
    """Evaluate all of a source; what is wrong is in refusals, nothing is raised for it."""
    scope = Scope(source.payloads, record.payloads)
    reader = _Reader(record, scope, record.ids, tuple(term.text for term in record.terms))
    title = reader.pieces(front(source, "title"), tags=("claim",))
    regime = reader.pieces(front(source, "regime"), tags=("claim",))
    corrected = [reader.field(front(source, key)) for key in ("old", "new") if source.string(key)]
    text = reader.pieces(body(source), tags=("claim", "statement", "figure", "bar", "verbatim", "listing"))
    judged = {"finding": claim.status, "kill": claim.outcome}.get(source.kind)
    status = reader.judge(judged, scope, source) if judged else None
    verdict = reader.judge(claim.verdict, scope, source) if source.kind == "finding" else None
    if not reader.refusals and not (status and status.words == claim.UNTESTED):
        reader.refusals.extend(_unused(source, record, reader.citations))
    return Evaluation(
        source=source,
        title=tuple(title),
        regime=tuple(regime),
        body=tuple(text),
        corrected=tuple(each for each in corrected if each),
        status=status,
        verdict=verdict,
        statements=tuple(reader.statements),
        citations=tuple(reader.citations),
        refusals=tuple(reader.refusals),
    )


def _unused(source: Source, record: Record, citations: list[Leaf]) -> Iterator[Refusal]:
    """A payload that is declared and stands behind nothing."""
    cited = {found.payload.path for found in citations}
    for alias, path in source.payloads.items():
        if path not in cited and path in record.payloads:
            line, column = source.place(f"payloads.{alias}")
            message = f'No expression uses "{alias}". Cite it, or take it out.'
            yield Refusal(source.path, line, column, "payload-unused", path, message)


@dataclass
class _Reader:
    """Turns template parts into pieces, and collects citations, statements and refusals on the way."""

    record: Record
    scope: Scope
    ids: frozenset[str]
    terms: tuple[str, ...]
    citations: list[Leaf] = field(default_factory=list)
    statements: list[str] = field(default_factory=list)
    refusals: list[Refusal] = field(default_factory=list)

    def judge(
        self, how: Callable[[Scope, Source], Judgement | None], scope: Scope, source: Source
    ) -> Judgement | None:
        try:
            judged = how(scope, source)
        except Refused as refused:
            self.refusals.extend(refused.refusals)
            return None
        self.citations.extend(judged.leaves if judged else ())
        return judged

    def field(self, fragment: Fragment) -> Printed | None:
        """The number that a bare expression in the front matter names."""
        try:
            number = self._number(fragment, Part("print", 0, len(fragment.text)))
        except Refused as refused:
            self.refusals.extend(refused.refusals)
            return None
        return Printed(number, fragment.line, fragment.column)

    def pieces(self, fragment: Fragment, *, tags: tuple[str, ...]) -> list[Piece]:
        """The pieces of a text; open tags are kept on a stack until their end."""
        try:
            parts = template.split(fragment)
        except Refused as refused:
            self.refusals.extend(refused.refusals)
            return []
        pieces: list[Piece] = []
        open_tags: list[tuple[int, Part]] = []
        for part in parts:
            try:
                self._add(fragment, part, pieces, open_tags, tags)
            except Refused as refused:
                self.refusals.extend(refused.refusals)
        for _, part in open_tags:
            message = f"The tag {part.name} has no end{part.name}."
            self._refuse(fragment, part.offset, "bad-template", part.name, message)
        return pieces

    def _add(
        self,
        fragment: Fragment,
        part: Part,
        pieces: list[Piece],
        open_tags: list[tuple[int, Part]],
        tags: tuple[str, ...],
    ) -> None:
        if part.kind == "prose":
            self._check_references(fragment, part)
            pieces.append(Prose(fragment.text[part.start : part.end]))
        elif part.kind == "print":
            line, column = fragment.place(part.start - 2)
            pieces.append(Printed(self._number(fragment, part), line, column))
        elif part.name in tags:
            self._open(fragment, part, pieces, open_tags)
        elif part.name.startswith("end") and part.name[3:] in tags:
            self._close(fragment, part, pieces, open_tags)
        else:
            known = ", ".join(tags)
            message = f'"{part.name}" is no tag that can stand here. Known: {known}.'
            self._refuse(fragment, part.offset, "bad-template", part.name, message)

    def _check_references(self, fragment: Fragment, part: Part) -> None:
        for match in REFERENCE.finditer(fragment.text, part.start, part.end):
            if match[0] not in self.ids and not any(match[0] in term for term in self.terms):
                message = f"There is no {match[0]} in this record."
                self._refuse(fragment, match.start(), "unknown-id", match[0], message)

    def _number(self, fragment: Fragment, part: Part) -> Number:
        output = expression.output(fragment, part.start, part.end)
        number = printing.number(self.scope, fragment, output)
        if not isinstance(number, Made):
            self.citations.extend(number.leaves)
        elif number.rule == "version" and not self.record.version:
            message = "CITATION.cff states no version."
            self._refuse(fragment, part.start, "unknown-field", number.rule, message)
        elif number.rule in printing.LIST_COUNTS and not self.record.experiments:
            message = f"{experiments.PATH} is not there, so nothing of it can be counted."
            self._refuse(fragment, part.start, "unknown-field", number.rule, message)
        return number

    def _open(
        self, fragment: Fragment, part: Part, pieces: list[Piece], open_tags: list[tuple[int, Part]]
    ) -> None:
        arguments = fragment.text[part.start : part.end]
        if part.name == "claim":
            open_tags.append((len(pieces), part))
            pieces.append(ClaimStart([]))
            pieces[-1] = self._claim(fragment, part)
        elif part.name == "statement":
            open_tags.append((len(pieces), part))
            pieces.append(StatementStart(self._statement(fragment, part, arguments)))
        elif part.name == "figure":
            open_tags.append((len(pieces), part))
            pieces.append(FigureStart(self._kind(fragment, part, arguments)))
        elif part.name == "bar":
            open_tags.append((len(pieces), part))
            pieces.append(self._bar(fragment, part, pieces, open_tags))
        elif part.name == "verbatim":
            pieces.append(self._verbatim(fragment, part, arguments))
        else:
            pieces.extend(self._listing(fragment, part, arguments))

    def _close(
        self, fragment: Fragment, part: Part, pieces: list[Piece], open_tags: list[tuple[int, Part]]
    ) -> None:
        if not open_tags or open_tags[-1][1].name != part.name[3:]:
            self._refuse(
                fragment, part.offset, "bad-template", part.name, "The tag ends nothing that is open."
            )
            return
        at, opened = open_tags.pop()
        start = pieces[at]
        if isinstance(start, StatementStart):
            inside = fragment.text[opened.end : part.offset].partition("%}")[2]
            start = replace(start, block="\n\n" in inside or inside.startswith("\n"))
            pieces[at] = start
        elif isinstance(start, FigureStart):
            pieces[at] = start = self._figure(fragment, opened, start, pieces, at)
        if isinstance(start, (ClaimStart, StatementStart, FigureStart, BarStart)):
            pieces.append(End(start))

    def _kind(self, fragment: Fragment, part: Part, arguments: str) -> str:
        name = _NAME.fullmatch(arguments)
        if name is None or name[1] not in figure.KINDS:
            message = f"A figure is one of {', '.join(figure.KINDS)}, in quotation marks."
            self._refuse(fragment, part.offset, "bad-template", arguments.strip(), message)
            return ""
        return name[1]

    def _bar(
        self, fragment: Fragment, part: Part, pieces: list[Piece], open_tags: list[tuple[int, Part]]
    ) -> BarStart:
        """The start of the words of a bar, with how many stand before it in its figure."""
        start = next((at for at, opened in reversed(open_tags) if opened.name == "figure"), None)
        if start is None or any(opened.name == "bar" for _, opened in open_tags[:-1]):
            message = "The words of a bar stand inside a figure, above its table, and hold one number."
            self._refuse(fragment, part.offset, "bad-template", part.name, message)
        return BarStart(sum(isinstance(piece, BarStart) for piece in pieces[start or 0 :]))

    def _figure(
        self, fragment: Fragment, part: Part, start: FigureStart, pieces: list[Piece], at: int
    ) -> FigureStart:
        """A figure with what it draws; refused where its contents cannot be drawn."""
        if not start.kind or self.refusals:
            return start
        try:
            return replace(start, layout=figure.layout(start.kind, pieces, at + 1))
        except figure.Undrawable as error:
            self._refuse(fragment, part.offset, error.code, part.name, str(error))
            return start

    def _claim(self, fragment: Fragment, part: Part) -> ClaimStart:
        """A claim whose condition holds; a false one is refused."""
        read = expression.condition(fragment, part.start, part.end)
        found = exact.judge(self.scope, fragment, read)
        self.citations.extend(found.leaves)
        if not found.holds:
            condition = fragment.text[part.start : part.end].strip()
            message = "The condition is false, so the words cannot stand. Change the words."
            self._refuse(fragment, part.start, "claim-false", condition, message)
        return ClaimStart(found.prefix, *fragment.place(part.offset))

    def _statement(self, fragment: Fragment, part: Part, arguments: str) -> str:
        name = _NAME.fullmatch(arguments)
        if name is None:
            message = 'A statement has a name of lower-case letters, digits and hyphens: "tokens".'
            self._refuse(fragment, part.offset, "bad-template", arguments.strip(), message)
            return ""
        if name[1] in self.statements:
            message = "Two statements of one source have this name."
            self._refuse(fragment, part.offset, "duplicate-id", name[1], message)
        self.statements.append(name[1])
        return name[1]

    def _listing(self, fragment: Fragment, part: Part, arguments: str) -> Iterator[Listing]:
        read = _LISTING.fullmatch(arguments)
        if read is None or read[1] not in LISTINGS or (read[2] and read[1] not in OF_RECORD):
            message = (
                f"A listing is of one of {', '.join(LISTINGS)}, in quotation marks; the name of a record may "
                f"follow {', '.join(OF_RECORD)}."
            )
            self._refuse(fragment, part.offset, "bad-template", arguments.strip(), message)
        else:
            yield Listing(read[1], read[2] or "")

    def _verbatim(self, fragment: Fragment, part: Part, arguments: str) -> Verbatim:
        read = _VERBATIM.fullmatch(arguments)
        if read is None:
            message = 'Write the path in quotation marks, then lines if not all: "engine/check.py" 3-12.'
            raise Refused([fragment.refusal(part.offset, "bad-template", arguments.strip(), message)])
        first, last = (int(read[2]), int(read[3])) if read[2] else (None, None)
        try:
            shown = excerpt.read(self.record.root, read[1], first, last)
        except excerpt.Unquotable as error:
            raise Refused([fragment.refusal(part.offset, "bad-template", read[1], str(error))]) from None
        standing = self.record.repository.standing(read[1])
        if standing and repository.in_ci():
            message = f"The file {standing}. Commit it."
            raise Refused([fragment.refusal(part.offset, "untracked-source", read[1], message)])
        return Verbatim(shown)

    def _refuse(self, fragment: Fragment, offset: int, code: str, text: str, message: str) -> None:
        self.refusals.append(fragment.refusal(offset, code, text, message))
