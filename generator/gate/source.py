"""The source side of the gate: every number that an author typed by hand, at its line and column.

It reads what is written before anything is rendered, so that it can name the exact place; the output
side decides.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from generator.gate import display, markdown, masking
from generator.gate.masking import VALUE, Claim
from generator.gate.numerals import Hit, Names, judge
from generator.gate.passage import Passage
from generator.record.encoding import HIDDEN
from generator.record.record import Record
from generator.record.source import Source
from generator.record.terms import PATH as TERMS
from generator.record.terms import Term
from generator.report.refusal import Refusal, Refused, Report


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


UNPRINTED = _words(
    "id record status payloads finding kind date holds_when null_when verdict_when fires_when statement"
    " old new"
)
"""Front matter that is read by rules or printed as a computed value, never as text."""

ITEMS = {"rulings": (".reason",), "deviations": (".what", ".reading")}
"""Lists of entries, and what of an entry a page prints as text."""

_LEFTOVER = re.compile(r"\{\{|\}\}|\{%|%\}|\{#")
_CODE_KINDS = frozenset({"digit"})
_WORD_KINDS = frozenset({"word", "ordinal", "ratio", "fold", "fraction", "claim"})


LIMIT = 10_000
"""Refusals and warnings of one file, beyond which no person and no machine reads on."""

SHOWN = 240
"""Characters of a source line that a refusal shows."""


class Crowded(Exception):
    """Too much is wrong with one file; carries the refusal that says so."""

    def __init__(self, refusal: Refusal) -> None:
        self.refusal = refusal
        super().__init__(refusal.message)


@dataclass
class Sheet:
    """One file under judgement: its lines, and what was found in it."""

    path: str
    text: str
    names: Names
    ids: frozenset[str]
    report: Report
    used: set[str]
    starts: list[int] = field(init=False)
    kept: int = 0

    def __post_init__(self) -> None:
        self.starts = [0, *(match.end() for match in re.finditer("\n", self.text))]

    def refusal(self, offset: int, code: str, message: str) -> Refusal:
        line = bisect_right(self.starts, offset)
        start = self.starts[line - 1]
        end = self.starts[line] - 1 if line < len(self.starts) else len(self.text)
        begin = start if offset - start < SHOWN else offset - SHOWN // 2
        shown = self.text[begin : min(end, begin + SHOWN)].rstrip("\r")
        return Refusal(self.path, line, offset - start + 1, code, shown, message)

    def refuse(self, offset: int, code: str, message: str) -> None:
        self.keep(self.report.refusals, self.refusal(offset, code, message))

    def keep(self, found: list[Refusal], refusal: Refusal) -> None:
        """Add to what was found; raises Crowded with the refusal that stands for everything further."""
        self.kept += 1
        if self.kept > LIMIT:
            message = f"More than {LIMIT} refusals and warnings in one file; the rest of it was not read."
            raise Crowded(Refusal(self.path, refusal.line, refusal.column, "too-large", "", message))
        found.append(refusal)

    def exempt(self, kind: str, count: int = 1) -> None:
        self.report.exempt[kind] = self.report.exempt.get(kind, 0) + count


def check(record: Record) -> tuple[list[Refusal], list[Refusal]]:
    """Refusals and warnings over every source of a record."""
    report = judge_record(record)
    return report.refusals, report.warnings


def judge_record(record: Record) -> Report:
    """The same as a report, with what passed by which exemption."""
    ids = frozenset(source.id for source in (*record.findings, *record.kills, *record.errata))
    report = check_sources(record.sources, record.terms, ids)
    names = Names(term.text for term in record.terms)
    used: set[str] = set()
    try:
        strings = [*display.configuration(record.root), *display.reasons(record.terms)]
        strings += record.experiments.shown if record.experiments else ()
    except Refused as refused:
        report.extend(refused.refusals)
        strings = []
    for path, line, column, text in strings:
        _string(path, line, column, text, names, ids, report, used)
    report.refusals = [each for each in report.refusals if not _is_used(each, used)]
    return report


def check_sources(sources: Iterable[Source], terms: Iterable[Term], ids: frozenset[str]) -> Report:
    """Judge sources by the names and ids that are known; a name that none of them uses is refused."""
    terms = tuple(terms)
    names = Names(term.text for term in terms)
    report = Report()
    used: set[str] = set()
    for source in sources:
        sheet = Sheet(source.path, source.text, names, ids, report, used)
        try:
            _hidden(sheet)
            _front_matter(sheet, source.front, source)
            _body(sheet, source)
        except Crowded as crowded:
            report.refusals.append(crowded.refusal)
        report.pages += 1
    for term in terms:
        if " ".join(term.text.split()) not in used:
            message = f'No source uses the name "{term.text}". Take it out of {TERMS}.'
            report.refusals.append(Refusal(TERMS, term.line, 1, "unused-term", term.text, message))
    return report


def _is_used(refusal: Refusal, used: set[str]) -> bool:
    return refusal.code == "unused-term" and " ".join(refusal.text.split()) in used


def _string(
    path: str,
    line: int,
    column: int,
    text: str,
    names: Names,
    ids: frozenset[str],
    report: Report,
    used: set[str],
) -> None:
    """Judge one display string that stands alone at a place."""
    sheet = Sheet(path, text, names, ids, Report(exempt=report.exempt), used)
    try:
        _judge(sheet, Passage(text, range(len(text)), "attribute"), ())
    except Crowded as crowded:
        sheet.report.refusals.append(crowded.refusal)
    for found, kept in ((sheet.report.refusals, report.refusals), (sheet.report.warnings, report.warnings)):
        for each in found:
            shift = column - 1 if each.line == 1 else 0
            kept.append(
                Refusal(path, line + each.line - 1, each.column + shift, each.code, each.text, each.message)
            )


def _hidden(sheet: Sheet) -> None:
    """Characters that show nothing, wherever they stand."""
    for match in HIDDEN.finditer(sheet.text) if not sheet.text.isascii() else ():
        message = f"U+{ord(match[0]):04X} shows nothing and can hide a number. Remove it."
        sheet.refuse(match.start(), "bad-encoding", message)


def _front_matter(sheet: Sheet, front: Mapping[str, object], source: Source) -> None:
    """The strings of the front matter that a page prints."""
    for key, value in front.items():
        if key == "verdict_when" and isinstance(value, Mapping):
            _labels(sheet, value, source)
        if key in UNPRINTED:
            continue
        for name, text in _texts(key, value):
            if key in ITEMS and not name.endswith(ITEMS[key]):
                continue
            line, column = source.front_lines.get(name, (1, 1))
            start = sheet.starts[line - 1] + column - 1
            masked = masking.mask(text)
            places = _places(sheet.text, text, start)
            for passage in _plain(masked.text, places):
                _judge(sheet, passage, ())


def _labels(sheet: Sheet, rules: Mapping[str, object], source: Source) -> None:
    """The labels of verdicts, which a page prints bound to their rules."""
    for label, rule in rules.items():
        line, column = source.front_lines.get(f"verdict_when.{label}:key", (1, 1))
        places = _places(sheet.text, label, sheet.starts[line - 1] + column - 1)
        claim = Claim(0, len(sheet.text), masking.constants_in(str(rule)))
        _judge(sheet, Passage(label, places, "front matter"), (claim,))


def _texts(name: str, value: object) -> Iterator[tuple[str, str]]:
    """Every scalar below a front matter value, by its dotted key, as text."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _texts(f"{name}.{key}", inner)
    elif isinstance(value, list | tuple):
        for index, inner in enumerate(value):
            yield from _texts(f"{name}.{index}", inner)
    elif isinstance(value, str):
        yield name, value
    elif value is not None and not isinstance(value, bool):
        yield name, str(value)


def _places(file: str, text: str, start: int) -> list[int]:
    """Where each character of a front matter value stands; quoting and folding move some of them."""
    places, cursor = [], start
    for char in text:
        found = file.find(char, cursor, cursor + 80) if not char.isspace() else cursor
        if found >= 0:
            cursor = found
        places.append(min(cursor, len(file)))
        cursor += 1
    return places


def _plain(masked: str, places: list[int]) -> Iterator[Passage]:
    """A text without markup, less what prints nothing of its own."""
    kept = [index for index, char in enumerate(masked) if char != masking.NOTHING]
    text = "".join(masked[index] for index in kept)
    if text.strip():
        yield Passage(text, [places[index] for index in kept], "front matter")


def _body(sheet: Sheet, source: Source) -> None:
    """Everything below the front matter."""
    start = len(source.text) - len(source.body)
    masked = masking.mask(source.body)
    claims = tuple(Claim(each.start + start, each.end + start, each.constants) for each in masked.claims)
    for found in markdown.read(masked.text):
        if isinstance(found, markdown.Fault):
            sheet.refuse(found.offset + start, "untraced-number", found.message)
        else:
            offsets = [offset + start for offset in found.offsets]
            _judge(sheet, Passage(found.text, offsets, found.surface), claims)


def _judge(sheet: Sheet, passage: Passage, claims: tuple[Claim, ...]) -> None:
    """Refuse or warn for one passage, by the rules of its surface."""
    if passage.surface not in ("body", "front matter") and VALUE in passage.text:
        offset = passage.offsets[passage.text.index(VALUE)]
        sheet.refuse(
            offset, "number-in-code", "A number cannot stand here: it would print as markup. Move it out."
        )
    for leftover in _LEFTOVER.finditer(passage.text) if passage.surface in ("body", "front matter") else ():
        message = f'"{leftover[0]}" would print as it stands. Close the markup, or take it away.'
        sheet.refuse(passage.offsets[leftover.start()], "leftover-template", message)
    judgement = judge(passage.text, sheet.names, sheet.ids)
    sheet.used.update(judgement.names)
    if passage.surface == "illustration":
        sheet.exempt("illustration", sum(hit.kind in _CODE_KINDS for hit in judgement.refused))
        return
    for kind, count in (("name", len(judgement.names)), ("id", len(judgement.ids))):
        if count:
            sheet.exempt(kind, count)
    for hit in judgement.unknown:
        message = f"{hit.text} is no finding, kill criterion or erratum of this record."
        sheet.refuse(passage.offsets[hit.start], "unknown-id", message)
    for hit in (*judgement.refused, *judgement.warned):
        _hit(sheet, passage, hit, claims)


def _hit(sheet: Sheet, passage: Passage, hit: Hit, claims: tuple[Claim, ...]) -> None:
    offset = passage.offsets[hit.start]
    if passage.surface == "code" and hit.kind not in _CODE_KINDS:
        return
    around = next((claim for claim in claims if claim.start <= offset < claim.end), None)
    if around and hit.kind == "claim":
        return
    if around and hit.relation and hit.relation in around.constants:
        return
    code = "untraced-word" if hit.kind in _WORD_KINDS else "untraced-number"
    refusal = sheet.refusal(offset, code, message_for(hit))
    sheet.keep(sheet.report.refusals if hit.refused else sheet.report.warnings, refusal)


def message_for(hit: Hit) -> str:
    """What is wrong with a hit, and what to do."""
    text = " ".join(hit.text.split())
    shown = f'"{text}"' if len(text) <= SHOWN else f'"{text[:SHOWN]}…"'
    if hit.kind in ("digit", "identifier", "roman"):
        return f"{shown} has no trace. Refer to a payload field, or add the name to {TERMS}."
    if hit.kind == "claim":
        return f"{shown} claims something that no comparison binds. Put it inside a claim."
    if hit.kind == "roman-maybe":
        return f"{shown} reads as a Roman numeral. If it is a name, add it to {TERMS}."
    if hit.relation:
        return f"{shown} has no trace. Put it inside a claim whose comparison names {hit.relation}."
    if hit.kind == "ordinal":
        return f"{shown} ranks without a trace. Bind it with the ordinal form, or say it otherwise."
    return f"{shown} has no trace. Bind it with the words form, or add the name to {TERMS}."
