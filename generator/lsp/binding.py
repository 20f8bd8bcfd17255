"""Fields that a typed number might stand for: all of them, for the author to choose from.

Equal digits prove nothing. So every field that prints as what was typed is offered, with its value, unit and
place, in an order that words give and not values; none is applied by itself, not even where it is alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import PurePosixPath

from generator.number import display, expression, printing
from generator.number.display import Form, Undisplayable
from generator.number.exact import Scope
from generator.number.fragment import Fragment
from generator.record import pointer as pointers
from generator.record.payload import Payload
from generator.record.source import Source
from generator.record.tree import Node
from generator.render.desk import Desk
from generator.report.refusal import Refused
from generator.trace import origin

LIMIT = 20
"""Bindings that are offered for one number; an author reads no more."""

PARTS = ("results", "config", "seeds")
"""Parts of a payload whose numbers are offered."""

_TYPED = re.compile(
    r"""[+\-−]? (?: [0-9]+ (?:,[0-9]{3})+ | [0-9]+ ) (?:\.[0-9]+)? (?: st | nd | rd | th | [%×] )?
    | [A-Za-z]+ (?: -[A-Za-z]+ )*""",
    re.VERBOSE,
)
_WORDS = {display.rational(Fraction(value), Form("words")) for value in range(101)}


@dataclass(frozen=True)
class Typed:
    """What was typed, from start to end of a text."""

    text: str
    start: int
    end: int


@dataclass(frozen=True)
class Candidate:
    """A field that prints as what was typed, and the expression that would bind it."""

    payload: Payload
    pointer: str
    expression: str
    alias: str
    declared: bool
    about: str

    @property
    def title(self) -> str:
        """What the author chooses between: expression, value, unit, question and place."""
        node = self.payload.at(self.pointer)
        declares = "" if self.declared else f", declares {self.alias}"
        return f"{self.expression} = {node.lexeme} {self.about} ({self.payload.path}:{node.line}{declares})"


def typed(text: str, offset: int) -> Typed | None:
    """The number or number word at an offset, with its sign and its per cent."""
    signed = re.search(r"(?<![\w.])[+\-−]$", text[max(0, offset - 2) : offset])
    found = _TYPED.match(text, offset - bool(signed))
    return Typed(found[0], *found.span()) if found else None


def candidates(desk: Desk, source: Source, text: str, number: Typed) -> list[Candidate]:
    """Every field of the record that prints as what was typed, those first whose words stand near."""
    near = set(re.findall(r"[a-z]{3,}", _sentence(text, number).lower()))
    found = [
        each for payload in desk.record.payloads.values() for each in _of(desk, source, payload, number.text)
    ]
    return sorted(found, key=lambda each: (not each.declared, -len(near & _words(each)), each.title))[:LIMIT]


def _sentence(text: str, number: Typed) -> str:
    """The line about a number: what an author says of it stands there."""
    return text[text.rfind("\n", 0, number.start) + 1 : number.end] + text[number.end :].partition("\n")[0]


def _words(candidate: Candidate) -> set[str]:
    named = f"{candidate.pointer} {candidate.about} {candidate.payload.path}"
    return set(re.findall(r"[a-z]{3,}", named.lower()))


def _of(desk: Desk, source: Source, payload: Payload, written: str) -> Iterator[Candidate]:
    declared = next((name for name, path in source.payloads.items() if path == payload.path), "")
    alias = declared or _alias(source, payload.path)
    scope = Scope({**source.payloads, alias: payload.path}, desk.record.payloads)
    for keys, node in _numbers(payload):
        for form in _forms(written):
            if not _prints(node.lexeme, form, written):
                continue
            bound = _expression(alias, keys, form)
            if _shown(scope, bound) == _minus(written):
                pointer = pointers.unparse(keys)
                about = origin.quantity(payload, pointer)
                yield Candidate(payload, pointer, bound, alias, bool(declared), about)
                break


def _numbers(payload: Payload) -> Iterator[tuple[tuple[str, ...], Node]]:
    """Every number below the parts of a payload that pages quote, with its keys."""
    root = payload.root.members
    stack: list[tuple[tuple[str, ...], Node]] = [((part,), root[part]) for part in PARTS if part in root]
    while stack:
        keys, node = stack.pop()
        if node.kind == "number":
            yield keys, node
        stack.extend(((*keys, key), value) for key, value in node.members.items())


def _forms(written: str) -> Iterator[Form]:
    """The forms in which a text could have been printed."""
    digits = written.strip("+-−%×")
    places = len(digits.partition(".")[2])
    if written[-1:] == "%":
        yield Form("percent", places)
    elif written[-1:] == "×":
        yield Form("times", places)
    elif "," in written:
        yield Form("group")
    elif written.lower() in _WORDS:
        yield Form("words")
    elif written[-2:] in ("st", "nd", "rd", "th"):
        yield Form("ordinal")
    elif written[:1] == "+":
        yield Form("signed", places)
    elif digits[:1].isdigit():
        yield from (display.PLAIN, Form("places", places), Form("percent", places))


def _prints(lexeme: str, form: Form, written: str) -> bool:
    try:
        shown = display.lexeme(lexeme, form)
    except Undisplayable:
        return False
    return shown == _minus(written)


def _minus(written: str) -> str:
    return written.replace("-", display.MINUS) if written[:1] == "-" else written


def _expression(alias: str, keys: tuple[str, ...], form: Form) -> str:
    named = keys[:-1] if keys[-1] == "value" else keys
    field = "".join(f".{key}" if re.fullmatch(r"[A-Za-z_]\w*", key) else f'["{key}"]' for key in named)
    return f"{{{{ {alias}{field}{'' if form == display.PLAIN else f' | {form}'} }}}}"


def _shown(scope: Scope, bound: str) -> str:
    """What an expression prints, empty where it is refused."""
    whole = Fragment("", bound, 1, 1)
    try:
        number = printing.number(scope, whole, expression.output(whole, 2, len(bound) - 2))
    except Refused:
        return ""
    return getattr(number, "text", "")


def _alias(source: Source, path: str) -> str:
    """A name for a payload that the source does not use yet."""
    pure = PurePosixPath(path)
    stem = re.sub(r"\W", "_", pure.stem)
    names = (stem, f"{re.sub(r'[^0-9A-Za-z_]', '_', pure.parent.name)}_{stem}", f"{stem}_file")
    usable = (f"_{name}" if name[:1].isdigit() else name for name in names)
    return next((name for name in usable if name not in source.payloads), f"{stem}_payload")


def declaration(source: Source, text: str, candidate: Candidate) -> tuple[int, str] | None:
    """Where the front matter takes the payload of a candidate, and what is written there."""
    if candidate.declared:
        return None
    entry = f"  {candidate.alias}: {candidate.payload.path}\n"
    block = re.search(r"^payloads:[ \t]*\n", text[: len(text) - len(source.body)], re.MULTILINE)
    if block:
        return block.end(), entry
    if text.startswith("---\n"):
        return 4, f"payloads:\n{entry}"
    return 0, f"---\npayloads:\n{entry}---\n"
