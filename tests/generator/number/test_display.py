"""Numbers are rounded half to even on exact values, and never say what the value does not."""

from __future__ import annotations

from decimal import ROUND_HALF_EVEN, Decimal, localcontext
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from generator.number import display
from generator.number.display import Form, Undisplayable

SHOWN = [
    ("2.5978", "plain", None, "2.5978"),
    ("0.006860", "plain", None, "0.006860"),
    ("-0.5", "plain", None, "−0.5"),
    ("-0.0", "plain", None, "0.0"),
    ("1e-05", "plain", None, "1e−05"),
    ("2.5978", "places", 2, "2.60"),
    ("2.5978", "places", 0, "3"),
    ("0.5", "places", 0, None),
    ("1.5", "places", 0, "2"),
    ("2.5", "places", 0, "2"),
    ("-2.5", "places", 0, "−2"),
    ("0.125", "places", 2, "0.12"),
    ("0.135", "places", 2, "0.14"),
    ("1.005", "places", 2, "1.00"),
    ("0", "places", 2, "0.00"),
    ("-0.0", "places", 1, "0.0"),
    ("0.004", "places", 2, None),
    ("-0.004", "places", 2, None),
    ("1e3", "places", 1, "1000.0"),
    ("9007199254740993", "places", 0, "9007199254740993"),
    ("2.5978", "signed", 3, "+2.598"),
    ("-0.0029", "signed", 3, "−0.003"),
    ("0.0", "signed", 2, "0.00"),
    ("0.125", "percent", 1, "12.5%"),
    ("-0.0125", "percent", 0, "−1%"),
    ("0.0001", "percent", 1, None),
    ("2.5978", "times", 2, "2.60×"),
    ("2.5978", "sig", 3, "2.60"),
    ("0.00000150", "sig", 3, "1.50 × 10⁻⁶"),
    ("0.0001", "sig", 2, "0.00010"),
    ("0.00009999", "sig", 2, "0.00010"),
    ("0.00009994", "sig", 3, "9.99 × 10⁻⁵"),
    ("123456", "sig", 3, "123000"),
    ("999999.9", "sig", 3, "1.00 × 10⁶"),
    ("1000000", "sig", 3, "1.00 × 10⁶"),
    ("-14456199684", "sig", 4, "−1.446 × 10¹⁰"),
    ("0", "sig", 3, "0.00"),
    ("7", "sig", 1, "7"),
    ("14456199684", "group", None, "14,456,199,684"),
    ("1234.50", "group", None, "1,234.50"),
    ("-1.5e6", "group", None, "−1,500,000"),
    ("999", "group", None, "999"),
    ("0", "words", None, "zero"),
    ("12", "words", None, "twelve"),
    ("21", "words", None, "twenty-one"),
    ("100", "words", None, "one hundred"),
    ("101", "words", None, None),
    ("-1", "words", None, None),
    ("2.5", "words", None, None),
    ("12.0", "words", None, "twelve"),
    ("1", "ordinal", None, "1st"),
    ("2", "ordinal", None, "2nd"),
    ("3", "ordinal", None, "3rd"),
    ("11", "ordinal", None, "11th"),
    ("12", "ordinal", None, "12th"),
    ("112", "ordinal", None, "112th"),
    ("122", "ordinal", None, "122nd"),
    ("0", "ordinal", None, None),
]


@pytest.mark.parametrize(("lexeme", "name", "digits", "shown"), SHOWN)
def test_a_lexeme_prints_in_a_form_or_is_refused(
    lexeme: str, name: str, digits: int | None, shown: str | None
) -> None:
    form = Form(name, digits)
    if shown is None:
        with pytest.raises(Undisplayable):
            display.lexeme(lexeme, form)
    else:
        assert display.lexeme(lexeme, form) == shown


def test_a_value_that_would_print_as_zero_is_refused_as_such() -> None:
    with pytest.raises(Undisplayable) as caught:
        display.rational(Fraction(-1, 300), Form("places", 2))
    assert caught.value.code == "zero-shown"


def test_an_exact_fraction_needs_a_form_that_rounds() -> None:
    with pytest.raises(Undisplayable, match="Round it"):
        display.rational(Fraction(1, 3), display.PLAIN)
    with pytest.raises(Undisplayable, match="integers"):
        display.rational(Fraction(1, 3), Form("group"))
    assert display.rational(Fraction(7000), Form("group")) == "7,000"


@given(
    st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**12), max_value=10**12),
    st.integers(0, 20),
)
def test_rounding_agrees_with_the_decimal_module(value: Decimal, places: int) -> None:
    with localcontext(prec=60):
        expected = value.quantize(Decimal(1).scaleb(-places), rounding=ROUND_HALF_EVEN)
    if expected == 0 and value != 0:
        with pytest.raises(Undisplayable):
            display.lexeme(str(value), Form("places", places))
    else:
        shown = display.lexeme(str(value), Form("places", places)).replace("−", "-")
        assert Decimal(shown) == expected
        assert len(shown.partition(".")[2]) == places


@given(
    st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**12), max_value=10**12),
    st.integers(1, 15),
)
def test_significant_digits_agree_with_the_decimal_module(value: Decimal, digits: int) -> None:
    shown = display.lexeme(str(value), Form("sig", digits)).replace("−", "-")
    mantissa, _, power = shown.partition(" × 10")
    exponent = int(power.translate(str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")) or 0)
    expected = Decimal(f"{value:.{digits - 1}E}")
    assert Decimal(mantissa).scaleb(exponent) == expected
