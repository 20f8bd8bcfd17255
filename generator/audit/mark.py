"""Re-derives one mark of a page from the bytes it points to: a leaf, a text, a derived number, a claim."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from unicodedata import category

from generator.audit import predicate
from generator.audit.evidence import Evidence
from generator.audit.fault import Fault
from generator.audit.predicate import Trace
from generator.audit.rounding import exact, shown
from generator.audit.scanner import Value
from generator.record import pointer as pointers

TEXT_LIMIT = 120
"""Characters of the longest text that a page may quote from a payload."""

TEXT_ROOTS = frozenset({"name", "question", "regime", "provenance", "schema", "citation"})
TEXT_KEYS = frozenset({"unit", "method", "source"})

LEAF = ("class", "value", "data-src", "data-ptr", "data-line", "data-span", "data-sha256", "data-format")
DERIVED = ("class", "value", "data-expression", "data-format")
COMPUTED = ("class", "value", "data-computed")

ADDRESS = re.compile(r"n-[A-Za-z0-9_.-]+")
"""The id of a mark."""

_PERCENT = frozenset({"%", "percent"})
_HIDDEN = frozenset({"Cc", "Cf", "Co", "Cs"})
_KEPT = frozenset("\t\n\r\x85\u200c\u200d")
"""White space, and the joiners that scripts are written with."""


@dataclass(frozen=True)
class Proof:
    """What a mark is, the lines its link may land on, and what it may be written next to."""

    kind: str
    lands: frozenset[tuple[str, int]] = frozenset()
    percent: bool = False
    pointer: str = ""
    form: str = ""
    value: Fraction | None = None
    constants: frozenset[str] = frozenset()


def prove(
    attributes: Mapping[str, str], text: str, evidence: Evidence, computed: Callable[[str], str]
) -> Proof:
    """Check a data element whose shown text is given; raises Fault with the code of what is wrong."""
    kinds = {"num": _leaf, "num text": _text, "num derived": _derived}
    kind = " ".join(attributes.get("class", "").split())
    if kind == "num computed":
        _complete(attributes, COMPUTED)
        return _computed(attributes, text, computed)
    if kind not in kinds:
        raise Fault("untraced-number", f"A data element of class {kind!r} is no mark that can be checked.")
    _complete(attributes, DERIVED if kind == "num derived" else LEAF)
    return kinds[kind](attributes, text, evidence)


def _complete(attributes: Mapping[str, str], wanted: tuple[str, ...]) -> None:
    """A mark has its attributes and no others, but for an address of its own."""
    missing = [name for name in wanted if name not in attributes]
    extra = [name for name in attributes if name not in wanted]
    if extra == ["id"] and ADDRESS.fullmatch(attributes["id"]):
        extra = []
    if missing or extra:
        what = f"lacks {missing[0]}" if missing else f"has {extra[0]}, which means nothing"
        raise Fault("untraced-number", f"The data element {what}; it is no trace.")


def _leaf(attributes: Mapping[str, str], text: str, evidence: Evidence) -> Proof:
    """One number of a payload."""
    found = _place(attributes, evidence)
    if found.kind != "number":
        raise Fault("unknown-field", f"{attributes['data-ptr']} is {found.kind}, no number.")
    lexeme = found.written.decode()
    if attributes["value"] != lexeme:
        message = f"The page states {attributes['value'][:40]}, the payload has {lexeme[:40]}. Build again."
        raise Fault("display-mismatch", message)
    form = attributes["data-format"]
    value = exact(lexeme)
    unit = evidence.unit(attributes["data-src"], attributes["data-ptr"])
    if unit and (form.startswith("times") or (form.startswith("percent") and unit in _PERCENT)):
        raise Fault("unit-mismatch", f"{form} shows a plain ratio, and the unit here is {unit}.")
    _compare(shown(value, form, lexeme), text)
    return Proof("number", _lands(attributes), unit in _PERCENT, attributes["data-ptr"], form, value)


def _text(attributes: Mapping[str, str], text: str, evidence: Evidence) -> Proof:
    """One text of a payload, from a field that holds names or conditions."""
    found = _place(attributes, evidence)
    pointer = attributes["data-ptr"]
    tokens = pointers.parse(pointer)
    if attributes["data-format"] == "key":
        return _key(attributes, text, tokens)
    if found.kind != "string" or attributes["data-format"] != "text":
        raise Fault("unknown-field", f"{pointer} is {found.kind}, no text.")
    if tokens[0] not in TEXT_ROOTS and tokens[-1] not in TEXT_KEYS:
        raise Fault("unknown-field", f"Text may not be quoted from {pointer}.")
    if len(found.text) > TEXT_LIMIT:
        raise Fault("too-large", f"The text at {pointer} is longer than {TEXT_LIMIT} characters.")
    if hidden := next((each for each in found.text if category(each) in _HIDDEN and each not in _KEPT), ""):
        raise Fault("bad-encoding", f"The text at {pointer} holds U+{ord(hidden):04X}, which shows nothing.")
    if attributes["value"] != found.text:
        raise Fault("display-mismatch", f"The page states another text than the payload has at {pointer}.")
    _compare(" ".join(found.text.split()), " ".join(text.split()))
    return Proof("text", _lands(attributes), pointer=pointer)


def _key(attributes: Mapping[str, str], text: str, tokens: Sequence[str]) -> Proof:
    """The name of a field: whole keys of its pointer, in their order, joined by dots."""
    named = attributes["value"]
    if not named or f".{named}." not in f".{'.'.join(tokens)}.":
        raise Fault("display-mismatch", f"The page names {named[:60]}, which is no part of the pointer.")
    _compare(named, text)
    return Proof("text", _lands(attributes), pointer=attributes["data-ptr"])


def _derived(attributes: Mapping[str, str], text: str, evidence: Evidence) -> Proof:
    """The exact result of arithmetic over payload fields."""
    trace = Trace(evidence, literals=False)
    result = trace.operand(predicate.parse(attributes["data-expression"]))
    if not trace.leaves:
        raise Fault("untraced-number", "The expression names no payload field.")
    written = f"{result.value.numerator}/{result.value.denominator}"
    if attributes["value"] != written:
        raise Fault(
            "display-mismatch", f"The page states {attributes['value'][:40]}, the fields give {written[:40]}."
        )
    form = attributes["data-format"]
    if form == "plain" or (form.startswith("times") and result.unit):
        code = "unit-mismatch" if result.unit else "display-mismatch"
        raise Fault(code, f"A derived number cannot be shown in the form {form}.")
    _compare(shown(result.value, form), text)
    lands = frozenset((path, found.line) for path, found in trace.leaves)
    percent = result.unit in tuple(((unit, 1),) for unit in _PERCENT)
    return Proof("derived", lands, percent, form=form, value=result.value)


def _computed(attributes: Mapping[str, str], text: str, computed: Callable[[str], str]) -> Proof:
    """A number that the generator made from the sources by a rule of the table."""
    expected = computed(attributes["data-computed"])
    if attributes["value"] != expected:
        raise Fault(
            "display-mismatch", f"The page states {attributes['value'][:40]}, the sources give {expected}."
        )
    _compare(expected, text)
    return Proof("computed")


def claim(written: str, evidence: Evidence) -> Proof:
    """The comparison that words on the page are bound to; raises Fault where it does not hold."""
    trace = Trace(evidence, literals=True)
    holds = trace.holds(predicate.parse(written))
    if not trace.leaves:
        raise Fault("untraced-word", "The comparison names no payload field.")
    if not holds:
        raise Fault("claim-false", "The comparison behind these words does not hold in the payloads.")
    return Proof("claim", constants=frozenset(trace.constants))


def _place(attributes: Mapping[str, str], evidence: Evidence) -> Value:
    """The value that a mark points to, if it stands where the mark says."""
    path, pointer = attributes["data-src"], attributes["data-ptr"]
    found = evidence.value(path, pointer, attributes["data-sha256"])
    if evidence.schema(path).split("/")[1:2] == ["rehearsal"]:
        raise Fault("bad-payload", f"{path} is a rehearsal, which is never published.")
    if attributes["data-line"] != str(found.line) or attributes["data-span"] != f"{found.start}-{found.end}":
        message = (
            f"{pointer} stands on line {found.line} at bytes {found.start}-{found.end} of {path}, "
            f"not on line {attributes['data-line'][:12]} at {attributes['data-span'][:24]}."
        )
        raise Fault("place-mismatch", message)
    return found


def _lands(attributes: Mapping[str, str]) -> frozenset[tuple[str, int]]:
    return frozenset({(attributes["data-src"], int(attributes["data-line"]))})


def _compare(expected: str, text: str) -> None:
    if text != expected:
        raise Fault(
            "display-mismatch", f'The page shows "{text[:60]}" where the payload gives "{expected[:60]}".'
        )


_INTERVAL = re.compile(r"(places|signed)\(([0-9]+)\)")


def interval(proofs: list[Proof], between: str) -> None:
    """Three leaves of one estimate in one form, low before high; raises Fault."""
    if [proof.kind for proof in proofs] != ["number"] * 3 or between != "\ue000 [\ue000, \ue000]":
        raise Fault("display-mismatch", "An interval shows a value and two bounds, as in a [b, c].")
    value, low, high = proofs
    owner = value.pointer.rsplit("/", 1)[0]
    if [proof.pointer for proof in proofs] != [f"{owner}/{key}" for key in ("value", "low", "high")]:
        raise Fault("place-mismatch", "An interval shows value, low and high of one estimate, in this order.")
    if len({proof.form for proof in proofs}) != 1 or not _INTERVAL.fullmatch(value.form):
        raise Fault("display-mismatch", "The three numbers of an interval have one form, with equal places.")
    if low.value is not None and high.value is not None and low.value > high.value:
        raise Fault("display-mismatch", "The lower bound of the interval is above the upper one.")
