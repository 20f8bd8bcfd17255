"""Prints what stands between double braces, or says why it cannot be printed."""

from __future__ import annotations

from collections.abc import Callable

from generator.number import display, exact
from generator.number.exact import Scope
from generator.number.fragment import Fragment
from generator.number.number import Bracketed, Derived, Leaf, Made, Number, Shown
from generator.number.syntax import Computed, Field, Interval, Operation, Output
from generator.report.refusal import Refused

COUNTS = ("findings-count", "payloads-count", "numbers-count", "kills-count", "errata-count", "version")
"""Rules of numbers that a source may ask the generator for."""

LIST_COUNTS = ("experiments-count", "unrun-count", "withheld-count")
"""The same, in a record that has a list of experiments."""

STATUS_COUNTS = tuple(f"findings-count:{status}" for status in ("holds", "null", "open", "unrun"))

OUTCOME_COUNTS = tuple(f"kills-count:{outcome}" for outcome in ("fired", "did-not-fire", "untested"))


def number(scope: Scope, fragment: Fragment, output: Output) -> Number:
    """The number that an expression prints; raises Refused."""
    read, form = output.expression, output.form
    if isinstance(read, Computed):
        return _made(fragment, read, form is not None)
    if isinstance(form, Interval):
        return _bracketed(scope, fragment, read, form)
    if isinstance(read, Field):
        return _shown(fragment, read, exact.leaf(scope, fragment, read), form or display.PLAIN)
    result = exact.evaluate(scope, fragment, read)
    form = form or display.PLAIN
    if form.name == "times" and result.unit:
        _refuse_unit(fragment, read.offset, "times")
    text = _display(fragment, read.offset, form, lambda: display.rational(result.value, form))
    return Derived(result.prefix, result.value, form, text, result.leaves)


def _made(fragment: Fragment, read: Computed, formed: bool) -> Made:
    known = (*COUNTS, *STATUS_COUNTS, *OUTCOME_COUNTS, *LIST_COUNTS)
    if read.rule not in known:
        message = f"The generator computes {', '.join(known)}."
        raise Refused([fragment.refusal(read.offset, "unknown-field", read.rule, message)])
    if formed:
        message = "A computed number prints as it is, without a form."
        raise Refused([fragment.refusal(read.offset, "bad-template", read.rule, message)])
    return Made(read.rule)


def _shown(fragment: Fragment, read: Field, found: Leaf, form: display.Form) -> Shown:
    """A leaf in a form, or a text as it is."""
    if found.node.kind == "string":
        if form != display.PLAIN:
            message = "A text prints as it is, without a form."
            raise Refused([fragment.refusal(read.offset, "bad-template", found.pointer, message)])
        return Shown(found, "text", found.node.text)
    if found.unit and (form.name == "times" or (form.name == "percent" and _is_percent(found))):
        _refuse_unit(fragment, read.offset, form.name)
    text = _display(fragment, read.offset, form, lambda: display.lexeme(found.node.lexeme, form))
    return Shown(found, str(form), text)


def _is_percent(found: Leaf) -> bool:
    return found.unit in ((("%", 1),), (("percent", 1),))


def _refuse_unit(fragment: Fragment, offset: int, form: str) -> None:
    message = f"{form} prints a plain ratio; divide values of equal unit."
    raise Refused([fragment.refusal(offset, "unit-mismatch", form, message)])


def _bracketed(scope: Scope, fragment: Fragment, read: Field | Operation, form: Interval) -> Bracketed:
    if not isinstance(read, Field):
        message = "ci prints an estimate of a payload; arithmetic has no interval."
        raise Refused([fragment.refusal(read.offset, "bad-template", "ci", message)])
    parts = (exact.bound(scope, fragment, read, key) for key in ("value", "low", "high"))
    return Bracketed(*(_shown(fragment, read, found, form.form) for found in parts))


def _display(fragment: Fragment, offset: int, form: display.Form, show: Callable[[], str]) -> str:
    try:
        return show()
    except display.Undisplayable as error:
        raise Refused([fragment.refusal(offset, error.code, str(form), str(error))]) from None
