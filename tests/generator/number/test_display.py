"""Numbers are rounded half to even on exact values, and never say what the value does not."""

from __future__ import annotations

import json
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Decimal, localcontext
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from generator.audit import rounding
from generator.audit.fault import Fault
from generator.number import display, prefix
from generator.number.display import Form, Undisplayable, named

CASES = Path(__file__).parents[2] / "cases" / "display"
SHOWN = json.loads((CASES / "forms.json").read_text("utf-8"))
DERIVED = json.loads((CASES / "derived.json").read_text("utf-8"))


@dataclass(frozen=True)
class Fields:
    """Stands in for a payload: a field is a lexeme."""

    lexemes: dict[str, str]

    def at(self, pointer: str) -> SimpleNamespace:
        return SimpleNamespace(lexeme=self.lexemes[pointer])


def evaluated(tree: object) -> object:
    """The value of an expression of the case file, whose fields are single letters."""

    def named(part: object) -> object:
        if isinstance(part, list):
            return [part[0], *(named(each) for each in part[1:])]
        return ["payload", part, ""] if part in DERIVED["fields"] else part

    return prefix.evaluate(named(tree), {"payload": Fields(DERIVED["fields"])})  # type: ignore[arg-type, dict-item]


@pytest.mark.parametrize(("lexeme", "form", "shown"), SHOWN)
def test_a_lexeme_prints_in_a_form_or_is_refused(lexeme: str, form: str, shown: str | None) -> None:
    if shown is None:
        with pytest.raises(Undisplayable):
            display.lexeme(lexeme, named(form))
        with pytest.raises(Fault):
            rounding.shown(rounding.exact(lexeme), form, lexeme)
    else:
        assert display.lexeme(lexeme, named(form)) == shown
        assert rounding.shown(rounding.exact(lexeme), form, lexeme) == shown


@pytest.mark.parametrize(("tree", "value", "form", "shown"), DERIVED["values"])
def test_an_expression_has_an_exact_value_and_prints_it_or_is_refused(
    tree: object, value: str | None, form: str, shown: str | None
) -> None:
    if value is None:
        with pytest.raises(ZeroDivisionError):
            evaluated(tree)
        return
    found = evaluated(tree)
    assert found == Fraction(value)
    if shown is None:
        with pytest.raises(Undisplayable):
            display.rational(Fraction(value), named(form))
    else:
        assert display.rational(Fraction(value), named(form)) == shown
        assert rounding.shown(Fraction(value), form) == shown


@pytest.mark.parametrize(("tree", "truth"), DERIVED["conditions"])
def test_a_condition_holds_or_not(tree: object, truth: bool) -> None:
    assert evaluated(tree) is truth


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
