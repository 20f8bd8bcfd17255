"""The auditor rounds as the renderer does and as the decimal module does, by code of its own."""

from __future__ import annotations

import ast
import decimal
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import generator.audit
from generator.audit.fault import Fault
from generator.audit.rounding import exact, shown
from generator.number import display

_DIGITS = st.text("0123456789", min_size=1, max_size=12)
LEXEMES = st.builds(
    lambda sign, whole, tail, power: sign + (whole.lstrip("0") or "0") + (f".{tail}" if tail else "") + power,
    st.sampled_from(["", "-"]),
    _DIGITS,
    st.one_of(st.just(""), _DIGITS),
    st.sampled_from(["", "e3", "E-7", "e+12", "e-1"]),
)
FORMS = st.one_of(
    st.builds(display.Form, st.sampled_from(display.ROUNDED), st.integers(0, 9)),
    st.builds(display.Form, st.sampled_from(["plain", *display.WHOLE])),
)


def _audited(lexeme: str, form: display.Form) -> str:
    try:
        return shown(exact(lexeme), str(form), lexeme)
    except Fault as fault:
        return "zero" if fault.code == "zero-shown" else "refused"


def _displayed(lexeme: str, form: display.Form) -> str:
    try:
        return display.lexeme(lexeme, form)
    except display.Undisplayable as error:
        return "zero" if error.code == "zero-shown" else "refused"


@given(LEXEMES, FORMS)
def test_display_and_audit_agree_on_every_lexeme_and_form(lexeme: str, form: display.Form) -> None:
    assert _audited(lexeme, form) == _displayed(lexeme, form)


@given(st.fractions(max_denominator=10**9), FORMS)
def test_display_and_audit_agree_on_every_exact_fraction(value: Fraction, form: display.Form) -> None:
    if form.name == "plain":
        return
    try:
        expected = display.rational(value, form)
    except display.Undisplayable:
        with pytest.raises(Fault):
            shown(value, str(form))
    else:
        assert shown(value, str(form)) == expected


@given(LEXEMES, st.integers(0, 9))
def test_places_agree_with_the_decimal_module(lexeme: str, places: int) -> None:
    with decimal.localcontext() as context:
        context.prec = 60
        rounded = decimal.Decimal(lexeme).quantize(
            decimal.Decimal(1).scaleb(-places), decimal.ROUND_HALF_EVEN
        )
    vanishes = not rounded and Fraction(lexeme) != 0
    expected = "zero" if vanishes else ("−" if rounded < 0 else "") + f"{rounded.copy_abs():f}"
    assert _audited(lexeme, display.Form("places", places)) == expected


def test_the_audit_imports_no_code_of_the_renderer() -> None:
    allowed = (
        "generator.audit",
        "generator.gate.numerals",
        "generator.record.pointer",
        "generator.report",
        "generator.record",
    )
    for file in Path(generator.audit.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("generator"):
                assert node.module.startswith(allowed), f"{file.name} imports {node.module}"
                if node.module == "generator.record":
                    assert [alias.name for alias in node.names] == ["pointer"]
