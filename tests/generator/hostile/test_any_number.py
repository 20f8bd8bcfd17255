"""Whatever decimal a payload holds, page, audit and the decimal module print the same digits."""

from __future__ import annotations

from decimal import ROUND_HALF_EVEN, Decimal, localcontext
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from generator.audit.fault import Fault
from generator.audit.rounding import exact, shown
from generator.number import display
from generator.number.display import DIGIT_LIMIT, Form, Undisplayable
from generator.record.strict import in_range

_DIGITS = st.text("0123456789", min_size=1, max_size=60)
LEXEMES = st.builds(
    lambda sign, whole, tail, power: sign + (whole.lstrip("0") or "0") + tail + power,
    st.sampled_from(["", "-"]),
    _DIGITS,
    st.one_of(st.just(""), st.builds(".{}".format, _DIGITS), st.just(".5"), st.just("." + "9" * 40)),
    st.one_of(st.just(""), st.builds("{}{}".format, st.sampled_from(["e", "E+", "e-"]), st.integers(0, 330))),
).filter(in_range)
"""Every number that the strict reader of payloads lets through, long ones and extreme ones among them."""

SCALED = {"places": (0, ""), "signed": (0, ""), "percent": (2, "%"), "times": (0, "×")}
"""Forms with a number of decimals: the power of ten that each multiplies by, and what it adds."""

SETTINGS = settings(derandomize=True, max_examples=300, deadline=None)


def by_decimal(lexeme: str, name: str, places: int) -> str:
    """What the decimal module makes of a lexeme; "zero" where a value would vanish."""
    power, suffix = SCALED[name]
    with localcontext(prec=1200, Emax=5000, Emin=-5000):
        value = Decimal(lexeme).scaleb(power)
        rounded = value.quantize(Decimal(1).scaleb(-places), ROUND_HALF_EVEN)
    if not rounded and Fraction(lexeme):
        return "zero"
    sign = "−" if rounded < 0 else "+" if name == "signed" and rounded > 0 else ""
    return f"{sign}{rounded.copy_abs():f}{suffix}"


def by_display(lexeme: str, form: Form) -> str:
    """What the page prints."""
    try:
        return display.lexeme(lexeme, form)
    except Undisplayable as error:
        return "zero" if error.code == "zero-shown" else "refused"


def by_audit(lexeme: str, form: Form) -> str:
    """What the audit expects on the page."""
    try:
        return shown(exact(lexeme), str(form), lexeme)
    except Fault as fault:
        return "zero" if fault.code == "zero-shown" else "refused"


@SETTINGS
@given(LEXEMES, st.sampled_from(sorted(SCALED)), st.integers(0, DIGIT_LIMIT))
def test_all_three_round_alike_at_any_number_of_places(lexeme: str, name: str, places: int) -> None:
    form = Form(name, places)
    assert by_display(lexeme, form) == by_audit(lexeme, form) == by_decimal(lexeme, name, places)


@SETTINGS
@given(
    LEXEMES,
    st.one_of(
        st.sampled_from([display.PLAIN, *(Form(name) for name in display.WHOLE)]),
        st.builds(lambda digits: Form("sig", digits), st.integers(1, DIGIT_LIMIT)),
    ),
)
def test_page_and_audit_agree_in_every_other_form(lexeme: str, form: Form) -> None:
    assert by_display(lexeme, form) == by_audit(lexeme, form)


@SETTINGS
@given(LEXEMES, st.integers(1, DIGIT_LIMIT))
def test_significant_digits_are_those_of_the_decimal_module(lexeme: str, digits: int) -> None:
    with localcontext(prec=1200, Emax=5000, Emin=-5000, rounding=ROUND_HALF_EVEN):
        expected = Decimal(f"{Decimal(lexeme):.{digits - 1}E}")
        mantissa, _, power = by_audit(lexeme, Form("sig", digits)).replace("−", "-").partition(" × 10")
        exponent = int(power.translate(str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")) or 0)
        assert Decimal(mantissa).scaleb(exponent) == expected


@pytest.mark.parametrize(("lexeme", "even"), [("1.5", "2"), ("2.5", "2"), ("-35e-1", "−4")])
def test_the_oracle_itself_rounds_a_tie_to_the_even_digit(lexeme: str, even: str) -> None:
    assert by_decimal(lexeme, "places", 0) == even
